import type { Operation } from "../contract/operation.js";
import type { Show } from "./answers.js";
import type { Fields } from "./field-kinds.js";
import type { JsonSchema } from "./tool-schema.js";

export type Args = Readonly<Record<string, unknown>>;

/** One operation behind a tool, and when a call means it. */
export interface Front {
  readonly operation: Operation;
  /** What the arguments have in common, as a refusal says it. */
  readonly label: string;
  readonly when: (args: Args) => boolean;
  /** The tool's names for fields that are called otherwise in the operation. */
  readonly names?: Readonly<Record<string, string>>;
  /** Fields of the operation that the tool leaves out. */
  readonly without?: readonly string[];
  /** Fields that the tool always fills in like this, and doesn't offer. */
  readonly means?: Readonly<Record<string, unknown>>;
  /** Asked with the same input; its answer is shown beside. */
  readonly beside?: Operation;
  /** Asked for one record in full: nothing is cut. */
  readonly whole?: true;
  /** Doesn't make a bridge that has no session yet open its own, as other writes do. */
  readonly opens?: false;
  readonly show: Show;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** Changes nothing (but for signs of life, as every call). */
  readonly reads?: true;
  /** The same call again changes nothing more. */
  readonly repeats?: true;
  readonly fronts: readonly Front[];
  /** Parameters beside those of the operations. */
  readonly own?: Fields;
  readonly hints?: Readonly<Record<string, string>>;
  readonly output: Readonly<Record<string, JsonSchema>>;
}
