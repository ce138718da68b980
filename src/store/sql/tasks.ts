import type { TaskRow } from "../../core/rows.js";
import type { TaskVerbs } from "../../core/store.js";
import type { SqlValue } from "../driver.js";
import { assignments, type Db, insertInto, valuesOf } from "./db.js";
import { queueVerbs } from "./queue.js";
import { listTasks } from "./task-list.js";

const INSERT_COLUMNS = [
  "id",
  "workspace_id",
  "project_id",
  "priority",
  "status",
  "queue",
  "wakes_at",
  "assigned_to",
  "created_by",
  "max_attempts",
  "created_at",
  "updated_at",
  "not_before",
  "due_date",
] as const;
const INSERT = insertInto("tasks", INSERT_COLUMNS);
const INSERT_TEXTS = "INSERT INTO task_texts (seq, content, description, labels, context) VALUES (?, ?, ?, ?, ?)";
const INSERT_LABEL = `INSERT INTO task_labels (seq, label, workspace_id, project_id, queue, assigned_to, priority)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;

const TEXTS = new Set([
  "content",
  "description",
  "labels",
  "context",
  "state_detail",
  "progress",
  "checkpoint",
  "handoff_note",
  "failure_reason",
  "result",
  "cancel_reason",
]);
const COLUMNS = new Set([
  "project_id",
  "priority",
  "status",
  "queue",
  "wakes_at",
  "assigned_to",
  "attempts",
  "max_attempts",
  "version",
  "updated_at",
  "closed_at",
  "closed_by",
  "not_before",
  "due_date",
  "cancel_requested",
  "state",
  "lapsed",
  "lease_until",
]);
/** What the labels' index repeats of its task. */
const INDEXED = new Set(["project_id", "queue", "assigned_to", "priority"]);

/** The column's text for a task without labels. */
export const NO_LABELS = "[]";

/** A task as core reads it: its row, its texts, and the end of the session that holds it. */
export const SELECT_TASK = `SELECT t.*, x.content, x.description, x.labels, x.context, x.state_detail, x.progress,
  x.checkpoint, x.handoff_note, x.failure_reason, x.result, x.cancel_reason, s.expires_at AS session_expires_at
  FROM tasks t JOIN task_texts x ON x.seq = t.seq LEFT JOIN sessions s ON s.id = t.holder_session`;

/**
 * Writes a task's columns, texts and label index; `guard` (with its params) further restricts the row.
 * False when no row matched, and then nothing was written.
 */
export function writeTask(db: Db, task: TaskRow, change: object, guard = "", guardParams: SqlValue[] = []): boolean {
  db.kept.drop(task.id);
  const row = assignments(change, COLUMNS);
  if (row.set) {
    const changed = db.run(
      `UPDATE tasks SET ${row.set} WHERE seq = ? ${guard}`,
      ...row.values,
      task.seq,
      ...guardParams,
    );
    if (changed !== 1) return false;
  }
  const texts = assignments(change, TEXTS);
  if (texts.set) db.run(`UPDATE task_texts SET ${texts.set} WHERE seq = ?`, ...texts.values, task.seq);
  if (task.labels === NO_LABELS) return true;
  const indexed = assignments(change, INDEXED);
  if (indexed.set) db.run(`UPDATE task_labels SET ${indexed.set} WHERE seq = ?`, ...indexed.values, task.seq);
  return true;
}

export function taskVerbs(db: Db): TaskVerbs {
  const insertLabels = (
    seq: number,
    row: Pick<TaskRow, "workspace_id" | "project_id" | "queue" | "assigned_to" | "priority">,
    labels: readonly string[],
  ) => {
    for (const label of new Set(labels)) {
      const { workspace_id, project_id, queue, assigned_to, priority } = row;
      db.run(INSERT_LABEL, seq, label, workspace_id, project_id, queue, assigned_to, priority);
    }
  };
  return {
    insert(row, labels) {
      const seq = db.insert(
        INSERT,
        ...valuesOf({ ...row, status: "open", updated_at: row.created_at }, INSERT_COLUMNS),
      );
      db.run(INSERT_TEXTS, seq, row.content, row.description, row.labels, row.context);
      insertLabels(seq, row, labels);
      return seq;
    },
    byId(workspaceId, id) {
      const kept = db.kept.get(id);
      if (kept) return kept.workspace_id === workspaceId ? kept : undefined;
      return db.get<TaskRow>(`${SELECT_TASK} WHERE t.id = ? AND t.workspace_id = ?`, id, workspaceId);
    },
    keep(row) {
      db.kept.set(row);
    },
    bySeq: (seq) => db.get<TaskRow>(`${SELECT_TASK} WHERE t.seq = ?`, seq),
    list: (workspaceId, filter, page, nowMs) => listTasks(db, workspaceId, filter, page, nowMs),
    update(row, change) {
      writeTask(db, row, change);
    },
    setLabels(row, labels) {
      db.kept.drop(row.id);
      db.run("DELETE FROM task_labels WHERE seq = ?", row.seq);
      insertLabels(row.seq, row, labels);
    },
    remove(row) {
      db.kept.drop(row.id);
      db.run("DELETE FROM tasks WHERE seq = ?", row.seq);
    },
    ...queueVerbs(db),
    due: (nowMs, limit) =>
      db.all<TaskRow>(
        `${SELECT_TASK} WHERE t.wakes_at IS NOT NULL AND t.wakes_at <= ? ORDER BY t.wakes_at LIMIT ${limit}`,
        nowMs,
      ),
    heldBySession: (agentId, sessionId) =>
      db.all<TaskRow>(
        `${SELECT_TASK} WHERE t.status = 'claimed' AND t.holder_agent = ? AND t.holder_session = ? ORDER BY t.seq`,
        agentId,
        sessionId,
      ),
    heldByAgent: (agentId) =>
      db.all<TaskRow>(`${SELECT_TASK} WHERE t.status = 'claimed' AND t.holder_agent = ? ORDER BY t.seq`, agentId),
    // Left to itself SQLite walks every task the workspace ever had.
    nextWake: (workspaceId, nowMs) =>
      db.get<{ at: number | null }>(
        `SELECT min(at) AS at FROM (
           SELECT min(wakes_at) AS at FROM tasks INDEXED BY tasks_wake WHERE wakes_at > ? AND workspace_id = ?
           UNION ALL SELECT min(expires_at) FROM sessions WHERE state = 'open' AND expires_at > ?)`,
        nowMs,
        workspaceId,
        nowMs,
      )?.at ?? null,
  };
}
