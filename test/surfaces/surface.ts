import type { OperationName } from "dibs/contract";
import type { Person, World } from "./world.js";

export type Fields = Readonly<Record<string, unknown>>;

/** One call, before any surface has put it in its own form. */
export interface Asking {
  readonly operation: OperationName;
  readonly input: Fields;
  readonly as: Pick<Person, "name" | "key">;
  /** The session the call names; without it none. */
  readonly session?: string | undefined;
  readonly ifVersion?: number | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** What came back, in the form of the contract as far as the surface shows it. */
export interface Heard {
  /** `ok`, or the code of the refusal. */
  readonly code: string;
  /** The answer, or the problem with its fields. */
  readonly body: unknown;
  /** Continues the list. */
  readonly cursor?: string | undefined;
  /** HTTP status, where there is one. */
  readonly status?: number;
  /** Exit status, where there is one. */
  readonly exit?: number | null;
}

/** One way in, opened on a world. */
export interface Surface {
  ask(asking: Asking): Promise<Heard>;
  close(): Promise<void>;
}

export interface Entrance {
  readonly name: string;
  /** Opens the store's file itself: whoever may do that is an admin (R45), and there is no key to be wrong. */
  readonly onFile?: true;
  /** A few tools front the operations that agents need, and show a compact view of each record. */
  readonly tools?: {
    fronts(operation: OperationName): boolean;
    /** Advice that names operations, as it names the tools that front them. */
    inTools(advice: string): string;
  };
  /** Only some are asked, by the first row of each way to end. */
  asks?(operation: OperationName, refused: string | undefined): boolean;
  open(world: World): Surface;
}
