import type { TaskRow } from "../../core/port/rows.js";
import type { Awaitable, Page, TaskFilter } from "../../core/port/verbs.js";
import type { SqlValue } from "../driver.js";
import type { Db, Dialect } from "./db.js";
import { alive, broken, dead } from "./liveness.js";
import { inQueue, SELECT_TASK } from "./read-tasks.js";

/**
 * The list with its filters. Liveness is judged here by the clock, as everywhere (R1): a dead lease reads as open, or
 * as failed when the attempts are used up, whether or not anybody noticed its end.
 */
export function listTasks(
  db: Db,
  workspaceId: string,
  filter: TaskFilter,
  page: Page,
  nowMs: number,
): Awaitable<TaskRow[]> {
  const query = new Conditions("t.workspace_id = ?", workspaceId);
  const time = (sql: string) => {
    const marks = sql.split("?").length - 1;
    query.add(sql, ...Array<number>(marks).fill(nowMs));
  };
  if (filter.projectId !== undefined) query.add("t.project_id = ?", filter.projectId);
  if (filter.assignedTo !== undefined) query.add("t.assigned_to = ?", filter.assignedTo);
  if (filter.label !== undefined) {
    query.add("t.seq IN (SELECT seq FROM task_labels WHERE workspace_id = ? AND label = ?)", workspaceId, filter.label);
  }
  if (filter.plan !== undefined) query.add("t.plan = ?", filter.plan);
  if (filter.verdict !== undefined) query.add(judged(filter.verdict, db.dialect));
  if (filter.search !== undefined) {
    const pattern = `%${filter.search.replace(/[\\%_]/g, "\\$&")}%`;
    const { like } = db.dialect;
    query.add(`(x.content ${like} ? ESCAPE '\\' OR x.description ${like} ? ESCAPE '\\')`, pattern, pattern);
  }
  if (filter.status !== undefined) statusCondition(filter.status, query, time);
  if (filter.claimed !== undefined) time(filter.claimed ? `t.queue = 2 AND ${HELD}` : AVAILABLE);
  if (filter.ready !== undefined) {
    const { projectIds = [], taskSeqs = [] } = filter.frozen ?? {};
    const { textsOf, numbersOf } = db.dialect;
    const frozen = filter.frozen ? `(t.project_id IN (${textsOf}) OR t.seq IN (${numbersOf}))` : undefined;
    const ready = frozen === undefined ? READY : `(${READY} AND NOT ${frozen})`;
    const values = frozen === undefined ? [] : [JSON.stringify(projectIds), JSON.stringify(taskSeqs)];
    const times = Array<number>(READY.split("?").length - 1).fill(nowMs);
    query.add(filter.ready ? `${IN_QUEUE} AND ${ready}` : `NOT ${ready}`, ...times, ...values);
  }
  if (filter.blocked !== undefined) time(filter.blocked ? BLOCKED : `NOT ${BLOCKED}`);
  if (filter.stalled !== undefined) time(filter.stalled ? STALLED : `NOT ${STALLED}`);
  if (filter.lapsed !== undefined) {
    time(filter.lapsed ? `(t.lapsed = 1 OR ${DEAD})` : `NOT (t.lapsed = 1 OR ${DEAD})`);
  }
  const order = orderOf(filter.sort, page, query);
  return db.all<TaskRow>(`${SELECT_TASK} WHERE ${query.sql} ORDER BY ${order} LIMIT ?`, ...query.params, page.limit);
}

const IN_QUEUE = inQueue("t");
const HELD = `(t.status = 'claimed' AND ${alive("t", "s")})`;
const DEAD = dead("t", "s");
const OPEN = `(t.status = 'open' OR (t.attempts < t.max_attempts AND t.cancel_requested = 0 AND ${DEAD}))`;
const AVAILABLE = `${IN_QUEUE} AND ${OPEN} AND NOT (t.delegated = 1 AND t.open_blockers > 0)`;
const READY = `(${IN_QUEUE} AND t.open_blockers = 0 AND (t.not_before IS NULL OR t.not_before <= ?) AND ${OPEN})`;
// The index of what is blocked stands on the first condition.
const WAITS = `(t.open_blockers > 0 AND ${OPEN})`;
const BLOCKED = `(${WAITS} AND t.delegated = 0)`;
const STALLED = `(${WAITS} AND EXISTS (SELECT 1 FROM dependencies d JOIN tasks b ON b.seq = d.blocker_seq
  LEFT JOIN sessions bs ON bs.id = b.holder_session WHERE d.task_seq = t.seq AND ${broken("b", "bs")}))`;

/** As the last verdict reads at the heads that are known: each task has one of these. */
function judged(verdict: NonNullable<TaskFilter["verdict"]>, { field }: Dialect): string {
  if (verdict === "none") return "x.verdict IS NULL";
  const commit = field("x.verdict", "commit");
  const stale = `EXISTS (SELECT 1 FROM branch_heads h WHERE h.project_id = t.project_id
    AND h.branch = ${field("x.verdict", "branch")} AND substr(h.head, 1, length(${commit})) <> ${commit})`;
  if (verdict === "stale") return `x.verdict IS NOT NULL AND ${stale}`;
  return `${field("x.verdict", "outcome")} = '${verdict}' AND NOT ${stale}`;
}

class Conditions {
  #sql: string[];
  params: SqlValue[];

  constructor(sql: string, ...params: SqlValue[]) {
    this.#sql = [sql];
    this.params = params;
  }

  add(sql: string, ...params: SqlValue[]): void {
    this.#sql.push(sql);
    this.params.push(...params);
  }

  get sql(): string {
    return this.#sql.join(" AND ");
  }
}

function statusCondition(status: string, query: Conditions, time: (sql: string) => void): void {
  if (status === "open") time(AVAILABLE);
  else if (status === "delegated") time(`${WAITS} AND t.delegated = 1`);
  else if (status === "claimed") time(`t.queue = 2 AND ${HELD}`);
  else if (status === "failed")
    time(`(t.status = 'failed' OR (t.attempts >= t.max_attempts AND t.cancel_requested = 0 AND ${DEAD}))`);
  else if (status === "cancelled") time(`(t.status = 'cancelled' OR (t.cancel_requested = 1 AND ${DEAD}))`);
  else query.add("t.queue IS NULL AND t.status = ?", status);
}

function orderOf(sort: TaskFilter["sort"], page: Page, query: Conditions): string {
  if (sort === "created") {
    if (page.after) query.add("t.seq > ?", page.after[0] ?? 0);
    return "t.seq";
  }
  if (sort === "-created") {
    if (page.after) query.add("t.seq < ?", page.after[0] ?? 0);
    return "t.seq DESC";
  }
  if (page.after) {
    const [priority = 0, seq = 0] = page.after;
    query.add("t.priority <= ? AND (t.priority < ? OR t.seq > ?)", priority, priority, seq);
  }
  return "t.priority DESC, t.seq";
}
