import { buildReference, type Entry, type FieldText, type Reference } from "./reference-model.js";
import { BASICS } from "./reference-words.js";

/** The whole reference as Markdown: the text of docs/api.md. The same contract gives the same text. */
export function renderMarkdown(): string {
  const reference = buildReference();
  const parts = [
    "# Dibs: the HTTP interface",
    "Made from the contract by `npm run docs`; changes belong there. A running server shows the same at `/docs`, and OpenAPI 3.1 at `/v1/openapi.json`.",
    ...BASICS.flatMap(({ title, lines }) => [`## ${title}`, lines.map((line) => `- ${line}`).join("\n")]),
    ...reference.sections.flatMap(({ noun, entries }) => [`## ${capital(noun)}`, ...entries.flatMap(entryParts)]),
    "## Records",
    ...reference.records.flatMap(({ name, fields }) => [`### ${name}`, fieldTable(fields, false)]),
    "## Errors",
    `Any call may answer ${reference.commonErrors.map(code).join(", ")}; each call lists its others.`,
    errorTable(reference),
  ];
  return `${parts.join("\n\n")}\n`;
}

function entryParts(entry: Entry): string[] {
  const { operation, routes, fields, statuses, answer, errors } = entry;
  const facts = [
    `Role: ${operation.role}.`,
    `Answers ${statuses}: ${code(answer)}${operation.paged ? ", in pages" : ""}.`,
    ...(errors.length > 0 ? [`Refusals: ${errors.map(code).join(", ")}.`] : []),
  ];
  return [
    `### ${operation.name}`,
    operation.summary,
    routes.map(code).join(" · "),
    ...(fields.length > 0 ? [fieldTable(fields, true)] : []),
    facts.join(" "),
    `\`\`\`sh\n${entry.curl}\n\`\`\``,
  ];
}

function fieldTable(fields: readonly FieldText[], ofCall: boolean): string {
  const head = ofCall ? ["field", "in", "type", "meaning"] : ["field", "type", "meaning"];
  const rows = fields.map((field) => {
    const name = `${code(field.name)}${ofCall && field.required ? " \\*" : ""}`;
    const meaning = [field.description, field.fallback === undefined ? "" : `Default ${code(field.fallback)}.`];
    return [name, ...(ofCall ? [field.where] : []), field.type, meaning.filter(Boolean).join(" ")];
  });
  return table(head, rows);
}

function errorTable(reference: Reference): string {
  const rows = reference.errors.map((error) => [
    code(error.code),
    String(error.status),
    String(error.exit),
    error.retryable ? "yes" : "no",
    error.details,
    error.meaning,
  ]);
  return table(["code", "status", "exit status", "worth a retry", "own fields", "meaning"], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}

function capital(noun: string): string {
  return noun[0]?.toUpperCase() + noun.slice(1);
}
