import { buildReference, type Entry, type FieldText, type Reference } from "./reference-model.js";
import { BASICS } from "./reference-words.js";

/** The whole reference as one page without scripts; its looks are in `REFERENCE_STYLE`. */
export function referencePage(): string {
  const reference = buildReference();
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Dibs: the HTTP interface</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
${contents(reference)}
<main>
<h1>Dibs: the HTTP interface</h1>
<p>For programs: <a href="/v1/openapi.json">OpenAPI 3.1</a>.</p>
${BASICS.map(({ title, lines }) => section(title, `<ul>${lines.map((line) => `<li>${prose(line)}</li>`).join("\n")}</ul>`)).join("\n")}
${reference.sections.map(({ noun, entries }) => section(noun, entries.map(entryHtml).join("\n"))).join("\n")}
${section("Records", reference.records.map(({ name, fields }) => `<h3 id="${name}">${name}</h3>${fieldTable(fields, false)}`).join("\n"))}
${section("Errors", errors(reference))}
</main>
</body>
</html>
`;
}

function contents(reference: Reference): string {
  const links = reference.sections.map(({ noun, entries }) => {
    const names = entries.map(({ operation: { name } }) => `<li><a href="#${name}">${name}</a></li>`);
    return `<h2><a href="#${slug(noun)}">${text(noun)}</a></h2><ul>${names.join("")}</ul>`;
  });
  const rest = ["Records", "Errors"].map((title) => `<h2><a href="#${slug(title)}">${title}</a></h2>`);
  return `<nav aria-label="Contents">${[...links, ...rest].join("\n")}</nav>`;
}

function section(title: string, body: string): string {
  return `<section aria-labelledby="${slug(title)}"><h2 id="${slug(title)}">${text(title)}</h2>\n${body}</section>`;
}

function entryHtml(entry: Entry): string {
  const { operation, routes, fields, statuses, answer } = entry;
  const refusals = entry.errors.map((error) => `<a href="#${error}"><code>${error}</code></a>`).join(", ");
  return `<article aria-labelledby="${operation.name}">
<h3 id="${operation.name}">${operation.name}</h3>
<p>${prose(operation.summary)}</p>
<p class="routes">${routes.map((route) => `<code>${text(route)}</code>`).join(" ")}</p>
${fields.length > 0 ? fieldTable(fields, true) : ""}
<p>Role: ${operation.role}. Answers ${text(statuses)}: <code>${text(answer)}</code>${operation.paged ? ", in pages" : ""}.
${refusals === "" ? "" : `Refusals: ${refusals}.`}</p>
<pre><code>${text(entry.curl)}</code></pre>
</article>`;
}

function fieldTable(fields: readonly FieldText[], ofCall: boolean): string {
  const rows = fields.map((field) => {
    const need = ofCall && field.required ? ' <span title="required">*</span>' : "";
    const fallback = field.fallback === undefined ? "" : ` Default <code>${text(field.fallback)}</code>.`;
    const place = ofCall ? `<td>${field.where}</td>` : "";
    return `<tr><td><code>${text(field.name)}</code>${need}</td>${place}<td>${text(field.type)}</td><td>${prose(field.description)}${fallback}</td></tr>`;
  });
  return table(ofCall ? ["field", "in", "type", "meaning"] : ["field", "type", "meaning"], rows);
}

function errors(reference: Reference): string {
  const rows = reference.errors.map(
    (error) =>
      `<tr id="${error.code}"><td><code>${error.code}</code></td><td>${error.status}</td><td>${error.exit}</td><td>${error.retryable ? "yes" : "no"}</td><td>${text(error.details)}</td><td>${prose(error.meaning)}</td></tr>`,
  );
  const common = reference.commonErrors.map((code) => `<code>${code}</code>`).join(", ");
  const head = ["code", "status", "exit status", "worth a retry", "own fields", "meaning"];
  return `<p>Any call may answer ${common}; each call lists its others.</p>${table(head, rows)}`;
}

function table(head: readonly string[], rows: readonly string[]): string {
  const cells = head.map((cell) => `<th scope="col">${cell}</th>`).join("");
  return `<div class="table"><table><thead><tr>${cells}</tr></thead><tbody>${rows.join("\n")}</tbody></table></div>`;
}

function slug(title: string): string {
  return `about-${title.toLowerCase().replaceAll(" ", "-")}`;
}

function text(raw: string): string {
  return raw.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Text with code in backticks. */
function prose(raw: string): string {
  return text(raw).replace(/`([^`]+)`/g, "<code>$1</code>");
}

export const REFERENCE_STYLE = `:root { color-scheme: light dark; --line: light-dark(#d8dce2, #3a404a); --dim: light-dark(#f4f5f7, #20242b); }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 16rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1rem; border-right: 1px solid var(--line); font-size: 0.875rem; }
nav h2 { font-size: 0.875rem; margin: 1rem 0 0.25rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
main { padding: 1rem 2rem 4rem; max-width: 62rem; }
h2 > a { display: inline-block; }
h2 > a::first-letter, main h2::first-letter { text-transform: uppercase; }
main h2 { display: block; margin-top: 3rem; border-bottom: 1px solid var(--line); }
main h3 { margin-top: 2.5rem; }
code { font: 0.875em ui-monospace, monospace; overflow-wrap: anywhere; }
pre { background: var(--dim); padding: 0.75rem 1rem; overflow-x: auto; border-radius: 6px; }
.routes code { background: var(--dim); padding: 0.25rem 0.5rem; border-radius: 4px; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 0.375rem 0.75rem 0.375rem 0; border-bottom: 1px solid var(--line); }
td:first-child { white-space: nowrap; }
:target { outline: 2px solid Highlight; outline-offset: 4px; }
@media (max-width: 60rem) { body { display: block; } nav { position: static; height: auto; border-right: 0; } main { padding: 1rem; } }
`;
