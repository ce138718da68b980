import { type ErrorDetails, invalidInput } from "../../contract/errors.js";
import { hasTasksOf } from "../agents/sharing.js";
import type { Context } from "../context.js";
import { blockerMovedByItself } from "../dependencies/dependencies.js";
import { record, recordByClock } from "../events.js";
import { newId } from "../ids.js";
import { endWait } from "../line/line.js";
import { QUEUE, type TaskRow, withChange } from "../port/rows.js";
import type { ScopeEnd } from "../port/scope-rows.js";
import type { Tx } from "../port/store.js";
import type { LeaseChange, TaskChange } from "../port/verbs.js";
import { quoted } from "../quoted.js";
import { fate, OUT_OF_QUEUE, queuePlace, taskState } from "../tasks/task-state.js";
import { ATTEMPTS_EXHAUSTED, iso } from "../tasks/task-view.js";
import { endScopesOf } from "./scope-leases.js";

/**
 * The one module that grants, renews and ends leases (R44). Callers decide whether something may be held; here is what
 * a lease is. Every function returns the row as it is afterwards.
 */

export type LostReason = ErrorDetails<"lease_lost">["reason"];

/** The length asked for, checked against the workspace's range; nothing is clamped silently (R6). */
export function leaseSecondsOf(context: Context, asked: number | undefined, field = "lease_seconds"): number {
  const { lease_seconds_default, lease_seconds_min, lease_seconds_max } = context.settings;
  if (asked === undefined) return lease_seconds_default;
  if (asked < lease_seconds_min || asked > lease_seconds_max) {
    throw invalidInput(field, `must be ${lease_seconds_min}..${lease_seconds_max} in this workspace, not ${asked}`);
  }
  return asked;
}

/** What a grant makes of a free task: new lease, next fence, one more attempt (R4). */
export function granted(
  row: TaskRow,
  holder: { readonly agentId: string; readonly sessionId: string },
  leaseSeconds: number,
  nowMs: number,
) {
  const untilMs = nowMs + leaseSeconds * 1000;
  return {
    status: "claimed" as const,
    queue: QUEUE.sleeping,
    parked_by: null,
    passed_since: null,
    wakes_at: untilMs,
    lease_id: newId(nowMs),
    fence: row.fence + 1,
    holder_agent: holder.agentId,
    holder_session: holder.sessionId,
    claimed_at: nowMs,
    lease_seconds: leaseSeconds,
    lease_until: untilMs,
    lapsed: 0,
    attempts: row.attempts + 1,
    hops: 0,
    state: "working",
    version: row.version + 1,
    updated_at: nowMs,
  };
}

/** What a renewal makes of a held task: same lease, same fence, the later of the present end and now + length (R5). */
export function renewed(row: TaskRow, leaseSeconds: number, nowMs: number) {
  const untilMs = Math.max(row.lease_until ?? 0, nowMs + leaseSeconds * 1000);
  return { lease_until: untilMs, wakes_at: untilMs, lease_seconds: leaseSeconds };
}

/** Grants a free task to the session. */
export async function grant(context: Context, row: TaskRow, leaseSeconds: number): Promise<TaskRow> {
  const session = await context.holder();
  const holder = { agentId: context.agent.id, sessionId: session.id };
  const becomes = granted(row, holder, leaseSeconds, context.nowMs);
  // The transaction read the row as free; if the statement disagrees, an invariant is broken and nothing may be granted.
  if (!(await context.tx.leases.grant(row, becomes))) {
    throw new Error(`Task ${row.id} was read as free but could not be granted.`);
  }
  const after = Object.assign(withChange(row, becomes), { session_expires_at: session.expires_at });
  keep(context, after);
  const { lease_id, fence, attempts: attempt } = becomes;
  const data = { lease_id, fence, lease_seconds: leaseSeconds, attempt };
  await record(context, "task.claimed", after, data);
  return after;
}

/**
 * Gives a held task to the caller's session, in one statement: it is free at no instant (R39). The lease is new, of full
 * length, under the next fence; the attempt is the one that was under way (R20). Its scopes' leases go with it.
 */
export async function transfer(
  context: Context,
  row: TaskRow,
  leaseSeconds: number,
  note: Pick<TaskChange, "handoff_note">,
): Promise<TaskRow> {
  const session = await context.holder();
  const holder = { agentId: context.agent.id, sessionId: session.id };
  const taken = granted(row, holder, leaseSeconds, context.nowMs);
  const becomes = { ...taken, attempts: row.attempts, hops: row.hops + 1, state_detail: null, ...note };
  if (!(await context.tx.leases.transfer(row, context.nowMs, becomes))) {
    throw new Error(`Lease ${row.lease_id} of task ${row.id} was read as held but could not be transferred.`);
  }
  const after = Object.assign(withChange(row, becomes), { session_expires_at: session.expires_at });
  keep(context, after);
  return after;
}

/** Renews what the session holds; one who `reports` progress may hand it on again (R39). */
export async function renew(context: Context, row: TaskRow, leaseSeconds: number, reports = false): Promise<TaskRow> {
  const hops = reports && row.hops > 0 ? { hops: 0 } : {};
  const becomes = { ...renewed(row, leaseSeconds, context.nowMs), ...hops };
  if (!(await context.tx.leases.renew(row, context.nowMs, becomes))) {
    throw new Error(`Lease ${row.lease_id} of task ${row.id} was read as held but could not be renewed.`);
  }
  const after = withChange(row, becomes);
  keep(context, after);
  return after;
}

/** What the rest of the transaction knows of a lease without reading it. */
function keep(context: Context, after: TaskRow): void {
  context.tx.tasks.keep(after);
  if (aboutToLapse(after, context.nowMs)) context.prefetched.expires(after);
}

export interface LeaseProof {
  readonly lease_id?: string | undefined;
  readonly fence?: number | undefined;
}

/** Whether the row's holder is the caller's session, or the parent that shares what it holds with it (R65). */
export function isHolder({ session }: Pick<Context, "session">, row: TaskRow): boolean {
  if (session === null) return false;
  return hasTasksOf(session, row.holder_session);
}

/** Whether the caller's session holds the task now, under the lease and fence it names if it names them (R3). */
export function holds(context: Context, row: TaskRow, proof: LeaseProof): boolean {
  return (
    isHolder(context, row) &&
    taskState(row, context.nowMs).held &&
    (proof.lease_id === undefined || proof.lease_id === row.lease_id) &&
    (proof.fence === undefined || proof.fence === row.fence)
  );
}

/** Ends a lease by its holder; the statement itself checks that it still lives. */
export async function endByHolder(
  context: Context,
  row: TaskRow,
  becomes: TaskChange & { status: TaskRow["status"] },
): Promise<TaskRow> {
  const after = await end(context.tx, row, { live: true, nowMs: context.nowMs }, counted(context, row, becomes));
  if (row.scoped === 1) freedScopes(context);
  return after;
}

/** Tasks may be ready that stand before what was read ahead of the queue. */
function freedScopes(context: Context): void {
  context.heads.spoil();
  context.woke();
}

/** The change, which its caller made for this call, with what every change of a task writes. */
function counted<C extends TaskChange>(context: Pick<Context, "nowMs">, row: TaskRow, change: C): C {
  return Object.assign(change, { version: row.version + 1, updated_at: context.nowMs });
}

/** Ends a lease against or without its holder: takeover, force-release, the end of its session or agent; `how` its names end. */
export async function endByForce(
  context: Pick<Context, "tx" | "nowMs">,
  row: TaskRow,
  becomes: TaskChange & { status: TaskRow["status"] },
  how: ScopeEnd = "revoked",
): Promise<TaskRow> {
  return end(context.tx, row, { live: false, nowMs: context.nowMs }, counted(context, row, becomes), how);
}

async function end(
  tx: Tx,
  row: TaskRow,
  how: { live: boolean; nowMs: number },
  becomes: LeaseChange & { status: TaskRow["status"] },
  names: ScopeEnd = "released",
): Promise<TaskRow> {
  const ended = await tx.leases.end(row, how, becomes);
  if (row.scoped === 1) {
    const lapsedAt = becomes.lapsed === 1 ? becomes.lease_until : null;
    await endScopesOf(tx, row, lapsedAt ? "expired" : names, lapsedAt ?? tx.nowMs);
  }
  if (tx.waited || tx.waits.added)
    for (const wait of await tx.waits.ofLease(row.id, row.lease_id ?? "")) await endWait(tx, wait, "task_lost");
  if (!ended) throw new Error(`Lease ${row.lease_id} of task ${row.id} was read as held but could not be ended.`);
  return withChange(row, becomes);
}

/**
 * Records a lease that the clock ended (R12): the task is in the queue again, or failed when its attempts are used up
 * (R20). Changes nothing that a reader could see: the row read like this from the instant itself on.
 */
export async function lapse(tx: Tx, row: TaskRow): Promise<TaskRow> {
  const state = taskState(row, tx.nowMs);
  const status = fate(row, true);
  const exhausted = status === "failed";
  const endedMs = state.leaseEndMs ?? tx.nowMs;
  const place = status === "open" ? queuePlace(row, tx.nowMs) : OUT_OF_QUEUE;
  const closing = status === "open" ? {} : { closed_at: endedMs };
  const said = row.state_detail === null ? { state: null } : { state: null, state_detail: null };
  const failure = exhausted ? { failure_reason: ATTEMPTS_EXHAUSTED } : {};
  const lapsed = { lapsed: 1, lease_until: endedMs };
  const becomes = { status, ...lapsed, ...place, ...closing, cancel_requested: 0, ...said, ...failure };
  const after = await end(tx, row, { live: false, nowMs: tx.nowMs }, becomes);
  const lease = {
    lease_id: row.lease_id,
    fence: row.fence,
    agent_id: row.holder_agent,
    session_id: row.holder_session,
  };
  await recordByClock(tx, "lease.expired", row, { ...lease, expired_at: iso(endedMs), attempt: row.attempts });
  if (exhausted) {
    const types = ["lease.expired", "task.released", "task.failed"];
    const ends = await tx.events.lastOf(row.id, types, row.max_attempts);
    const leases = ends.map((event) => ({ type: event.type, at: iso(event.at), ...JSON.parse(event.data) })).reverse();
    await recordByClock(tx, "task.failed", row, { reason: ATTEMPTS_EXHAUSTED, leases });
  }
  if (status === "cancelled") await recordByClock(tx, "task.cancelled", row, { reason: row.cancel_reason });
  await blockerMovedByItself(tx, row, after);
  await notifyLost(tx, row, "expired", `The lease on ${quoted(row)} ended at ${iso(endedMs)} without a renewal.`);
  return after;
}

/** Tells the session that held the task; it stands in its answers until acknowledged (R54). */
export async function notifyLost(tx: Tx, row: TaskRow, reason: LostReason, message: string): Promise<void> {
  if (row.holder_session === null) return;
  await tx.notes.addNotice({
    id: newId(tx.nowMs),
    session_id: row.holder_session,
    type: "lease.lost",
    task_id: row.id,
    at: tx.nowMs,
    message,
    data: JSON.stringify({ reason, lease_id: row.lease_id, fence: row.fence }),
  });
}

/** The session's own view of a lease that is about to end, if it is: less than a third of its length is left. */
export function aboutToLapse(row: TaskRow, nowMs: number): boolean {
  const state = taskState(row, nowMs);
  if (!state.held || state.leaseEndMs === null || row.lease_seconds === null) return false;
  return state.leaseEndMs - nowMs < (row.lease_seconds * 1000) / 3;
}
