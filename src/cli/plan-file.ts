import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { DibsError, type ErrorDetails, invalidInput, isDibsError } from "../contract/errors.js";

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
    this.#document = parseDocument(text.replace(/^\uFEFF/, ""), { lineCounter: this.#lines });
    const [fault] = this.#document.errors;
    if (fault) {
      const what = (fault.message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:?$/, "");
      throw invalidInput(this.#place(fault.pos[0]), `isn't YAML or JSON here: ${what}`);
    }
    const { contents } = this.#document;
    if (!isMap(contents)) throw invalidInput(this.name, "must hold one plan: slug, title and steps");
    namesAsText(contents.get("steps", true));
    this.input = this.#document.toJS({ maxAliasCount: 100 }) as Record<string, unknown>;
  }

  /** The refusal of a plan with the place of each mistake, where the file has one. */
  located(refusal: unknown): unknown {
    if (!isDibsError(refusal)) return refusal;
    if (isDibsError(refusal, "invalid_input")) {
      const { fields } = refusal.details as ErrorDetails<"invalid_input">;
      const placed = fields.map(({ field, message }) => ({
        field: this.#where(field.split(".")) ?? field,
        message: `${field} ${message}`,
      }));
      const text = placed.map(({ field, message }) => `${field}: ${message}`).join("; ");
      return new DibsError("invalid_input", text, { fields: placed });
    }
    const path = /^(steps\.\d+\.\w+): /.exec(refusal.message)?.[1];
    const where = path === undefined ? undefined : this.#where(path.split("."));
    return where === undefined
      ? refusal
      : DibsError.fromProblem({ ...refusal.toProblem(), detail: `${where}: ${refusal.message}` });
  }

  /** The place of the part, or of the nearest one around it. */
  #where(path: readonly string[]): string | undefined {
    for (let length = path.length; length > 0; length -= 1) {
      const node = this.#document.getIn(
        path.slice(0, length).map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
        true,
      );
      const at = (node as Node | undefined)?.range?.[0];
      if (at !== undefined) return this.#place(at);
    }
    return undefined;
  }

  #place(offset: number): string {
    const { line, col } = this.#lines.linePos(offset);
    return `${this.name} line ${line}, column ${col}`;
  }
}

/** Keys that YAML takes for numbers are meant as names. */
function namesAsText(steps: unknown): void {
  if (!isSeq(steps)) return;
  for (const step of steps.items) {
    if (!isMap(step)) continue;
    const waits = step.get("depends_on", true);
    for (const node of [step.get("key", true), ...(isSeq(waits) ? waits.items : [])]) {
      if (isScalar(node) && typeof node.value === "number") node.value = node.source ?? String(node.value);
    }
  }
}
