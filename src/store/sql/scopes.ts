import type { ScopeClaimRow, ScopeVerbs } from "../../core/scope-rows.js";
import type { SqlValue } from "../driver.js";
import type { Db } from "./db.js";
import { parking } from "./parking.js";

const HELD = `SELECT c.*, a.name AS agent_name, s.implicit, s.client, s.branch, s.expires_at AS session_expires_at,
  CASE WHEN c.task_id IS NULL THEN c.lease_until WHEN t.status = 'claimed' AND t.lease_id = c.task_lease THEN t.lease_until
    ELSE 0 END AS until
  FROM scope_claims c JOIN sessions s ON s.id = c.holder_session JOIN agents a ON a.id = c.holder_agent
  LEFT JOIN tasks t ON t.id = c.task_id`;
/** Its `?` is the time, twice. */
const LIVE = `c.ended_at IS NULL AND s.state = 'open' AND (s.expires_at IS NULL OR s.expires_at > ?)
  AND (c.lease_until > ? OR (c.task_id IS NOT NULL AND t.status = 'claimed' AND t.lease_id = c.task_lease
    AND t.lease_until > ?))`;

/** What is held of names. Two index steps find what may overlap: keys by equality, and one range. */
export function scopeVerbs(db: Db): ScopeVerbs {
  const { textsOf, numbersOf } = db.dialect;
  const all = (where: string, ...params: SqlValue[]) =>
    db.all<ScopeClaimRow>(`${HELD} WHERE ${where} ORDER BY c.seq`, ...params);
  return {
    async alone(namespaces) {
      if (!db.locks) return;
      for (const namespace of [...new Set(namespaces)].sort()) {
        // The counter's row is the lock: who draws a fence has it anyway.
        await db.run(
          `INSERT INTO scope_fences (namespace, fence) VALUES (?, 0)
           ON CONFLICT (namespace) DO UPDATE SET fence = scope_fences.fence`,
          namespace,
        );
      }
    },
    near: (namespace, { at, from, below }) =>
      all(
        `c.seq IN (SELECT q.seq FROM scope_claims q WHERE q.namespace = ? AND q.ended_at IS NULL
             AND q.index_key IN (${textsOf})
           UNION SELECT q.seq FROM scope_claims q WHERE q.namespace = ? AND q.ended_at IS NULL
             AND q.index_key >= ? AND q.index_key < ?)`,
        namespace,
        JSON.stringify(at),
        namespace,
        from,
        below,
      ),
    past: (namespace, { at, from, below }, page) =>
      db.all<ScopeClaimRow>(
        `${HELD} WHERE c.seq IN (SELECT q.seq FROM scope_claims q WHERE q.namespace = ? AND q.index_key IN (${textsOf})
           UNION SELECT q.seq FROM scope_claims q WHERE q.namespace = ? AND q.index_key >= ? AND q.index_key < ?)
         AND c.seq < ? ORDER BY c.seq DESC LIMIT ?`,
        namespace,
        JSON.stringify(at),
        namespace,
        from,
        below,
        page.after?.[0] ?? Number.MAX_SAFE_INTEGER,
        page.limit,
      ),
    bySeqs: (seqs) => all(`c.seq IN (${numbersOf})`, JSON.stringify(seqs)),
    byIds: (workspaceId, ids) => all(`c.workspace_id = ? AND c.id IN (${textsOf})`, workspaceId, JSON.stringify(ids)),
    ofSession: (sessionId) => all("c.holder_session = ? AND c.ended_at IS NULL AND c.task_id IS NULL", sessionId),
    ofAgent: (agentId) => all("c.holder_agent = ? AND c.ended_at IS NULL AND c.task_id IS NULL", agentId),
    all: (limit) =>
      db.all<ScopeClaimRow>(`${HELD} WHERE c.ended_at IS NULL AND c.task_id IS NULL ORDER BY c.seq LIMIT ${limit}`),
    ofTask: (task) => all("c.task_id = ? AND c.ended_at IS NULL", task.id),
    lastEnded: (sessionId, namespace, key) =>
      db.get<ScopeClaimRow>(
        `${HELD} WHERE c.namespace = ? AND c.key = ? AND c.holder_session = ? AND c.ended_at IS NOT NULL
         ORDER BY c.seq DESC LIMIT 1`,
        namespace,
        key,
        sessionId,
      ),
    ...listing(db),
    ...parking(db),
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
      const narrow: [string, readonly (string | undefined)[]][] = [
        ["c.holder_agent = ?", [filter.agentId]],
        ["c.holder_session = ?", [filter.sessionId]],
        ["c.project_id = ?", [filter.projectId]],
        ["c.kind = ?", [filter.kind]],
        [
          "c.namespace = ? AND c.index_key >= ? AND c.index_key < ?",
          [filter.under?.namespace, filter.under?.from, filter.under?.below],
        ],
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
