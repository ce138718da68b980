import { DibsError } from "../../contract/errors.js";
import type { Context } from "../context.js";
import { record, recordByClock } from "../events.js";
import { grouped } from "../grouped.js";
import { newId } from "../ids.js";
import type { MoveBy } from "../port/dependency-verbs.js";
import { type DependentRow, type LinkedRow, QUEUE, type TaskRow } from "../port/rows.js";
import type { Tx } from "../port/store.js";
import { quoted } from "../quoted.js";
import { endReservation } from "../tasks/passed-over.js";
import { queuePlace } from "../tasks/task-state.js";

/** Writes an event of a task: the caller's, or the clock's. */
type Say = (type: string, task: DependentRow | TaskRow, data: object) => Promise<void>;

/** The tasks of these ids by id, locked. Throws `unknown_dependency` with the first that isn't there (R23, R47). */
export async function blockersNamed(context: Context, ids: readonly string[]): Promise<ReadonlyMap<string, LinkedRow>> {
  const distinct = [...new Set(ids)];
  if (distinct.length === 0) return new Map();
  const rows = await context.tx.dependencies.named(context.workspaceId, distinct);
  const found = new Map(rows.map((row) => [row.id, row]));
  const unknown = distinct.find((id) => !found.has(id));
  if (unknown === undefined) return found;
  const message = `depends_on: there is no task ${unknown}; see GET /v1/tasks (dibs task list).`;
  throw new DibsError("unknown_dependency", message, { id: unknown });
}

const isClosedForGood = (status: string) => status === "failed" || status === "cancelled";

/**
 * What a blocker's change means to those that wait for it (R23, R24): completed, it frees them; opened again, it holds
 * up those that nobody holds, and the holders of others are told; failed or cancelled, it stalls them. In the transaction
 * of the change itself, in sets; of a task for which nobody ever waited it asks nothing.
 */
export async function blockerMoved(context: Context, before: TaskRow, after: TaskRow): Promise<void> {
  if (after.has_dependents === 0) return;
  const say: Say = (type, task, data) => record(context, type, task, data);
  if (await followed(context.tx, before, after, say)) freed(context);
}

/** The same for what the clock did to a blocker, or the store's owner. */
export async function blockerMovedByItself(tx: Tx, before: TaskRow, after: TaskRow): Promise<void> {
  if (after.has_dependents === 0) return;
  await followed(tx, before, after, (type, task, data) => recordByClock(tx, type, task, data));
}

/** Something became ready: it may stand before what was read ahead of the queue, and others may wait for it. */
function freed(context: Context): void {
  context.heads.spoil();
  context.woke();
}

/** Whether something became ready. */
async function followed(tx: Tx, before: TaskRow, after: TaskRow, say: Say): Promise<boolean> {
  const [was, is] = [before.status, after.status];
  if (is === "completed" && was !== "completed") return moved(tx, after, { open_blockers: -1, blockers: 0 }, say);
  if (was === "completed" && is !== "completed") {
    await moved(tx, after, { open_blockers: 1, blockers: 0 }, say);
    return false;
  }
  if (!isClosedForGood(is) || was === is) return false;
  const dependents = await tx.dependencies.dependentsOf(after.seq, { lock: false });
  for (const row of dependents) if (row.status === "open") await sayStalled(row, after, say);
  return false;
}

function sayStalled(task: DependentRow | TaskRow, blocker: Pick<TaskRow, "id" | "status">, say: Say): Promise<void> {
  return say("task.stalled", task, { blocker_id: blocker.id, blocker_status: blocker.status });
}

/** Everything that waits for the deleted blocker waits for it no more. */
export async function freeDependents(context: Context, blocker: TaskRow): Promise<void> {
  const say: Say = (type, task, data) => record(context, type, task, { ...data, deleted: true });
  const by = { open_blockers: blocker.status === "completed" ? 0 : -1, blockers: -1 };
  const some = await moved(context.tx, blocker, by, say);
  await context.tx.dependencies.removeDependents(blocker.seq);
  if (some) freed(context);
}

/** Counts a blocker on or off for all its dependents, and moves those whose place in the queue it changes. */
async function moved(tx: Tx, blocker: TaskRow, by: MoveBy, say: Say): Promise<boolean> {
  await tx.dependencies.alone(blocker.workspace_id, "readiness");
  const rows = await tx.dependencies.dependentsOf(blocker.seq, { lock: true });
  const places = grouped(rows, (row) => placeAfter(row, by, tx.nowMs));
  for (const [queue, dependents] of places) await tx.dependencies.move(dependents, by, queue);
  const ready = places.get(QUEUE.ready) ?? [];
  for (const row of ready) await say("task.ready", row, { blocker_id: blocker.id });
  for (const row of by.open_blockers > 0 ? rows : []) {
    if (row.status !== "open" && row.status !== "claimed") continue;
    if (row.open_blockers === 0) await say("task.blocked", row, { blocker_id: blocker.id });
    if (row.status === "claimed") await tellHolder(tx, row, blocker);
    else await endReservation(tx, row);
  }
  return ready.length > 0;
}

/** Where the dependent stands then; undefined where it stands already, or not in the queue at all. */
function placeAfter(row: DependentRow, by: MoveBy, nowMs: number): number | undefined {
  if (row.status !== "open") return undefined;
  const { queue } = queuePlace({ ...row, open_blockers: row.open_blockers + by.open_blockers }, nowMs);
  return queue === row.queue ? undefined : queue;
}

/** A claim on what is blocked anew goes on; its holder decides what to do about it (R24). */
async function tellHolder(tx: Tx, row: DependentRow, blocker: TaskRow): Promise<void> {
  if (row.holder_session === null) return;
  await tx.notes.addNotice({
    id: newId(tx.nowMs),
    session_id: row.holder_session,
    type: "blocker.reopened",
    task_id: row.id,
    at: tx.nowMs,
    message: `${quoted(blocker)}, which your task waited for, was opened again. You keep your task.`,
    data: JSON.stringify({ blocker_id: blocker.id }),
  });
}

/** The events of a task whose own dependencies were changed: what it waits for now, and what became of it. */
export async function sayWaiting(
  context: Context,
  before: Pick<TaskRow, "queue" | "open_blockers" | "status">,
  after: TaskRow,
  added: readonly LinkedRow[],
): Promise<void> {
  const say: Say = (type, task, data) => record(context, type, task, data);
  if (after.status !== "open") return;
  for (const blocker of added) if (isClosedForGood(blocker.status)) await sayStalled(after, blocker, say);
  if (before.queue === QUEUE.blocked && after.queue === QUEUE.ready) {
    await say("task.ready", after, {});
    freed(context);
  }
}
