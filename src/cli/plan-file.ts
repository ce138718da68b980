import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { DibsError, type ErrorDetails, invalidInput, isDibsError } from "../contract/errors.js";

/** Repetitions of one anchor by its aliases; more is no plan, but a bomb of some lines that becomes gigabytes. */
const ALIASES_MAX = 100;

/** A plan as a file says it, and where in the file each of its parts stands. */
export class PlanFile {
  readonly input: Readonly<Record<string, unknown>>;
  readonly #document: Document;
  readonly #lines = new LineCounter();

  /** Reads YAML, of which JSON is a part. Throws `invalid_input` with the line and column of a mistake in it. */
  constructor(
    readonly name: string,
    text: string,
  ) {
    // Warnings would go to stderr by themselves, beside the one message there is.
    this.#document = parseDocument(text.replace(/^\uFEFF/, ""), { lineCounter: this.#lines, logLevel: "error" });
    const [fault] = this.#document.errors;
    if (fault) {
      const what = (fault.message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:?$/, "");
      throw invalidInput(this.#place(fault.pos[0]), `isn't YAML or JSON here: ${what}`);
    }
    const { contents } = this.#document;
    if (!isMap(contents)) throw invalidInput(this.name, "must hold one plan: slug, title and steps");
    namesAsText([contents.get("slug", true), contents.get("title", true)]);
    stepNamesAsText(contents.get("steps", true));
    this.input = this.#values();
  }

  #values(): Record<string, unknown> {
    try {
      return this.#document.toJS({ maxAliasCount: ALIASES_MAX }) as Record<string, unknown>;
    } catch (fault) {
      throw invalidInput(this.name, `can't be read as YAML: ${(fault as Error).message}`);
    }
  }

  /** The refusal of a plan with the place of each mistake, where the file has one. */
  located(refusal: unknown): unknown {
    if (isDibsError(refusal, "invalid_input")) {
      const { fields } = refusal.details as ErrorDetails<"invalid_input">;
      const placed = fields.map(({ field, message }) => ({
        field: this.#where(field.split(".")) ?? this.name,
        message: `${field} ${message}`,
      }));
      const text = placed.map(({ field, message }) => `${field}: ${message}`).join("; ");
      return new DibsError("invalid_input", text, { fields: placed });
    }
    if (!isDibsError(refusal)) return refusal;
    const [, path, words] = /^(steps(?:\.\w+)+): (.*)$/s.exec(refusal.message) ?? [];
    const where = path === undefined ? undefined : this.#where(path.split("."));
    if (where === undefined) return refusal;
    return DibsError.fromProblem({ ...refusal.toProblem(), detail: `${where}: ${words}` });
  }

  /** The place of the part, or of the nearest one around it. */
  #where(path: readonly string[]): string | undefined {
    for (let length = path.length; length > 0; length -= 1) {
      const at = this.#startOf(path.slice(0, length));
      if (at !== undefined) return this.#place(at);
    }
    return undefined;
  }

  #startOf(path: readonly string[]): number | undefined {
    const parent =
      path.length === 1 ? this.#document.contents : this.#document.getIn(path.slice(0, -1).map(step), true);
    const last = path.at(-1) as string;
    // Of a field its name is shown, not its value: that may stand lines below.
    if (isMap(parent)) {
      const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === last);
      return (pair?.key as Node | undefined)?.range?.[0];
    }
    return isSeq(parent) ? (parent.items[Number(last)] as Node | undefined)?.range?.[0] : undefined;
  }

  #place(offset: number): string {
    const { line, col } = this.#lines.linePos(offset);
    return `${this.name} line ${line}, column ${col}`;
  }
}

const step = (part: string) => (/^\d+$/.test(part) ? Number(part) : part);

/** Keys that YAML takes for numbers, or for true and false, are meant as names. */
function stepNamesAsText(steps: unknown): void {
  if (!isSeq(steps)) return;
  for (const item of steps.items) {
    if (!isMap(item)) continue;
    const waits = item.get("depends_on", true);
    namesAsText([item.get("key", true), item.get("content", true), ...(isSeq(waits) ? waits.items : [])]);
  }
}

function namesAsText(nodes: readonly unknown[]): void {
  for (const node of nodes) {
    if (!isScalar(node) || (typeof node.value !== "number" && typeof node.value !== "boolean")) continue;
    node.value = node.source ?? String(node.value);
  }
}
