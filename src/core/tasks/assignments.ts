import type { Context } from "../context.js";
import { record } from "../events.js";
import { type TaskRow, withChange } from "../port/rows.js";
import type { TaskChange } from "../port/verbs.js";

/** Tasks read at once: a deleted agent may have had thousands, each with its texts. */
const UNASSIGNED_AT_ONCE = 256;

/**
 * Takes a deleted agent's name off all that is not closed, in the transaction that deletes it: nobody else could claim
 * these tasks, and a new agent of the name inherits nothing (R48). Returns how many there were.
 */
export async function unassignAll(context: Context, agentId: string): Promise<number> {
  let count = 0;
  let afterSeq = 0;
  for (;;) {
    const rows = await context.tx.tasks.assignedTo(context.workspaceId, agentId, afterSeq, UNASSIGNED_AT_ONCE);
    for (const row of rows) {
      const change = { assigned_to: "", version: row.version + 1, updated_at: context.nowMs };
      await context.tx.tasks.update(row, change);
      await recordUpdate(context, row, withChange(row, change), ["assigned_to_agent_id"]);
    }
    count += rows.length;
    if (rows.length < UNASSIGNED_AT_ONCE) return count;
    afterSeq = rows[rows.length - 1]?.seq ?? 0;
  }
}

/** What a closed task that is opened again loses: an assignment to an agent that was deleted since. */
export async function withoutGoneAssignee(context: Context, row: TaskRow): Promise<TaskChange> {
  if (row.assigned_to === "" || (await context.tx.agents.byId(context.workspaceId, row.assigned_to))) return {};
  return { assigned_to: "" };
}

/** The events of a change of these fields, with what else is to be said; whose the task is has one of its own. */
export async function recordUpdate(
  context: Context,
  before: TaskRow,
  after: TaskRow,
  fields: readonly string[],
  told: object = {},
): Promise<void> {
  await record(context, "task.updated", after, { fields, ...told });
  if (after.assigned_to === before.assigned_to) return;
  await record(context, "task.assigned", after, { assigned_to_agent_id: after.assigned_to || null });
}
