import { DibsError, invalidInput } from "../../contract/errors.js";
import type { Operation } from "../../contract/operation.js";
import { noticesOf } from "../agents/notices.js";
import { beatenAnew } from "../agents/sessions.js";
import type { Context, Reply } from "../context.js";
import { viewOf, viewsOf } from "../dependencies/blockers.js";
import { acceptedAnew } from "../handoffs/handoff-answers.js";
import { sha256 } from "../ids.js";
import { leaseLost } from "../leases/lost-lease.js";
import { waitAnew } from "../line/waits.js";
import type { TaskRow } from "../port/rows.js";
import type { Tx } from "../port/store.js";
import { keptAnew } from "../scopes/scope-keeping.js";
import { claimedAnew } from "../scopes/scopes.js";
import { taskState } from "../tasks/task-state.js";
import { taskOf } from "../tasks/tasks.js";
import { seal, unseal } from "./sealed.js";

/** So long a first answer is given again. */
export const REMEMBERED_MS = 24 * 3600 * 1000;
/** Forgotten in one transaction, and how long it is then left alone: room for 2,000 keys a second. */
const FORGET_BATCH = 2_000;
const FORGET_EVERY_MS = 1_000;

/** Drops what is too old to be given again, now and then. */
export class Forgetting {
  #lastMs = 0;

  async now(tx: Tx): Promise<void> {
    if (tx.nowMs - this.#lastMs < FORGET_EVERY_MS) return;
    this.#lastMs = tx.nowMs;
    await tx.notes.forgetBefore(tx.nowMs - REMEMBERED_MS, FORGET_BATCH);
  }
}

/** What is kept of a first answer: its text, or by what it is read anew. */
type Kept =
  | { readonly status: number; readonly text: string }
  | { readonly status: number; readonly sealed: string }
  | {
      readonly grants: readonly { taskId: string; leaseId: string }[];
      readonly many: boolean;
      /** The answer said what was passed over; of a repeat that is nothing. */
      readonly next?: boolean;
    }
  | ({ readonly status: number } & KeptAnew);

/** What an answer that says of leases that they live is read anew by. */
type KeptAnew = Pick<Reply, "scopes" | "handoff" | "wait" | "beat">;
const KEPT_ANEW = ["scopes", "handoff", "wait", "beat"] as const satisfies readonly (keyof KeptAnew)[];

/** Which first answer is meant, and what opens it where it carries a secret: then its name must not say the key. */
interface Scope {
  readonly name: string;
  readonly seal: string | undefined;
}

/** Names the first answer: the agent, the route with what stands in its path, and the key (R59). Throws `invalid_input`. */
export function scopeOf(agentId: string, operation: Operation, input: Record<string, unknown>, key: string): Scope {
  if (key.length < 1 || key.length > 255) throw invalidInput("Idempotency-Key", "must have 1..255 characters");
  const inPath = operation.path.match(/:\w+/g)?.map((part) => input[part.slice(1)]) ?? [];
  const named = operation.secret ? sha256(key) : key;
  return {
    name: [agentId, operation.name, ...inPath, named].join("|"),
    seal: operation.secret ? key : undefined,
  };
}

export function hashOf(input: unknown): string {
  return sha256(JSON.stringify(input));
}

/** The first answer, if there was one; what it says of leases is read anew, and a dead one is never replayed as live. */
export async function replay(
  context: Context,
  scope: Scope,
  bodyHash: string,
): Promise<{ status: number; text?: string; reply?: Reply } | null> {
  const found = await context.prefetched.remembered(scope.name);
  if (!found) return null;
  if (found.body_hash !== bodyHash) {
    throw new DibsError(
      "idempotency_key_reused",
      "The Idempotency-Key came with another body before; use a new key.",
      {},
    );
  }
  const kept = JSON.parse(found.answer) as Kept;
  if ("text" in kept) return kept;
  if ("sealed" in kept) return { status: kept.status, text: unseal(kept.sealed, scope.seal ?? "") };
  if (!("grants" in kept)) return { status: kept.status, reply: { body: await readAnew(context, kept) } };
  const rows: TaskRow[] = [];
  for (const grant of kept.grants) rows.push(await stillHeld(context, grant));
  const views = await viewsOf(context, rows);
  const body = kept.many ? { tasks: views } : { task: views[0] };
  const skipped = kept.next ? { skipped: [], skipped_count: 0 } : {};
  return { status: 200, reply: { body: { ...body, ...skipped, notices: await noticesOf(context) } } };
}

async function readAnew(context: Context, { scopes, handoff, wait, beat }: KeptAnew): Promise<unknown> {
  if (scopes !== undefined) return claimedAnew(context, scopes);
  if (handoff !== undefined) return acceptedAnew(context, handoff);
  if (wait !== undefined) return waitAnew(context, wait);
  if (beat === undefined) throw new Error("An answer was kept without what it is read anew by.");
  if ("items" in beat) return keptAnew(context, beat.items);
  if ("sessionId" in beat) return beatenAnew(context, beat.sessionId);
  const row = await stillHeld(context, beat);
  return { ...(await viewOf(context, row)), notices: await noticesOf(context) };
}

/** The task, if it is held under that lease; throws `lease_lost`. */
async function stillHeld(context: Context, { taskId, leaseId }: { taskId: string; leaseId: string }): Promise<TaskRow> {
  const row = await taskOf(context, taskId);
  if (row.lease_id === leaseId && taskState(row, context.nowMs).held) return row;
  throw (await leaseLost(context, row, { lease_id: leaseId })).refusal;
}

/** Keeps the answer in the transaction of its effect. An empty claim had none and isn't kept: its repeat may find work. */
export async function remember(
  context: Context,
  scope: Scope,
  bodyHash: string,
  reply: Reply,
  status: number,
  text: string,
): Promise<void> {
  if (reply.emptyUntilMs !== undefined) return;
  const held = [...(reply.granted ?? []), ...(reply.renewed ?? [])];
  const grants = held.map((row) => ({ taskId: row.id, leaseId: row.lease_id ?? "" }));
  const [many, next] = ["tasks", "skipped"].map((field) => Object.hasOwn(reply.body as object, field)) as [
    boolean,
    boolean,
  ];
  const whole = scope.seal === undefined ? { status, text } : { status, sealed: seal(text, scope.seal) };
  const anew = KEPT_ANEW.find((field) => reply[field] !== undefined);
  const kept: Kept = anew ? { status, [anew]: reply[anew] } : grants.length > 0 ? { grants, many, next } : whole;
  const row = { scope: scope.name, body_hash: bodyHash, answer: JSON.stringify(kept) };
  await context.tx.notes.remember(row.scope, bodyHash, row.answer, context.nowMs);
  context.prefetched.remember(row);
}
