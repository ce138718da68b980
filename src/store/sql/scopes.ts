import type { ScopeKey } from "../../contract/scope.js";
import type { Near, ScopeClaimRow, ScopeVerbs } from "../../core/port/scope-rows.js";
import { indexKey } from "../../core/scopes/scope-keys.js";
import type { SqlValue } from "../driver.js";
import { capacities } from "./capacities.js";
import { after, type Db, done } from "./db.js";
import { nearAny, nearAnyOf } from "./near.js";
import { parking } from "./parking.js";

const HELD = `SELECT c.*, a.name AS agent_name, s.implicit, s.client, s.branch, s.expires_at AS session_expires_at,
  CASE WHEN c.task_id IS NULL THEN c.lease_until WHEN t.status = 'claimed' AND t.lease_id = c.task_lease THEN t.lease_until
    ELSE 0 END AS until
  FROM scope_claims c JOIN sessions s ON s.id = c.holder_session JOIN agents a ON a.id = c.holder_agent
  LEFT JOIN tasks t ON t.id = c.task_id`;
/** Of a claim, its session and its task. Each `?` is the time, three times. */
export const LIVE = `c.ended_at IS NULL AND s.state = 'open' AND (s.expires_at IS NULL OR s.expires_at > ?)
  AND (c.lease_until > ? OR (c.task_id IS NOT NULL AND t.status = 'claimed' AND t.lease_id = c.task_lease
    AND t.lease_until > ?))`;

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
  const one = (namespace: string, near: Near) => all(nearOf(db), ...nearParams(namespace, near));
  const any = `c.seq IN (${nearAnyOf(db.dialect, "seq", "scope_claims", "AND q.ended_at IS NULL")})`;
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
    near: one,
    nearAny: (namespace, near) =>
      near.length === 1 ? one(namespace, near[0] as Near) : all(any, ...nearAny(namespace, near)),
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
    due: (nowMs, limit) =>
      db.all<ScopeClaimRow>(
        `${HELD} WHERE c.seq IN (SELECT q.seq FROM scope_claims q
           WHERE q.ended_at IS NULL AND q.lease_until <= ? ORDER BY q.lease_until, q.seq LIMIT ${limit}) ORDER BY c.seq`,
        nowMs,
      ),
  };
}

/** A claim whose end nobody recorded, at one of some keys of the index or in a range of it. */
function nearOf(db: Db): string {
  return `c.seq IN (SELECT q.seq FROM scope_claims q WHERE q.namespace = ? AND q.ended_at IS NULL
           AND q.index_key IN (${db.dialect.textsOf})
         UNION SELECT q.seq FROM scope_claims q WHERE q.namespace = ? AND q.ended_at IS NULL
           AND q.index_key >= ? AND q.index_key < ?)`;
}

function nearParams(namespace: string, { at, from, below }: Near): string[] {
  return [namespace, JSON.stringify(at), namespace, from, below];
}

/** What is held now, as the claims table shows it. */
function listing(db: Db): Pick<ScopeVerbs, "list"> {
  return {
    list(workspaceId, filter, nowMs, page) {
      const where = ["c.workspace_id = ?", "c.seq > ?", LIVE];
      const params: SqlValue[] = [workspaceId, page.after?.[0] ?? 0, nowMs, nowMs, nowMs];
      const narrow: [string, readonly (string | undefined)[]][] = [
        ["c.holder_agent = ?", [filter.agentId]],
        ["c.holder_session = ?", [filter.sessionId]],
        ["c.project_id = ?", [filter.projectId]],
        ["c.kind = ?", [filter.kind]],
        [nearOf(db), filter.near ? nearParams(filter.near.namespace, filter.near) : [undefined]],
      ];
      for (const [condition, values] of narrow) {
        if (values[0] === undefined) continue;
        where.push(condition);
        params.push(...(values as string[]));
      }
      return db.all<ScopeClaimRow>(
        `${HELD} WHERE ${where.join(" AND ")} ORDER BY c.seq LIMIT ?`,
        ...params,
        page.limit,
      );
    },
  };
}

/** What isn't a matter of reading alone: waiting for others' renewals, and whether anything is in use. */
function settling(db: Db): Pick<ScopeVerbs, "settle" | "inUse"> {
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
    inUse: (projectId) =>
      after(
        db.get(
          `SELECT 1 AS x FROM scope_claims c WHERE c.namespace = ? AND c.ended_at IS NULL
           UNION ALL SELECT 1 FROM task_scopes d JOIN tasks t ON t.seq = d.task_seq AND t.closed_at IS NULL
             WHERE d.namespace = ?
           UNION ALL SELECT 1 FROM wait_scopes w WHERE w.namespace = ?
           UNION ALL SELECT 1 FROM holds h WHERE h.namespace = ? AND h.ended_at IS NULL
           UNION ALL SELECT 1 FROM unlanded u WHERE u.project_id = ? AND u.ended_at IS NULL LIMIT 1`,
          ...Array<string>(5).fill(projectId),
        ),
        (row) => row !== undefined,
      ),
  };
}

/** What was held. */
function history(db: Db): Pick<ScopeVerbs, "past" | "lastEnded"> {
  const { textsOf } = db.dialect;
  return {
    past: (namespace, { at, from, below }, page) =>
      db.all<ScopeClaimRow>(
        `${HELD} WHERE c.seq IN (
           SELECT * FROM (SELECT q.seq FROM scope_claims q WHERE q.namespace = ? AND q.index_key IN (${textsOf})
             AND q.seq < ? ORDER BY q.seq DESC LIMIT ${page.limit}) AS above
           UNION SELECT * FROM (SELECT q.seq FROM scope_claims q WHERE q.namespace = ? AND q.index_key >= ?
             AND q.index_key < ? AND q.seq < ? ORDER BY q.seq DESC LIMIT ${page.limit}) AS under)
         ORDER BY c.seq DESC LIMIT ${page.limit}`,
        namespace,
        JSON.stringify(at),
        page.after?.[0] ?? Number.MAX_SAFE_INTEGER,
        namespace,
        from,
        below,
        page.after?.[0] ?? Number.MAX_SAFE_INTEGER,
      ),
    lastEnded: (sessionId, namespace, key) =>
      db.get<ScopeClaimRow>(
        `${HELD} WHERE c.namespace = ? AND c.index_key = ? AND c.key = ? AND c.holder_session = ?
         AND c.ended_at IS NOT NULL ORDER BY c.seq DESC LIMIT 1`,
        namespace,
        indexKey(key as ScopeKey),
        key,
        sessionId,
      ),
  };
}
