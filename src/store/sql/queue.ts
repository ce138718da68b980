import { QUEUE, type TaskRow } from "../../core/rows.js";
import type { QueueFilter, TaskVerbs } from "../../core/store.js";
import type { SqlValue } from "../driver.js";
import type { Db } from "./db.js";
import { SELECT_TASK } from "./tasks.js";

/**
 * Sleeping tasks looked at, in hand-out order, before the answer is `unknown`: a few first, as where many leases lapsed
 * one of them stands near the head (looking at 2,000 takes 5 ms), then more.
 */
const SLEEPING_SCANS = [32, 2_000] as const;
const SLEEPING_SCAN_MAX = SLEEPING_SCANS[1];
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

/** Finding the next task is one index step: the queue's index stands in hand-out order, by assignment. */
export function queueVerbs(db: Db): Pick<TaskVerbs, "ready" | "nextLapsed"> {
  return {
    ready(filter, assignedTo, limit) {
      const { from, params } = scanOf(db, filter, assignedTo);
      const first = `SELECT q.seq ${from} AND q.queue = ${QUEUE.ready} ORDER BY q.priority DESC, q.seq LIMIT ${limit}`;
      return db.all<TaskRow>(`${SELECT_TASK} WHERE t.seq IN (${first}) ORDER BY t.priority DESC, t.seq`, ...params);
    },
    nextLapsed(filter, nowMs, before) {
      const scans =
        filter.labels.length === 0
          ? [handOutScan(filter)]
          : ["", filter.agentId].map((assignedTo) => sleepingScan(db, filter, assignedTo));
      const found = scans.map((scan) => lapsedIn(db, scan, nowMs, before));
      // Where one scan has not seen all, a better one may lie there.
      if (found.includes("unknown")) return "unknown";
      return found.filter((each) => typeof each === "object").sort(handOutOrder)[0] ?? "none";
    },
  };
}

/** Everything not closed, in hand-out order: what sleeps has no index of its own, which every claim would pay for. */
function handOutScan({
  workspaceId,
  projectId,
  agentId,
}: QueueFilter): Scan & { also: string; alsoParams: SqlValue[] } {
  const project = projectId === null ? "" : "AND t.project_id = ?";
  return {
    from: "FROM tasks q WHERE q.workspace_id = ? AND q.queue IS NOT NULL",
    params: [workspaceId],
    also: `AND t.assigned_to IN ('', ?) ${project}`,
    alsoParams: projectId === null ? [agentId] : [agentId, projectId],
  };
}

function sleepingScan(db: Db, filter: QueueFilter, assignedTo: string) {
  const { from, params } = scanOf(db, filter, assignedTo);
  return { from: `${from} AND q.queue = ${QUEUE.sleeping}`, params, also: "", alsoParams: [] };
}

/** The scan is bounded, and ends where the best ready task stands: "none of the first 2,000" is told from "none". */
function lapsedIn(
  db: Db,
  scan: Scan & { also: string; alsoParams: SqlValue[] },
  nowMs: number,
  before: Candidate | undefined,
): Candidate | "none" | "unknown" {
  const entries = `SELECT q.seq, q.priority ${scan.from}`;
  // Two ranges of the index: as one condition, all that has the same priority but comes after it would be walked too.
  const ahead = before
    ? `${entries} AND q.priority > ? UNION ALL ${entries} AND q.priority = ? AND q.seq < ?`
    : entries;
  const params = before ? [...scan.params, before.priority, ...scan.params, before.priority, before.seq] : scan.params;
  for (const limit of SLEEPING_SCANS) {
    const found = db.get<Candidate>(
      `WITH first AS MATERIALIZED (${ahead} ORDER BY priority DESC, seq LIMIT ${limit})
       SELECT f.seq, f.priority FROM first f JOIN tasks t ON t.seq = f.seq
       WHERE t.queue = ${QUEUE.sleeping} AND t.wakes_at <= ?
         AND (t.status = 'open' OR (t.attempts < t.max_attempts AND t.cancel_requested = 0))
         AND (t.not_before IS NULL OR t.not_before <= ?) ${scan.also}
       ORDER BY f.priority DESC, f.seq LIMIT 1`,
      ...params,
      nowMs,
      nowMs,
      ...scan.alsoParams,
    );
    if (found) return found;
  }
  const beyond = `${ahead} LIMIT 1 OFFSET ${SLEEPING_SCAN_MAX}`;
  return db.get(beyond, ...params) === undefined ? "none" : "unknown";
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
