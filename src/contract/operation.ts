import type { z } from "zod";
import type { ErrorCode } from "./errors.js";

export const ROLES = ["worker", "coordinator", "admin"] as const;
export type Role = (typeof ROLES)[number];

type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/**
 * One thing that may be asked of Dibs, as data. Its behaviour is the function of the same name in core/;
 * REST, OpenAPI, MCP, command line and client are loops over these.
 */
export interface Operation<
  N extends string = string,
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodType = z.ZodType,
> {
  readonly name: N;
  readonly summary: string;
  readonly method: Method;
  /** `:part` names the field of `input` that stands there. */
  readonly path: string;
  /** More routes that mean the same call. */
  readonly aliases?: readonly { readonly method: Method; readonly path: string }[];
  readonly input: I;
  readonly output: O;
  /** Codes beside those that every call may answer (`COMMON_ERRORS`). */
  readonly errors: readonly ErrorCode[];
  /** The least role whose key may call it; finer rights are the core's. */
  readonly role: Role;
  /** A read never writes the store (but for signs of life). */
  readonly effect: "read" | "write";
  /** Status of a success: 200 unless it makes a record. */
  readonly status?: 200 | 201;
  /** When a success has another status, in words: 202 where it is only a request, 200 where it made no new record. */
  readonly otherwise?: { readonly status: 200 | 202; readonly when: string };
  /** What `null` in an input field means: as if absent, or "clear this field". */
  readonly nulls?: "absent" | "clear";
  /** Its input may be as large as a whole plan or backlog. */
  readonly large?: true;
  /** The answer carries a secret, which no store may keep readable. */
  readonly secret?: true;
  /** The answer is an array cut by `limit` and continued by `cursor`. */
  readonly paged?: true;
  /** Takes a rate-limit class of its own, so that a limit never makes leases lapse. */
  readonly heartbeat?: true;
}

/** What any call may answer, whatever it asks. */
export const COMMON_ERRORS = [
  "invalid_input",
  "unauthorized",
  "forbidden",
  "too_large",
  "unsupported_media_type",
  "rate_limited",
  "session_ended",
  "store_unavailable",
  "storage_full",
  "internal",
] as const satisfies readonly ErrorCode[];

/** An operation as it is written down: its schemas as functions. */
type Definition<N extends string, I extends z.ZodObject, O extends z.ZodType> = Omit<
  Operation<N, I, O>,
  "input" | "output"
> & { readonly input: () => I; readonly output: () => O };

/** The operation, whose schemas are made when they are first asked for: those of all take longer than most commands. */
export function defineOperation<N extends string, I extends z.ZodObject, O extends z.ZodType>(
  definition: Definition<N, I, O>,
): Operation<N, I, O> {
  let input: I | undefined;
  let output: O | undefined;
  return Object.freeze({
    ...definition,
    get input() {
      input ??= definition.input();
      return input;
    },
    get output() {
      output ??= definition.output();
      return output;
    },
  });
}

/** Who is calling, as each surface knows it. Identity never comes from the input. */
export interface Caller {
  readonly identity:
    | { readonly kind: "key"; readonly key: string }
    | { readonly kind: "cookie"; readonly token: string }
    /** A process that may open the store's file acts as the agent it names (made on first use). */
    | { readonly kind: "file"; readonly agent: string; readonly workspace?: string };
  readonly sessionId?: string;
  readonly idempotencyKey?: string;
  /** The version the record must still have (`If-Match`). */
  readonly ifVersion?: number;
  /** Aborts when nobody waits for the answer any more; a grant that can't be delivered is undone. */
  readonly signal?: AbortSignal;
}

/** What a call gives back beside the record: everything a surface needs to answer in its own form. */
export interface Answer<T> {
  readonly body: T;
  readonly status: number;
  /** Continues a paged list. */
  readonly nextCursor?: string;
  /** A repeat that got the first answer (`Idempotency-Replayed: true`). */
  readonly replayed?: boolean;
  /** How many notices wait for the caller's session; 100 stands for 100 or more. */
  readonly notices: number;
  /** The deciding clock at the time of the answer, ms; 0 where no transaction was needed for it. */
  readonly serverNowMs: number;
}

/** The seam of every surface: the app's in a server or on the bare file, the client's elsewhere. */
export type Call = <O extends Operation>(
  operation: O,
  input: z.input<O["input"]>,
  caller: Caller,
) => Promise<Answer<z.output<O["output"]>>>;

/** An answer whose body is JSON text already, as the engine wrote it: a server sends it on without reading it again. */
export interface TextAnswer extends Omit<Answer<unknown>, "body"> {
  readonly text: string;
}
export type TextCall = (operation: Operation, input: unknown, caller: Caller) => Promise<TextAnswer>;
