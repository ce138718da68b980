import { isDibsError } from "../../contract/errors.js";
import { SETTINGS_DEFAULT } from "../../contract/workspace.js";
import { recordBy } from "../events.js";
import { newId } from "../ids.js";
import type { RecurrenceRow } from "../port/recurrence-verbs.js";
import type { NewTaskRow } from "../port/rows.js";
import type { Tx } from "../port/store.js";
import { queuePlace, taskState } from "../tasks/task-state.js";
import { iso } from "../tasks/task-view.js";
import { lastTick, scheduleOf } from "./cron.js";

/** Recurrences looked up at once. */
const AT_ONCE = 64;
/** Unclosed tasks looked at, at once, for one that is really open. */
const UNCLOSED_AT_ONCE = 16;

/** What the tasks of a recurrence are made of. */
export type Template = Pick<NewTaskRow, "content" | "description" | "priority"> & {
  readonly labels: readonly string[];
  readonly context: object | null;
  /** Null for the workspace's at the time of the tick. */
  readonly max_attempts: number | null;
};

/**
 * Makes the tasks of all ticks that have come. Whoever writes next does it, in its own transaction: the recurrence moves
 * on to its next tick only if it still stands where it was read, so that of any number of nodes one makes the task.
 * However many ticks were missed, the last of them has a task and the others don't. Returns how many were made.
 */
export async function makeDue(tx: Tx): Promise<number> {
  let made = 0;
  for (;;) {
    const due = await tx.recurrences.due(tx.nowMs, AT_ONCE);
    for (const row of due) made += await makeOne(tx, row);
    if (due.length < AT_ONCE) return made;
  }
}

async function makeOne(tx: Tx, row: RecurrenceRow): Promise<number> {
  const ticks = ticksOf(tx, row);
  if (typeof ticks === "string") {
    // One that can't go on must not stop every write to the store.
    await tx.recurrences.change(row, { enabled: 0, next_at: null, version: row.version + 1, updated_at: tx.nowMs });
    await recordTick(tx, row, "recurrence.updated", null, { fields: ["enabled"], enabled: false, reason: ticks });
    return 0;
  }
  const { tickMs, nextMs } = ticks;
  const open = row.skip_if_open === 1 ? await openTaskOf(tx, row) : undefined;
  const missed = row.next_at !== null && tickMs > row.next_at ? { missed_since: iso(row.next_at) } : {};
  const tick = { tick_at: iso(tickMs), ...missed };
  const passes = open !== undefined || (await tx.recurrences.hasTask(row.id, tickMs));
  const task = passes ? undefined : await taskOf(tx, row, tickMs);
  const last = task && { last_at: tickMs, last_task_id: task.id };
  if (!(await tx.recurrences.change(row, { next_at: nextMs, ...last }))) return 0;
  if (open !== undefined) await recordTick(tx, row, "recurrence.skipped", null, { ...tick, open_task_id: open });
  if (!task) return 0;
  await tx.tasks.insert(task, JSON.parse(task.labels));
  const { content, priority } = task;
  await recordTick(tx, row, "task.created", task.id, { content, priority, ...tick });
  return 1;
}

/** The tick to make and the one after it; in words why there is none. */
function ticksOf(tx: Tx, row: RecurrenceRow): { tickMs: number; nextMs: number } | string {
  try {
    const schedule = scheduleOf(row.cron, row.time_zone);
    const tickMs = lastTick(schedule, row.next_at ?? tx.nowMs, tx.nowMs);
    const nextMs = schedule.after(tx.nowMs);
    return nextMs === null ? "no tick is left" : { tickMs, nextMs };
  } catch (fault) {
    // Another version of Node may know other zones.
    if (isDibsError(fault)) return fault.message;
    throw fault;
  }
}

/** A task of an earlier tick that isn't closed, whatever its row says. */
async function openTaskOf(tx: Tx, row: RecurrenceRow): Promise<string | undefined> {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const rows = await tx.recurrences.unclosed(row.id, before, UNCLOSED_AT_ONCE);
    const open = rows.find((task) => !["failed", "cancelled"].includes(taskState(task, tx.nowMs).status));
    if (open || rows.length < UNCLOSED_AT_ONCE) return open?.id;
    before = rows.at(-1)?.seq ?? 0;
  }
}

async function taskOf(tx: Tx, row: RecurrenceRow, tickMs: number): Promise<NewTaskRow> {
  const { labels, context, max_attempts, ...texts } = JSON.parse(row.template) as Template;
  const settings = { ...SETTINGS_DEFAULT, ...(await tx.workspaces.byId(row.workspace_id))?.settings };
  const waiting = { not_before: null, open_blockers: 0 };
  return {
    ...texts,
    ...waiting,
    ...queuePlace(waiting, tx.nowMs),
    blockers: 0,
    has_dependents: 0,
    plan: null,
    parent_id: null,
    accountable: null,
    scoped: 0,
    scopes: null,
    id: newId(tx.nowMs),
    workspace_id: row.workspace_id,
    project_id: row.project_id,
    assigned_to: row.assigned_to,
    created_by: row.created_by,
    max_attempts: max_attempts ?? settings.max_attempts,
    created_at: tx.nowMs,
    due_date: null,
    labels: JSON.stringify(labels),
    context: context === null ? null : JSON.stringify(context),
    recurrence_id: row.id,
    tick_at: tickMs,
  };
}

/** An event that the clock caused. */
async function recordTick(tx: Tx, row: RecurrenceRow, type: string, taskId: string | null, data: object) {
  const { workspace_id, project_id } = row;
  const said = { recurrence_id: row.id, name: row.name, ...data };
  await recordBy(tx, null, type, { workspace_id, project_id, task_id: taskId }, said);
}
