import { QUEUE, type TaskRow } from "../../core/port/rows.js";
import type { DeclaringRow, PassedOver, ScopeVerbs } from "../../core/port/scope-rows.js";
import type { QueueFilter } from "../../core/port/verbs.js";
import type { SqlValue } from "../driver.js";
import { BESIDE } from "./capacities.js";
import type { Db } from "./db.js";
import { nearOne } from "./near.js";

const DECLARED = ["task_seq", "place", "namespace", "scope", "kind", "key", "index_key", "mode"] as const;
/** Where what tasks declare is found by a name. */
export const DECLARED_NAMES = { table: "task_scopes", columns: ["*"] } as const;

/** A task that goes to sleep, or wakes. */
export interface Sleeper {
  readonly seq: number;
  readonly id: string;
}

/** Moves tasks in the queue, and their labels with them; `set` is what else becomes of them. */
export async function moveInQueue(db: Db, rows: readonly Sleeper[], set: string, queue: number): Promise<void> {
  if (rows.length === 0) return;
  const { numbersOf } = db.dialect;
  const seqs = JSON.stringify(rows.map(({ seq }) => seq));
  await db.run(`UPDATE tasks SET queue = ${queue}, ${set} WHERE seq IN (${numbersOf})`, seqs);
  await db.run(`UPDATE task_labels SET queue = ${queue} WHERE seq IN (${numbersOf})`, seqs);
  for (const { id } of rows) db.kept.drop(id);
}

type Parking = "declare" | "declaredNear" | "park" | "unpark" | "unparkBehind" | "passedOver";

/** Tasks that declare scopes, and sleep while these aren't free. */
export function parking(db: Db): Pick<ScopeVerbs, Parking> {
  const { numbersOf } = db.dialect;
  const wake = async (claims: string, ...values: SqlValue[]) => {
    const rows = await db.all<Sleeper>(
      `SELECT t.seq, t.id FROM tasks t WHERE t.parked_by IN (${claims}) AND t.status = 'open'
       AND t.queue = ${QUEUE.sleeping} ORDER BY t.seq ${db.locks ? "FOR UPDATE OF t" : ""}`,
      ...values,
    );
    await moveInQueue(db, rows, "wakes_at = NULL, parked_by = NULL", QUEUE.ready);
    return rows.length;
  };
  // What another node's transaction has in hand is left to it.
  const locked = db.locks ? "FOR UPDATE OF t SKIP LOCKED" : "";
  return {
    async declare(taskSeq, rows) {
      await db.run("DELETE FROM task_scopes WHERE task_seq = ?", taskSeq);
      for (const row of rows) await db.append("task_scopes", DECLARED, row);
    },
    declaredNear(namespace, near) {
      const { sql, params } = nearOne(db.dialect, DECLARED_NAMES, namespace, near);
      return db.all<DeclaringRow>(
        `SELECT q.*, t.priority, t.passed_since FROM (${sql}) AS q JOIN tasks t ON t.seq = q.task_seq AND t.queue = ${QUEUE.ready}
         ORDER BY q.task_seq`,
        ...params,
      );
    },
    async park(taskSeqs, holderSeq, { nowMs, untilMs, patienceMs }) {
      // Behind whoever ends it: a task that was put to sleep because of an ended claim would be woken by nobody.
      const from = holderSeq > 0 ? "scope_claims" : "waits";
      const holder = `SELECT c.seq FROM ${from} c WHERE c.seq = ? AND c.ended_at IS NULL ${db.locks ? "FOR SHARE" : ""}`;
      if ((await db.get(holder, Math.abs(holderSeq))) === undefined) return false;
      const rows = await db.all<Sleeper>(
        `SELECT t.seq, t.id FROM tasks t WHERE t.seq IN (${numbersOf}) AND t.status = 'open' AND t.queue = ${QUEUE.ready}
         ORDER BY t.seq ${locked}`,
        JSON.stringify(taskSeqs),
      );
      const since = `coalesce(passed_since, ${nowMs})`;
      const patient = `CASE WHEN ${since} > ${nowMs - patienceMs} THEN ${since} ELSE ${nowMs} END + ${patienceMs}`;
      const wakesAt = `CASE WHEN ${patient} < ${untilMs} THEN ${patient} ELSE ${untilMs} END`;
      const sleeps = `wakes_at = ${wakesAt}, parked_by = ${holderSeq}, passed_since = ${since}`;
      await moveInQueue(db, rows, sleeps, QUEUE.sleeping);
      return true;
    },
    unpark(claimSeqs) {
      const seqs = JSON.stringify(claimSeqs);
      return wake(`${numbersOf} UNION ${BESIDE(`c.seq IN (${numbersOf})`)}`, seqs, seqs);
    },
    unparkBehind: (taskId) =>
      wake(`SELECT c.seq FROM scope_claims c WHERE c.task_id = ? UNION ${BESIDE("c.task_id = ?")}`, taskId, taskId),
    ...passedOver(db),
  };
}

/** Tasks of the filter that sleep behind somebody's claim or a hold, in front of `before` in hand-out order. */
export function asleepFor(
  { workspaceId, projectId, agentId, labels, plan }: QueueFilter,
  before: TaskRow | undefined,
): { readonly where: string; readonly params: readonly SqlValue[] } {
  const where = [
    "t.workspace_id = ? AND t.parked_by IS NOT NULL",
    `t.queue = ${QUEUE.sleeping} AND t.status = 'open' AND t.assigned_to IN ('', ?)`,
  ];
  const params: SqlValue[] = [workspaceId, agentId];
  const narrow = (condition: string, ...values: SqlValue[]) => {
    where.push(condition);
    params.push(...values);
  };
  if (projectId !== null) narrow("t.project_id = ?", projectId);
  if (plan !== null) narrow("t.plan = ?", plan);
  for (const label of new Set(labels))
    narrow("EXISTS (SELECT 1 FROM task_labels l WHERE l.seq = t.seq AND l.label = ?)", label);
  if (before)
    narrow("(t.priority > ? OR (t.priority = ? AND t.seq < ?))", before.priority, before.priority, before.seq);
  return { where: where.join(" AND "), params };
}

/** What claims skip, for whoever asks what they skipped. */
function passedOver(db: Db): Pick<ScopeVerbs, "passedOver"> {
  return {
    async passedOver(filter, before, { shown, counted }) {
      const { where, params } = asleepFor(filter, before);
      const from = `FROM tasks t WHERE ${where}`;
      const first = `SELECT t.seq ${from} ORDER BY t.priority DESC, t.seq LIMIT ${shown}`;
      const [rows, all] = await Promise.all([
        db.all<PassedOver>(
          `SELECT t.id, x.content, t.parked_by FROM tasks t JOIN task_texts x ON x.seq = t.seq
           WHERE t.seq IN (${first}) ORDER BY t.priority DESC, t.seq`,
          ...params,
        ),
        db.get<{ n: number }>(`SELECT count(*) AS n FROM (SELECT 1 ${from} LIMIT ${counted}) AS passed`, ...params),
      ]);
      return { rows, count: all?.n ?? 0 };
    },
  };
}
