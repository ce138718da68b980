import type { Near, ScopeClaimRow, ScopeVerbs } from "../../core/port/scope-rows.js";
import type { SqlValue } from "../driver.js";
import { capacities } from "./capacities.js";
import { type Db, done } from "./db.js";
import { HELD, LIVE } from "./held-scopes.js";
import { namesInUse } from "./names-in-use.js";
import { nearAny, nearOne } from "./near.js";
import { parking } from "./parking.js";
import { history } from "./scope-history.js";

/** Claims whose end nobody recorded. */
const UNENDED = { table: "scope_claims", columns: ["seq"], also: "q.ended_at IS NULL" } as const;

/** Kind of the advisory lock on the names of a workspace; 1 to 3 are the events' and the dependencies'. */
const NAMES_LOCK = 4;

/** What is held of names. Two index steps find what may overlap: keys by equality, and one range. */
export function scopeVerbs(db: Db): ScopeVerbs {
  const { textsOf, numbersOf } = db.dialect;
  // Verbs of a database where others write are made for one transaction, which holds its locks to the end.
  const alone = new Set<string>();
  const all = (where: string, ...params: SqlValue[]) =>
    db.all<ScopeClaimRow>(`${HELD} WHERE ${where} ORDER BY c.seq`, ...params);
  // Rows to be changed: locked first where nodes write at once, and read by a statement behind the lock.
  const own = async (where: string, ...params: SqlValue[]) => {
    if (db.locks) await db.all(`SELECT c.seq FROM scope_claims c WHERE ${where} ORDER BY c.seq FOR UPDATE`, ...params);
    return all(where, ...params);
  };
  const aloneAll = (tasks: string, ...params: SqlValue[]) => {
    const { lock } = db.dialect;
    const workspaces = `SELECT DISTINCT workspace_id FROM (${tasks}) AS t WHERE scoped = 1 ORDER BY 1`;
    return lock && done(db.all(`${lock(NAMES_LOCK, "workspace_id")} FROM (${workspaces}) AS w`, ...params));
  };
  const near = (namespace: string, names: readonly Near[]) => {
    const { sql, params } = nearAny(db.dialect, UNENDED, namespace, names);
    return all(`c.seq IN (${sql})`, ...params);
  };
  return {
    alone(workspaceId) {
      const { lock } = db.dialect;
      if (!db.locks || !lock || alone.has(workspaceId)) return;
      alone.add(workspaceId);
      return done(db.get(lock(NAMES_LOCK), workspaceId));
    },
    aloneFor: (taskIds) => aloneAll(`SELECT * FROM tasks WHERE id IN (${textsOf})`, JSON.stringify(taskIds)),
    aloneForDue: (nowMs, limit) =>
      aloneAll("SELECT * FROM tasks WHERE wakes_at <= ? ORDER BY wakes_at, seq LIMIT ?", nowMs, limit),
    ...settling(db),
    near: (namespace, name) => near(namespace, [name]),
    nearAny: near,
    ...history(db),
    bySeqs: (seqs) => all(`c.seq IN (${numbersOf})`, JSON.stringify(seqs)),
    byIds: (workspaceId, ids) => own(`c.workspace_id = ? AND c.id IN (${textsOf})`, workspaceId, JSON.stringify(ids)),
    locked: (seqs) => own(`c.seq IN (${numbersOf})`, JSON.stringify(seqs)),
    ofSession: (sessionId) => own("c.holder_session = ? AND c.ended_at IS NULL AND c.task_id IS NULL", sessionId),
    heldBySessions: (ids) => all(`c.holder_session IN (${textsOf}) AND c.ended_at IS NULL`, JSON.stringify(ids)),
    ofAgent: (agentId) => own("c.holder_agent = ? AND c.ended_at IS NULL AND c.task_id IS NULL", agentId),
    all: (limit) =>
      db.all<ScopeClaimRow>(`${HELD} WHERE c.ended_at IS NULL AND c.task_id IS NULL ORDER BY c.seq LIMIT ${limit}`),
    ofTask: (task) => own("c.task_id = ? AND c.ended_at IS NULL", task.id),
    ...listing(db),
    ...parking(db),
    ...capacities(db),
    ...namesInUse(db),
    due: (nowMs, limit) =>
      db.all<ScopeClaimRow>(
        `${HELD} WHERE c.seq IN (SELECT q.seq FROM scope_claims q
           WHERE q.ended_at IS NULL AND q.lease_until <= ? ORDER BY q.lease_until, q.seq LIMIT ${limit}) ORDER BY c.seq`,
        nowMs,
      ),
  };
}

/** What is held now, as the claims table shows it. */
function listing(db: Db): Pick<ScopeVerbs, "list"> {
  return {
    list(workspaceId, filter, nowMs, page) {
      const where = ["c.workspace_id = ?", "c.seq > ?", LIVE];
      const params: SqlValue[] = [workspaceId, page.after?.[0] ?? 0, nowMs, nowMs, nowMs];
      const narrow = (condition: string, ...values: readonly (SqlValue | undefined)[]) => {
        if (values[0] === undefined) return;
        where.push(condition);
        params.push(...(values as SqlValue[]));
      };
      narrow("c.holder_agent = ?", filter.agentId);
      narrow("c.holder_session = ?", filter.sessionId);
      narrow("c.project_id = ?", filter.projectId);
      narrow("c.kind = ?", filter.kind);
      if (filter.near) {
        const found = nearOne(db.dialect, UNENDED, filter.near.namespace, filter.near);
        narrow(`c.seq IN (${found.sql})`, ...found.params);
      }
      return db.all<ScopeClaimRow>(
        `${HELD} WHERE ${where.join(" AND ")} ORDER BY c.seq LIMIT ?`,
        ...params,
        page.limit,
      );
    },
  };
}

/** What isn't a matter of reading alone: waiting for others' renewals. */
function settling(db: Db): Pick<ScopeVerbs, "settle"> {
  const { textsOf, numbersOf } = db.dialect;
  return {
    async settle(rows) {
      if (!db.locks || rows.length === 0) return;
      const some = (values: readonly (string | null)[]) => JSON.stringify(values.filter((value) => value !== null));
      await db.all(
        `SELECT t.seq FROM tasks t WHERE t.id IN (${textsOf}) ORDER BY t.seq FOR UPDATE`,
        some(rows.map((row) => row.task_id)),
      );
      await db.all(
        `SELECT s.seq FROM sessions s WHERE s.id IN (${textsOf}) ORDER BY s.seq FOR UPDATE`,
        some(rows.map((row) => row.holder_session)),
      );
      await db.all(
        `SELECT c.seq FROM scope_claims c WHERE c.seq IN (${numbersOf}) ORDER BY c.seq FOR UPDATE`,
        JSON.stringify(rows.map((row) => row.seq)),
      );
    },
  };
}
