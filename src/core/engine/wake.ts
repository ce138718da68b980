import { expireOffers } from "../handoffs/handoff-record.js";
import { lapseHolds } from "../holds/holds.js";
import { lapse } from "../leases/leases.js";
import { lapseScopes } from "../leases/scope-leases.js";
import { endOverdue, serveLine } from "../line/line.js";
import { QUEUE, type SessionRow, type TaskRow, withChange } from "../port/rows.js";
import type { Tx } from "../port/store.js";
import { makeDue } from "../recurrences/ticks.js";
import { iso } from "../tasks/task-view.js";
import { expireUnlanded } from "../unlanded/unlanded-end.js";

/** Tasks woken for each call of a transaction that writes, at 60 µs each: more than a call grants, so they get fewer. */
export const WOKEN_PER_CALL = 4;

/** Sessions that fell silent, looked up at once. */
const SILENT_BATCH = 64;

export interface Woken {
  readonly count: number;
  /** More are due than were woken; a claim then looks at the sleeping ones too, so that order never depends on it. */
  readonly more: boolean;
}

/**
 * Brings what the clock changed into the queue: everything of sessions that fell silent, the tasks of ticks that came, and
 * a bounded number of lapsed leases and scheduled tasks. Never needed for a right answer (R12): state is judged by time wherever it is read.
 */
export async function wake(tx: Tx, limit: number): Promise<Woken> {
  if (!tx.mayBeDue) return { count: 0, more: false };
  let count = 0;
  for (;;) {
    const silent = await tx.sessions.silentSince(tx.nowMs, SILENT_BATCH);
    for (const session of silent) count += await expireSession(tx, session);
    if (silent.length < SILENT_BATCH) break;
  }
  count += await makeDue(tx);
  count += await lapseHolds(tx, limit);
  count += await expireUnlanded(tx, limit);
  const lapsed = await tx.scopes.due(tx.nowMs, limit + 1);
  await lapseScopes(tx, lapsed.slice(0, limit));
  count += Math.min(lapsed.length, limit);
  const overdue = await tx.waits.due(tx.nowMs, SILENT_BATCH);
  await endOverdue(tx, overdue);
  count += overdue.length;
  if (tx.shared) await tx.scopes.aloneForDue(tx.nowMs, limit + 1);
  const due = await tx.tasks.due(tx.nowMs, limit + 1);
  for (const row of due.slice(0, limit)) await wakeTask(tx, row);
  const offers = await tx.handoffs.due(tx.nowMs, limit + 1);
  await expireOffers(tx, offers.slice(0, limit));
  if (tx.freed.length > 0 && (await serveLine(tx))) count += 1;
  // What another node's transaction has locked is passed over, so that there may always be more.
  return { count: count + Math.min(due.length, limit), more: due.length > limit || lapsed.length > limit || tx.shared };
}

/** Wakes one task that is due; the row as it is afterwards. */
export async function wakeTask(tx: Tx, row: TaskRow): Promise<TaskRow> {
  if (row.status === "claimed") return lapse(tx, row);
  const change = { queue: QUEUE.ready, wakes_at: null, parked_by: null };
  await tx.tasks.update(row, change);
  return withChange(row, change);
}

async function expireSession(tx: Tx, session: SessionRow): Promise<number> {
  const endedMs = session.expires_at ?? tx.nowMs;
  await tx.scopes.alone(session.workspace_id);
  const held = await tx.tasks.heldBySession(session.agent_id, session.id);
  for (const row of held) await lapse(tx, row);
  const names = await tx.scopes.ofSession(session.id);
  await lapseScopes(tx, names);
  const waits = await tx.waits.ofSessions([session.id]);
  // One that was offered something may have lost its turn before.
  await endOverdue(tx, waits);
  await tx.sessions.end(session.id, "expired", endedMs);
  await tx.events.append({
    workspace_id: session.workspace_id,
    type: "session.expired",
    at: tx.nowMs,
    agent_id: null,
    agent_name: null,
    session_id: session.id,
    project_id: session.project_id,
    task_id: null,
    data: JSON.stringify({
      agent_id: session.agent_id,
      expired_at: iso(endedMs),
      tasks_lapsed: held.length,
      claims_lapsed: names.length,
      waits_ended: waits.length,
    }),
  });
  return held.length + names.length + waits.length;
}
