import type { DependencyVerbs } from "../../core/port/dependency-verbs.js";
import { type BlockerRow, type DependentRow, type LinkedRow, QUEUE, type TaskRow } from "../../core/port/rows.js";
import { after, type Db, done } from "./db.js";
import { broken } from "./liveness.js";
import { SELECT_TASK } from "./read-tasks.js";

const LINKED = `b.seq, b.id, b.workspace_id, b.project_id, b.status, b.not_before, b.blockers, b.open_blockers,
  b.has_dependents, b.delegated, b.holder_session, b.cancel_requested, b.attempts, b.max_attempts, b.lease_until, b.lapsed,
  s.expires_at AS session_expires_at`;
const DEPENDENT = `q.seq, q.id, q.workspace_id, q.project_id, q.status, q.queue, q.not_before, q.blockers,
  q.open_blockers, q.holder_session, q.passed_since`;
const HOLDER = "LEFT JOIN sessions s ON s.id = b.holder_session";

/** Kinds of advisory locks, by the workspace; 1 is the events'. */
const LOCKS = { graph: 2, readiness: 3 } as const;

/** The graph is read in sets, never node by node: a chain of 50,000 is one statement, as is a task of 10,000 blockers. */
export function dependencyVerbs(db: Db): DependencyVerbs {
  const { numbersOf, textsOf, pairsOf } = db.dialect;
  const json = (numbers: readonly number[]) => JSON.stringify(numbers);
  const FOR_UPDATE = db.locks ? "FOR UPDATE" : "";
  return {
    alone(workspaceId, work) {
      const { lock } = db.dialect;
      return lock && done(db.get(lock(LOCKS[work]), workspaceId));
    },
    async named(workspaceId, ids) {
      const where = `WHERE b.workspace_id = ? AND b.id IN (${textsOf})`;
      const params = [workspaceId, JSON.stringify(ids)];
      // Behind the locks by a statement of its own, as everywhere: sessions are joined as they are after any wait.
      if (db.locks) await db.all(`SELECT b.seq FROM tasks b ${where} ORDER BY b.seq FOR UPDATE`, ...params);
      return db.all<LinkedRow>(`SELECT ${LINKED} FROM tasks b ${HOLDER} ${where} ORDER BY b.seq`, ...params);
    },
    async add(edges, blockers) {
      if (edges.length === 0) return;
      await db.run(
        `INSERT INTO dependencies (task_seq, blocker_seq) SELECT a, b FROM (${pairsOf}) AS edges`,
        JSON.stringify(edges),
      );
      const first = blockers.filter((blocker) => blocker.has_dependents === 0);
      if (first.length === 0) return;
      await db.run(
        `UPDATE tasks SET has_dependents = 1 WHERE seq IN (${numbersOf})`,
        json(first.map((blocker) => blocker.seq)),
      );
      for (const blocker of first) db.kept.drop(blocker.id);
    },
    remove: (taskSeq, blockerSeqs) =>
      done(
        db.run(
          `DELETE FROM dependencies WHERE task_seq = ? AND blocker_seq IN (${numbersOf})`,
          taskSeq,
          json(blockerSeqs),
        ),
      ),
    removeDependents: (blockerSeq) => done(db.run("DELETE FROM dependencies WHERE blocker_seq = ?", blockerSeq)),
    dependentsOf: (blockerSeq, { lock }) =>
      db.all<DependentRow>(
        `SELECT ${DEPENDENT} FROM tasks q WHERE q.seq IN (SELECT task_seq FROM dependencies WHERE blocker_seq = ?)
         ORDER BY q.seq ${lock ? FOR_UPDATE : ""}`,
        blockerSeq,
      ),
    async move(rows, by, queue) {
      if (rows.length === 0) return;
      const seqs = json(rows.map((row) => row.seq));
      const wakes = queue === QUEUE.sleeping ? "not_before" : "NULL";
      const place = queue === undefined ? "" : `, queue = ${queue}, wakes_at = ${wakes}, parked_by = NULL`;
      await db.run(
        `UPDATE tasks SET open_blockers = open_blockers + ?, blockers = blockers + ? ${place} WHERE seq IN (${numbersOf})`,
        by.open_blockers,
        by.blockers,
        seqs,
      );
      if (queue !== undefined)
        await db.run(`UPDATE task_labels SET queue = ${queue} WHERE seq IN (${numbersOf})`, seqs);
      for (const row of rows) db.kept.drop(row.id);
    },
    ...readingVerbs(db),
  };
}

const EDGE = "d.blocker_seq = a.seq AND d.task_seq = ?";

type Reading = "present" | "blockersOf" | "reaches" | "edgesAbove" | "titles" | "list";

function readingVerbs(db: Db): Pick<DependencyVerbs, Reading> {
  const { numbersOf, perRow } = db.dialect;
  const edges = perRow("dependencies", "d", "d.task_seq = a.seq");
  // UNION, not UNION ALL: each task once, however many ways lead to it (24 diamonds in a row have 16 million).
  const above = `WITH RECURSIVE above (seq) AS (${numbersOf}
    UNION SELECT d.blocker_seq FROM above a ${edges})`;
  return {
    present: (taskSeq, blockerSeqs) =>
      after(
        db.all<{ seq: number }>(
          `WITH asked (seq) AS (${numbersOf}) SELECT a.seq FROM asked a ${perRow("dependencies", "d", EDGE)}`,
          JSON.stringify(blockerSeqs),
          taskSeq,
        ),
        (rows) => rows.map((row) => row.seq),
      ),
    blockersOf: (taskSeqs, nowMs, limit) =>
      taskSeqs.length === 0
        ? []
        : db.all<BlockerRow>(
            `SELECT * FROM (SELECT d.task_seq, ${LINKED}, row_number() OVER (PARTITION BY d.task_seq ORDER BY
               CASE WHEN ${broken("b", "s")} THEN 0 WHEN b.status <> 'completed' THEN 1 ELSE 2 END, b.seq) AS nth
               FROM dependencies d ${perRow("tasks", "b", "b.seq = d.blocker_seq")} ${HOLDER}
               WHERE d.task_seq IN (${numbersOf})) AS linked WHERE nth <= ${limit} ORDER BY task_seq, nth`,
            nowMs,
            nowMs,
            JSON.stringify(taskSeqs),
          ),
    reaches: (fromSeqs, toSeq) =>
      after(
        db.get(`${above} SELECT seq FROM above WHERE seq = ? LIMIT 1`, JSON.stringify(fromSeqs), toSeq),
        (row) => row !== undefined,
      ),
    edgesAbove: (fromSeqs) =>
      db.all(
        `${above} SELECT d.task_seq, d.blocker_seq FROM above a ${edges}
         ORDER BY d.task_seq, d.blocker_seq`,
        JSON.stringify(fromSeqs),
      ),
    titles: (seqs) =>
      db.all(
        `SELECT t.seq, t.id, x.content FROM tasks t JOIN task_texts x ON x.seq = t.seq WHERE t.seq IN (${numbersOf})
         ORDER BY t.seq`,
        JSON.stringify(seqs),
      ),
    list(taskSeq, which, page) {
      const [own, other] = which === "blockers" ? ["task_seq", "blocker_seq"] : ["blocker_seq", "task_seq"];
      return db.all<TaskRow>(
        `${SELECT_TASK} WHERE t.seq IN (SELECT d.${other} FROM dependencies d WHERE d.${own} = ? AND d.${other} > ?
           ORDER BY d.${other} LIMIT ?) ORDER BY t.seq`,
        taskSeq,
        page.after?.[0] ?? 0,
        page.limit,
      );
    },
  };
}
