import type { TaskRow } from "../../core/port/rows.js";
import type { Awaitable } from "../../core/port/verbs.js";
import type { SqlValue } from "../driver.js";
import type { Db } from "./db.js";

/** A task as core reads it: its row, its texts, and the end of the session that holds it. */
export const SELECT_TASK = `SELECT t.*, x.content, x.description, x.labels, x.context, x.scopes, x.state_detail, x.progress,
  x.checkpoint, x.handoff_note, x.failure_reason, x.result, x.evidence, x.verdict, x.cancel_reason, s.expires_at AS session_expires_at
  FROM tasks t JOIN task_texts x ON x.seq = t.seq LEFT JOIN sessions s ON s.id = t.holder_session`;

/** What is not closed, in the words of the indexes that hold it: SQLite's says it by the queue, Postgres's by the closing. */
export const inQueue = (task: string) => `${task}.queue IS NOT NULL AND ${task}.closed_at IS NULL`;

/** Which tasks are meant: a part of the statement that finds their sequence numbers. */
export interface Wanted {
  /** From FROM on, without order and limit; sequence numbers and order come from `q`. */
  readonly from: string;
  readonly params: readonly SqlValue[];
  /** Columns of `q` and of the task, with `DESC` where they fall. */
  readonly order?: readonly string[];
  readonly limit?: number;
  /** What stands for the task itself in `from`, where that isn't `q`. */
  readonly task?: string;
  /** Leaves out what another transaction has locked, where it would be waited for. */
  readonly skipLocked?: boolean;
}

/**
 * Reads tasks in the order of `order`. Where other nodes write too, in a transaction that may change them, their rows
 * are locked first and read by a statement of its own: a row that was waited for is otherwise joined to texts and
 * sessions as they were before the wait.
 */
export function readTasks(db: Db, wanted: Wanted): Awaitable<TaskRow[]> {
  const { from, params, order = ["seq"], limit, task = "q", skipLocked = false } = wanted;
  const by = (alias: string) => order.map((column) => `${alias}.${column}`).join(", ");
  const seqs = `SELECT q.seq ${from} ORDER BY ${by("q")} ${limit === undefined ? "" : `LIMIT ${limit}`}`;
  if (!db.locks) return db.all<TaskRow>(`${SELECT_TASK} WHERE t.seq IN (${seqs}) ORDER BY ${by("t")}`, ...params);
  return lockThenRead(db, `${seqs} FOR UPDATE OF ${task} ${skipLocked ? "SKIP LOCKED" : ""}`, params, by("t"));
}

/**
 * Both statements go at once, without waiting for an answer in between: the first leaves the numbers of what it locked
 * where the second, which sees what was committed until then, finds them.
 */
async function lockThenRead(db: Db, locking: string, params: readonly SqlValue[], order: string): Promise<TaskRow[]> {
  const leave = `SELECT set_config('dibs.locked', coalesce(json_agg(seq), '[]')::text, true) FROM (${locking}) AS locked`;
  const left = "SELECT json_array_elements_text(current_setting('dibs.locked')::json)::bigint";
  const [, rows] = await Promise.all([
    db.all(leave, ...params),
    db.all<TaskRow>(`${SELECT_TASK} WHERE t.seq IN (${left}) ORDER BY ${order}`),
  ]);
  return rows;
}
