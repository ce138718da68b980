import { z } from "zod";

/**
 * Every way Dibs says no. One row a code: HTTP status, exit status of the command line, whether the same
 * call may succeed later unchanged, one line of meaning, and the fields the refusal carries beside its text.
 */
interface ErrorRow<D extends z.ZodObject = z.ZodObject> {
  readonly status: number;
  readonly exit: number;
  readonly retryable: boolean;
  readonly meaning: string;
  readonly details: D;
}

/** Exit statuses of the `dibs` command; names stay (`docs/api.md` prints them). */
export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  nothing: 3,
  conflict: 4,
  leaseLost: 5,
  auth: 6,
  unreachable: 7,
  timedOut: 8,
  interrupted: 130,
} as const;

const none = () => z.object({});
const next = () => z.array(z.string()).describe("What can be done next, in order of preference.");
const fields = () =>
  z.array(
    z.object({ field: z.string(), message: z.string() }).describe("One mistake: where, and what would be right."),
  );
/** A row of the claims table as it stands inside a refusal; its exact shape is `claimRow` in claim.ts. */
const holder = () => z.record(z.string(), z.unknown()).describe("Who holds it: a row of the claims table.");

/** Its exact shape is `unlandedRow` in unlanded.ts. */
const unlanded = () =>
  z
    .array(z.record(z.string(), z.unknown()).describe("Work on another branch, not on its base yet, that overlaps."))
    .optional();

/** Tasks at the other end of a dependency: the first of them, those that stand most in the way before others. */
const linked = () =>
  z.array(z.object({ id: z.string(), content: z.string(), status: z.string() }).describe("A task and its state."));

/** The row; its schema is made when it is first asked for, as those of operations are. */
function row<D extends z.ZodObject = z.ZodObject<Record<never, never>>>(
  status: number,
  exit: number,
  retryable: boolean,
  meaning: string,
  details: () => D = none as unknown as () => D,
): ErrorRow<D> {
  let made: D | undefined;
  return {
    status,
    exit,
    retryable,
    meaning,
    get details() {
      made ??= details();
      return made;
    },
  };
}

const { error, usage, conflict, leaseLost, auth, unreachable, timedOut } = EXIT;

export const ERRORS = {
  invalid_input: row(400, usage, false, "A field is wrong; `fields` says which and what is allowed.", () =>
    z.object({ fields: fields() }),
  ),
  invalid_cursor: row(400, usage, false, "The cursor was not made by this list."),
  invalid_scope: row(400, usage, false, "A scope is wrong; `segment` says where, and its text what is allowed.", () =>
    z.object({ scope: z.string(), segment: z.string() }),
  ),
  reason_required: row(400, usage, false, "It needs a reason.", () => z.object({ fields: fields() })),
  unauthorized: row(401, auth, false, "No key, or one that is unknown, expired or revoked."),
  forbidden: row(403, auth, false, "The key is good, but its role may not do this."),
  not_found: row(404, error, false, "No such thing in this workspace."),
  task_claimed: row(409, conflict, true, "Somebody holds the task.", () =>
    z.object({ holder: holder(), next: next() }),
  ),
  task_closed: row(409, conflict, false, "The task is completed, failed or cancelled.", () =>
    z.object({ status: z.string(), by: z.string().nullable(), at: z.string().nullable(), next: next() }),
  ),
  task_scheduled: row(409, conflict, true, "The task may not start yet.", () =>
    z.object({ not_before: z.string(), next: next() }),
  ),
  task_blocked: row(409, conflict, true, "The task waits for others that aren't completed.", () =>
    z.object({ blockers: linked(), blockers_count: z.number(), next: next() }),
  ),
  task_delegated: row(409, conflict, true, "The task waits for parts of it that were given to others.", () =>
    z.object({ children: linked(), children_count: z.number(), next: next() }),
  ),
  task_assigned: row(409, conflict, false, "The task is assigned to somebody else.", () =>
    z.object({ assigned_to_agent_id: z.string(), next: next() }),
  ),
  scope_conflict: row(409, conflict, true, "Somebody holds a scope that overlaps.", () =>
    z.object({
      conflicts: z.array(
        z
          .object({
            requested: z.string(),
            also_requested: z.array(z.string()).describe("What else of the request it is in the way of."),
            holder: holder(),
            reason: z.string(),
          })
          .describe("One claim that is in the way, and of what."),
      ),
      conflicts_count: z.number(),
      unlanded: unlanded(),
      next: next(),
    }),
  ),
  frozen: row(409, conflict, true, "A hold keeps it from being claimed now.", () =>
    z.object({
      holds: z.array(z.record(z.string(), z.unknown()).describe("What freezes it, why, until when.")),
      unlanded: unlanded(),
      next: next(),
    }),
  ),
  unlanded_ended: row(409, conflict, false, "The unlanded work has landed or ended otherwise.", () =>
    z.object({ ended_how: z.string(), ended_at: z.string(), next: next() }),
  ),
  would_deadlock: row(409, conflict, false, "To wait would close a cycle of waiting, which is spelled out.", () =>
    z.object({
      cycle: z.array(
        z.record(z.string(), z.unknown()).describe("Who would wait for what, and the holder that it would wait for."),
      ),
      next: next(),
    }),
  ),
  verdict_required: row(
    409,
    conflict,
    true,
    "The task is completed only with a passing verdict that isn't stale.",
    () =>
      z.object({
        verdict: z
          .record(z.string(), z.unknown())
          .nullable()
          .describe("The verdict that it has or would have; null without one."),
        head: z.string().nullable().describe("The head of the verdict's branch, where it is known."),
        next: next(),
      }),
  ),
  lease_lost: row(409, leaseLost, false, "The caller does not hold the lease (any more): stop working on it.", () =>
    z.object({
      reason: z.enum(["expired", "superseded", "released", "revoked", "transferred", "completed", "never_held"]),
      holder: holder().optional(),
      next: next(),
    }),
  ),
  handoff_taken: row(
    409,
    conflict,
    false,
    "What was handed over can't be had any more: somebody accepted it, or the offer ended.",
    () =>
      z.object({
        state: z.string().describe("What became of the offer."),
        holder: holder().optional(),
        next: next(),
      }),
  ),
  session_ended: row(409, conflict, false, "The session has ended; open a new one.", () => z.object({ next: next() })),
  resume_token_used: row(
    409,
    conflict,
    false,
    "The resume token carried its session over already; it does so once.",
    () => z.object({ next: next() }),
  ),
  agent_has_claims: row(409, conflict, false, "The agent still holds something.", () =>
    z.object({ claims: z.array(holder()), next: next() }),
  ),
  has_dependents: row(409, conflict, false, "Other tasks depend on it.", () =>
    z.object({ dependents: linked(), dependents_count: z.number(), next: next() }),
  ),
  limit_exceeded: row(409, conflict, false, "A limit is reached.", () =>
    z.object({ setting: z.string(), limit: z.number() }),
  ),
  already_exists: row(409, conflict, false, "The name is taken.", () =>
    z.object({ differences: z.array(z.string()).optional().describe("How a plan of that name differs, in words.") }),
  ),
  idempotency_key_reused: row(409, conflict, false, "The same Idempotency-Key came with another body."),
  version_mismatch: row(412, conflict, false, "The record changed since it was read.", () =>
    z.object({ version: z.number() }),
  ),
  too_large: row(413, usage, false, "The body is too large.", () => z.object({ limit: z.number() })),
  unsupported_media_type: row(415, usage, false, "Bodies are application/json."),
  dependency_cycle: row(422, conflict, false, "The tasks would wait for each other.", () =>
    z.object({
      cycle: z
        .array(z.object({ id: z.string(), content: z.string() }))
        .describe("Each waits for the next; the last is the first again. Of a long one the middle is left out."),
      cycle_length: z.number().describe("Tasks in the cycle."),
      next: next(),
    }),
  ),
  unknown_dependency: row(422, error, false, "A dependency on a task that is not in this workspace.", () =>
    z.object({ id: z.string() }),
  ),
  rate_limited: row(429, timedOut, true, "Too many calls with this key.", () =>
    z.object({ setting: z.string(), limit: z.number() }),
  ),
  internal: row(500, error, false, "A fault of the server; its log has the request id."),
  store_unavailable: row(503, unreachable, true, "The store can't be reached or is busy."),
  storage_full: row(507, error, true, "The disk is full; nothing was written."),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];
export type ErrorDetails<C extends ErrorCode> = z.input<(typeof ERRORS)[C]["details"]>;

/** The one error of Dibs: thrown in core (or rebuilt by the client), translated once by each surface. */
export class DibsError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "DibsError";
  readonly code: C;
  readonly details: ErrorDetails<C>;

  constructor(code: C, message: string, details: ErrorDetails<C>, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get exit(): number {
    return ERRORS[this.code].exit;
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }

  /** The body of an `application/problem+json` answer. `error` repeats the text for clients of older task APIs. */
  toProblem(): Problem {
    return {
      type: `https://dibs.invalid/problems/${this.code}`,
      title: ERRORS[this.code].meaning,
      status: this.status,
      detail: this.message,
      code: this.code,
      error: this.message,
      // `task_closed` has a `status` of its own (the task's); the code's fields win, the answer's line has the other.
      ...(this.details as object),
    };
  }

  /** Rebuilds the error from a problem answer; an unknown code becomes `internal`. */
  static fromProblem(problem: Partial<Problem>): DibsError {
    const { type: _t, title: _ti, status, detail, code, error: text, ...others } = problem;
    const details = typeof status === "string" ? { ...others, status } : others;
    const known = code !== undefined && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : "internal";
    return new DibsError(known, detail ?? text ?? "The server answered without a reason.", details as never);
  }
}

export interface Problem {
  type: string;
  title: string;
  status: number | string;
  detail: string;
  code: string;
  error: string;
  [detail: string]: unknown;
}

export function isDibsError<C extends ErrorCode>(thrown: unknown, code?: C): thrown is DibsError<C> {
  return thrown instanceof DibsError && (code === undefined || thrown.code === code);
}

/** `invalid_input` about one field: names it and says what would be right. */
export function invalidInput(field: string, message: string): DibsError<"invalid_input"> {
  return new DibsError("invalid_input", `${field}: ${message}`, { fields: [{ field, message }] });
}
