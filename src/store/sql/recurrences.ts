import type { RecurrenceRow, RecurrenceVerbs } from "../../core/port/recurrence-verbs.js";
import type { TaskRow } from "../../core/port/rows.js";
import { after, assignments, type Db, done, insertInto, valuesOf } from "./db.js";
import { SELECT_TASK } from "./read-tasks.js";

const COLUMNS = [
  "id",
  "workspace_id",
  "project_id",
  "name",
  "cron",
  "time_zone",
  "skip_if_open",
  "enabled",
  "template",
  "assigned_to",
  "created_by",
  "next_at",
  "last_at",
  "last_task_id",
  "created_at",
  "updated_at",
  "version",
] as const;
const CHANGES = new Set([
  "name",
  "cron",
  "time_zone",
  "skip_if_open",
  "enabled",
  "template",
  "assigned_to",
  "next_at",
  "last_at",
  "last_task_id",
  "updated_at",
  "version",
]);
const INSERT = insertInto("recurrences", COLUMNS);

export function recurrenceVerbs(db: Db): RecurrenceVerbs {
  // What is read to be changed: another node's tick is waited for, and then seen.
  const locking = db.locks ? "FOR UPDATE" : "";
  return {
    insert: (row) => done(db.run(INSERT, ...valuesOf(row, COLUMNS))),
    byId: (workspaceId, id) =>
      db.get<RecurrenceRow>(`SELECT * FROM recurrences WHERE id = ? AND workspace_id = ? ${locking}`, id, workspaceId),
    byName: (projectId, name) =>
      db.get<RecurrenceRow>("SELECT * FROM recurrences WHERE project_id = ? AND name = ?", projectId, name),
    list: (workspaceId, projectId, page) =>
      db.all<RecurrenceRow>(
        `SELECT * FROM recurrences WHERE workspace_id = ? AND seq > ? ${projectId === null ? "" : "AND project_id = ?"}
         ORDER BY seq LIMIT ?`,
        ...[workspaceId, page.after?.[0] ?? 0],
        ...(projectId === null ? [] : [projectId]),
        page.limit,
      ),
    assignedTo: (workspaceId, agentId) =>
      db.all<RecurrenceRow>(
        `SELECT * FROM recurrences WHERE workspace_id = ? AND assigned_to = ? ORDER BY seq ${locking}`,
        workspaceId,
        agentId,
      ),
    due: (nowMs, limit) =>
      db.all<RecurrenceRow>(
        `SELECT * FROM recurrences WHERE next_at IS NOT NULL AND next_at <= ? ORDER BY next_at, seq LIMIT ${limit}
         ${db.locks ? "FOR UPDATE SKIP LOCKED" : ""}`,
        nowMs,
      ),
    change(row, change) {
      const { set, values } = assignments(change, CHANGES);
      // One that stands still has no tick that could be taken twice.
      const ticks = row.next_at === null ? "next_at IS NULL" : "next_at = ?";
      const guard = row.next_at === null ? [] : [row.next_at];
      return after(
        db.run(`UPDATE recurrences SET ${set} WHERE seq = ? AND ${ticks}`, ...values, row.seq, ...guard),
        (changed) => changed === 1,
      );
    },
    remove: (row) => done(db.run("DELETE FROM recurrences WHERE seq = ?", row.seq)),
    hasTask: (id, tickMs) =>
      after(
        db.get("SELECT 1 AS one FROM tasks WHERE recurrence_id = ? AND tick_at = ?", id, tickMs),
        (row) => row !== undefined,
      ),
    unclosed: (id, beforeSeq, limit) =>
      db.all<TaskRow>(
        `${SELECT_TASK} WHERE t.recurrence_id = ? AND t.closed_at IS NULL AND t.seq < ? ORDER BY t.seq DESC LIMIT ${limit}`,
        id,
        beforeSeq,
      ),
  };
}
