import type { TaskRow } from "../../core/port/rows.js";
import type { Awaitable, LeaseChange, TaskVerbs } from "../../core/port/verbs.js";
import type { SqlValue } from "../driver.js";
import { after, type Db, done, type Guard } from "./db.js";
import { queueVerbs } from "./queue.js";
import { inQueue, readTasks, SELECT_TASK } from "./read-tasks.js";
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
  "blockers",
  "open_blockers",
  "has_dependents",
  "plan",
  "parent_id",
  "accountable",
  "scoped",
  "recurrence_id",
  "tick_at",
  "requires_verdict",
] as const;
const TEXTS_COLUMNS = ["seq", "content", "description", "labels", "context", "scopes"] as const;
const LABEL_COLUMNS = ["seq", "label", "workspace_id", "project_id", "queue", "assigned_to", "priority"] as const;

const TEXTS = new Set([
  "scopes",
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
  "evidence",
  "verdict",
  "cancel_reason",
]);
const COLUMNS = new Set([
  "scoped",
  "parked_by",
  "passed_since",
  "accountable",
  "delegated",
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
  "blockers",
  "open_blockers",
  "state",
  "lapsed",
  "hops",
  "lease_until",
  "lease_id",
  "fence",
  "holder_agent",
  "holder_session",
  "claimed_at",
  "lease_seconds",
  "requires_verdict",
  "context_version",
]);
/** What the labels' index repeats of its task. */
const INDEXED = new Set(["project_id", "queue", "assigned_to", "priority"]);

/** The column's text for a task without labels. */
const NO_LABELS = "[]";

/**
 * Writes a task's columns where they stand, in its row, its texts and the label index; `guard` further restricts the row. False when no row matched, and then
 * nothing was written.
 */
export function writeTask(db: Db, task: TaskRow, change: LeaseChange, guard?: Guard): Awaitable<boolean> {
  db.kept.drop(task.id);
  const row = partOf(change, COLUMNS);
  if (!row) return writeBeside(db, task, change);
  return after(db.change("tasks", task.seq, row, guard), (written) => written && writeBeside(db, task, change));
}

function writeBeside(db: Db, task: TaskRow, change: LeaseChange): Awaitable<boolean> {
  const texts = partOf(change, TEXTS);
  const indexed = task.labels === NO_LABELS ? undefined : partOf(change, INDEXED);
  const written = texts ? db.change("task_texts", task.seq, texts) : true;
  return indexed ? after(written, () => db.change("task_labels", task.seq, indexed)) : written;
}

/** The columns of a change that stand in one table; undefined when there are none. */
function partOf(change: LeaseChange, columns: ReadonlySet<string>): Record<string, SqlValue> | undefined {
  let part: Record<string, SqlValue> | undefined;
  for (const column in change) {
    if (!columns.has(column)) continue;
    part ??= {};
    part[column] = change[column as keyof LeaseChange] ?? null;
  }
  return part;
}

export function taskVerbs(db: Db): TaskVerbs {
  const one = (wanted: Awaitable<TaskRow[]>) => after(wanted, (rows) => rows[0]);
  const insertLabels = async (
    seq: number,
    row: Pick<TaskRow, "workspace_id" | "project_id" | "queue" | "assigned_to" | "priority">,
    labels: readonly string[],
  ) => {
    const { workspace_id, project_id, queue, assigned_to, priority } = row;
    for (const label of new Set(labels)) {
      const entry = { seq, label, workspace_id, project_id, queue, assigned_to, priority };
      await db.append("task_labels", LABEL_COLUMNS, entry);
    }
  };
  return {
    async insert(row, labels) {
      const { requires_verdict = 0, created_at: updated_at } = row;
      const seq = await db.insert("tasks", INSERT_COLUMNS, { ...row, status: "open", updated_at, requires_verdict });
      await db.append("task_texts", TEXTS_COLUMNS, { ...row, seq });
      if (labels.length > 0) await insertLabels(seq, row, labels);
      return seq;
    },
    byId(workspaceId, id) {
      const kept = db.kept.get(id);
      if (kept) return kept.workspace_id === workspaceId ? kept : undefined;
      const from = "FROM tasks q WHERE q.id = ? AND q.workspace_id = ?";
      return one(readTasks(db, { from, params: [id, workspaceId] }));
    },
    keep(row) {
      db.kept.set(row);
    },
    bySeq: (seq) => one(readTasks(db, { from: "FROM tasks q WHERE q.seq = ?", params: [seq] })),
    list: (workspaceId, filter, page, nowMs) => listTasks(db, workspaceId, filter, page, nowMs),
    update: (row, change) => done(writeTask(db, row, change)),
    setLabels(row, labels) {
      db.kept.drop(row.id);
      return after(db.run("DELETE FROM task_labels WHERE seq = ?", row.seq), () => insertLabels(row.seq, row, labels));
    },
    remove(row) {
      // Its parts lose their parent, whichever those are.
      db.kept.clear();
      return done(db.run("DELETE FROM tasks WHERE seq = ?", row.seq));
    },
    ...queueVerbs(db),
    ...timeAndHolderVerbs(db),
  };
}

type TimeAndHolder = "assignedTo" | "due" | "expiring" | "heldBySession" | "heldByAgent" | "heldByAnybody" | "nextWake";

/** What the clock frees, and what is somebody's. */
function timeAndHolderVerbs(db: Db): Pick<TaskVerbs, TimeAndHolder> {
  return {
    due: (nowMs, limit) =>
      readTasks(db, {
        from: "FROM tasks q WHERE q.wakes_at IS NOT NULL AND q.wakes_at <= ?",
        params: [nowMs],
        order: ["wakes_at", "seq"],
        limit,
        skipLocked: true,
      }),
    expiring: (sessionIds, nowMs) =>
      db.all<TaskRow>(
        `${SELECT_TASK} WHERE t.status = 'claimed' AND t.lease_until > ? AND s.id IN (${db.dialect.textsOf})
         AND t.holder_agent = s.agent_id
         AND ((t.lease_until - ?) * 3 < t.lease_seconds * 1000 OR (s.expires_at - ?) * 3 < t.lease_seconds * 1000)
         ORDER BY t.seq`,
        nowMs,
        JSON.stringify(sessionIds),
        nowMs,
        nowMs,
      ),
    assignedTo: (workspaceId, agentId, afterSeq, limit) =>
      readTasks(db, {
        // By age each part goes on where the last one ended; in hand-out order all that isn't closed is walked each time.
        from: `FROM tasks q ${db.dialect.indexedBy("tasks_age")}
          WHERE q.workspace_id = ? AND q.seq > ? AND q.assigned_to = ? AND ${inQueue("q")}`,
        params: [workspaceId, afterSeq, agentId],
        limit,
      }),
    heldBySession: (agentId, sessionId) =>
      readTasks(db, {
        from: "FROM tasks q WHERE q.status = 'claimed' AND q.holder_agent = ? AND q.holder_session = ?",
        params: [agentId, sessionId],
      }),
    heldByAgent: (agentId) =>
      readTasks(db, { from: "FROM tasks q WHERE q.status = 'claimed' AND q.holder_agent = ?", params: [agentId] }),
    heldByAnybody: (limit) => readTasks(db, { from: "FROM tasks q WHERE q.status = 'claimed'", params: [], limit }),
    // Left to itself SQLite walks every task the workspace ever had.
    nextWake: (workspaceId, nowMs) =>
      after(
        db.get<{ at: number | null }>(
          `SELECT min(at) AS at FROM (
             SELECT min(wakes_at) AS at FROM tasks ${db.dialect.indexedBy("tasks_wake")}
             WHERE wakes_at > ? AND workspace_id = ?
             UNION ALL SELECT min(expires_at) FROM sessions WHERE state = 'open' AND expires_at > ?
             UNION ALL SELECT min(next_at) FROM recurrences WHERE next_at > ?
             UNION ALL SELECT min(lease_until) FROM scope_claims WHERE ended_at IS NULL AND lease_until > ?
             UNION ALL SELECT min(offered_until) FROM waits WHERE ended_at IS NULL AND offered_until > ?
             UNION ALL SELECT min(expires_at) FROM holds WHERE ended_at IS NULL AND expires_at > ?) AS wakes`,
          nowMs,
          workspaceId,
          nowMs,
          nowMs,
          nowMs,
          nowMs,
          nowMs,
        ),
        (row) => row?.at ?? null,
      ),
  };
}
