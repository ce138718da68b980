import { QUEUE } from "../../core/rows.js";
import type { QueueFilter, TaskVerbs } from "../../core/store.js";
import type { SqlValue } from "../driver.js";
import type { Db } from "./db.js";

/** Sleeping tasks looked at, in hand-out order, before the answer is `unknown`. */
const SLEEPING_SCAN_MAX = 2_000;
/** Entries counted to tell a rare label from a common one. */
const LABEL_COUNT_MAX = 200;

interface Candidate {
  seq: number;
  priority: number;
}
interface Scan {
  /** `FROM … WHERE …` up to the queue's order, for one assignment. */
  from: string;
  params: SqlValue[];
}

/** Finding the next task is one index step for each of "assigned to nobody" and "assigned to the caller". */
export function queueVerbs(db: Db): Pick<TaskVerbs, "nextReady" | "nextLapsed"> {
  const best = (filter: QueueFilter, select: (scan: Scan) => { sql: string; params: SqlValue[] }) => {
    const halves = ["", filter.agentId].map((assignedTo) => select(scanOf(db, filter, assignedTo)));
    const sql = `SELECT * FROM (${halves[0]?.sql}) UNION ALL SELECT * FROM (${halves[1]?.sql})`;
    return db.all<Candidate & { scanned?: number }>(sql, ...halves.flatMap((half) => half.params));
  };
  return {
    nextReady(filter) {
      const found = best(filter, (scan) => ({
        sql: `SELECT q.seq, q.priority ${scan.from} AND q.queue = ${QUEUE.ready} ORDER BY q.priority DESC, q.seq LIMIT 1`,
        params: scan.params,
      }));
      return found.sort(handOutOrder)[0];
    },
    nextLapsed(filter, nowMs) {
      // The scan is bounded: each half also reports how many it looked at, so that "none among the first 2,000" is
      // told from "none".
      const found = best(filter, (scan) => ({
        sql: `WITH first AS MATERIALIZED (SELECT q.seq, q.priority ${scan.from} AND q.queue = ${QUEUE.sleeping}
                ORDER BY q.priority DESC, q.seq LIMIT ${SLEEPING_SCAN_MAX})
              SELECT f.seq, f.priority, (SELECT count(*) FROM first) AS scanned FROM first f JOIN tasks t ON t.seq = f.seq
              WHERE t.wakes_at <= ? AND (t.status = 'open' OR (t.attempts < t.max_attempts AND t.cancel_requested = 0))
                AND (t.not_before IS NULL OR t.not_before <= ?)
              ORDER BY f.priority DESC, f.seq LIMIT 1`,
        params: [...scan.params, nowMs, nowMs],
      }));
      if (found.length > 0) return found.sort(handOutOrder)[0] as Candidate;
      const full = best(filter, (scan) => ({
        sql: `SELECT q.seq, q.priority ${scan.from} AND q.queue = ${QUEUE.sleeping} LIMIT 1 OFFSET ${SLEEPING_SCAN_MAX}`,
        params: scan.params,
      }));
      return full.length > 0 ? "unknown" : "none";
    },
  };
}

function handOutOrder(a: Candidate, b: Candidate): number {
  return b.priority - a.priority || a.seq - b.seq;
}

/** The index to walk: by project where one is given, by the rarest of the labels where there are any. */
function scanOf(db: Db, filter: QueueFilter, assignedTo: string): Scan {
  const { projectId, workspaceId } = filter;
  const [key, value] = projectId === null ? ["workspace_id", workspaceId] : ["project_id", projectId];
  if (filter.labels.length === 0) {
    return { from: `FROM tasks q WHERE q.${key} = ? AND q.assigned_to = ?`, params: [value, assignedTo] };
  }
  const [rarest, ...others] = rarestFirst(db, key, value, assignedTo, filter.labels);
  const also = others.map(() => "AND EXISTS (SELECT 1 FROM task_labels o WHERE o.seq = q.seq AND o.label = ?)");
  return {
    from: `FROM task_labels q WHERE q.${key} = ? AND q.label = ? AND q.assigned_to = ? ${also.join(" ")}`,
    params: [value, rarest as string, assignedTo, ...others],
  };
}

function rarestFirst(db: Db, key: string, value: string, assignedTo: string, labels: readonly string[]): string[] {
  const distinct = [...new Set(labels)];
  if (distinct.length === 1) return distinct;
  const counted = distinct.map((label) => ({
    label,
    n:
      db.get<{ n: number }>(
        `SELECT count(*) AS n FROM (SELECT 1 FROM task_labels WHERE ${key} = ? AND label = ? AND queue = ${QUEUE.ready}
         AND assigned_to = ? LIMIT ${LABEL_COUNT_MAX})`,
        value,
        label,
        assignedTo,
      )?.n ?? 0,
  }));
  return counted.sort((a, b) => a.n - b.n).map((each) => each.label);
}
