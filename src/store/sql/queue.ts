import { QUEUE } from "../../core/port/rows.js";
import type { Awaitable, QueueFilter, TaskVerbs } from "../../core/port/verbs.js";
import type { SqlValue } from "../driver.js";
import { after, type Db } from "./db.js";
import { inQueue, readTasks } from "./read-tasks.js";

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
/** The queue's entries for one assignment, in hand-out order: tasks, or the label index of one label. */
interface Scan {
  readonly table: "tasks" | "task_labels";
  /** Conditions on `q`. */
  readonly where: string;
  readonly params: readonly SqlValue[];
  /** Conditions on the task `t`, for entries that have passed. */
  readonly also: string;
  readonly alsoParams: readonly SqlValue[];
}

const HAND_OUT = ["priority DESC", "seq"];

/** Finding the next task is one index step: the queue's index stands in hand-out order, by assignment. */
export function queueVerbs(db: Db): Pick<TaskVerbs, "ready" | "readyElsewhere" | "assignees" | "nextLapsed"> {
  const readyIn = (filter: QueueFilter, assignedTo: string) =>
    after(scanOf(db, filter, assignedTo), ({ table, where, params }) => {
      // Other nodes may have changed the task since its label entry was read: what is locked decides.
      const apart = db.locks && table === "task_labels";
      const task = apart ? `JOIN tasks t ON t.seq = q.seq AND t.queue = ${QUEUE.ready}` : "";
      const from = `FROM ${table} q ${task} WHERE ${where} AND q.queue = ${QUEUE.ready}`;
      return { from, params, task: apart ? "t" : "q" };
    });
  return {
    ready: (filter, assignedTo, limit, wait) =>
      after(readyIn(filter, assignedTo), (from) =>
        readTasks(db, { ...from, order: HAND_OUT, limit, skipLocked: !wait }),
      ),
    assignees: (workspaceId, agentIds) =>
      after(
        db.all<{ id: string }>(
          // With EXISTS Postgres reads the whole queue once instead of one entry for each agent.
          `SELECT a.text AS id FROM (${db.dialect.textsOf}) AS a WHERE (SELECT q.seq FROM tasks q
             WHERE q.workspace_id = ? AND q.assigned_to = a.text AND q.queue = ${QUEUE.ready} LIMIT 1) IS NOT NULL`,
          JSON.stringify(agentIds),
          workspaceId,
        ),
        (rows) => rows.map((row) => row.id),
      ),
    async readyElsewhere(filter) {
      if (!db.locks) return false;
      for (const assignedTo of ["", filter.agentId]) {
        const { from, params } = await readyIn(filter, assignedTo);
        if (await db.get(`SELECT q.seq ${from} LIMIT 1`, ...params)) return true;
      }
      return false;
    },
    async nextLapsed(filter, nowMs, before) {
      const found: Found[] = [];
      for (const scan of await sleepingScans(db, filter)) found.push(await lapsedIn(db, scan, nowMs, before));
      // Where one scan has not seen all, a better one may lie there.
      if (found.includes("unknown")) return "unknown";
      return found.filter((each) => typeof each === "object").sort(handOutOrder)[0] ?? "none";
    },
  };
}

/** What sleeps has no index of its own, which every claim would pay for: without labels it is all that isn't closed. */
async function sleepingScans(db: Db, filter: QueueFilter): Promise<Scan[]> {
  const { workspaceId, projectId, agentId, labels, plan } = filter;
  if (labels.length > 0 || plan !== null) {
    const scans = [];
    for (const assignedTo of ["", agentId]) {
      const scan = await scanOf(db, filter, assignedTo);
      scans.push({ ...scan, where: `${scan.where} AND q.queue = ${QUEUE.sleeping}` });
    }
    return scans;
  }
  const project = projectId === null ? "" : "AND t.project_id = ?";
  return [
    {
      table: "tasks",
      where: `q.workspace_id = ? AND ${inQueue("q")}`,
      params: [workspaceId],
      also: `AND t.assigned_to IN ('', ?) ${project}`,
      alsoParams: projectId === null ? [agentId] : [agentId, projectId],
    },
  ];
}

type Found = Candidate | "none" | "unknown";

/** The scan is bounded, and ends where the best ready task stands: "none of the first 2,000" is told from "none". */
async function lapsedIn(db: Db, scan: Scan, nowMs: number, before: Candidate | undefined): Promise<Found> {
  const entries = `SELECT q.seq, q.priority FROM ${scan.table} q WHERE ${scan.where}`;
  // Two ranges of the index: as one condition, all that has the same priority but comes after it would be walked too.
  const ahead = before
    ? `${entries} AND q.priority > ? UNION ALL ${entries} AND q.priority = ? AND q.seq < ?`
    : entries;
  const params = before ? [...scan.params, before.priority, ...scan.params, before.priority, before.seq] : scan.params;
  for (const limit of SLEEPING_SCANS) {
    const found = await db.get<Candidate>(
      `WITH first AS MATERIALIZED (${ahead} ORDER BY priority DESC, seq LIMIT ${limit})
       SELECT f.seq, f.priority FROM first f JOIN tasks t ON t.seq = f.seq
       WHERE t.queue = ${QUEUE.sleeping} AND t.wakes_at <= ?
         AND (t.status = 'open' OR (t.attempts < t.max_attempts AND t.cancel_requested = 0))
         AND t.open_blockers = 0 AND (t.not_before IS NULL OR t.not_before <= ?) ${scan.also}
       ORDER BY f.priority DESC, f.seq LIMIT 1`,
      ...params,
      nowMs,
      nowMs,
      ...scan.alsoParams,
    );
    if (found) return found;
  }
  const beyond = `${ahead} LIMIT 1 OFFSET ${SLEEPING_SCAN_MAX}`;
  return (await db.get(beyond, ...params)) === undefined ? "none" : "unknown";
}

function handOutOrder(a: Candidate, b: Candidate): number {
  return b.priority - a.priority || a.seq - b.seq;
}

const HAS_LABEL = "AND EXISTS (SELECT 1 FROM task_labels o WHERE o.seq = q.seq AND o.label = ?)";

/** The index to walk: by plan or project where one is given, by the rarest of the labels where there are any. */
function scanOf(db: Db, filter: QueueFilter, assignedTo: string): Awaitable<Scan> {
  const { projectId, workspaceId, plan } = filter;
  const labels = [...new Set(filter.labels)];
  const [key, value] = projectId === null ? ["workspace_id", workspaceId] : ["project_id", projectId];
  const all = { also: "", alsoParams: [] };
  const [label] = labels;
  // A plan's tasks have an index of their own, and are few beside a label's.
  if (plan !== null) {
    const has = labels.map(() => HAS_LABEL).join(" ");
    const where = `q.project_id = ? AND q.plan = ? AND q.assigned_to = ? ${has}`;
    return { table: "tasks", where, params: [value, plan, assignedTo, ...labels], ...all };
  }
  if (label === undefined) {
    return { table: "tasks", where: `q.${key} = ? AND q.assigned_to = ?`, params: [value, assignedTo], ...all };
  }
  const sorted = labels.length === 1 ? labels : rarestFirst(db, key, value, assignedTo, labels);
  return after(sorted, ([rarest = "", ...others]) => {
    const has = others.map(() => HAS_LABEL).join(" ");
    const where = `q.${key} = ? AND q.label = ? AND q.assigned_to = ? ${has}`;
    return { table: "task_labels", where, params: [value, rarest, assignedTo, ...others], ...all };
  });
}

async function rarestFirst(
  db: Db,
  key: string,
  value: string,
  assignedTo: string,
  labels: readonly string[],
): Promise<string[]> {
  const counted: { label: string; n: number }[] = [];
  for (const label of labels) {
    const row = await db.get<{ n: number }>(
      `SELECT count(*) AS n FROM (SELECT 1 FROM task_labels WHERE ${key} = ? AND label = ? AND queue = ${QUEUE.ready}
       AND assigned_to = ? LIMIT ${LABEL_COUNT_MAX}) AS entries`,
      value,
      label,
      assignedTo,
    );
    counted.push({ label, n: row?.n ?? 0 });
  }
  return counted.sort((a, b) => a.n - b.n).map((each) => each.label);
}
