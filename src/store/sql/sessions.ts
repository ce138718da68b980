import type { SessionRow } from "../../core/port/rows.js";
import type { SessionChange, SessionFilter, SessionVerbs } from "../../core/port/session-verbs.js";
import type { SqlValue } from "../driver.js";
import { after, assignments, type Db, done, insertInto, valuesOf } from "./db.js";
import { sharedBy } from "./sharing.js";

const COLUMNS = [
  "id",
  "workspace_id",
  "agent_id",
  "project_id",
  "state",
  "implicit",
  "client",
  "harness_id",
  "host",
  "cwd",
  "branch",
  "worktree",
  "ttl_seconds",
  "started_at",
  "seen_at",
  "expires_at",
  "ended_at",
  "parent_session_id",
  "share_with_children",
  "resume_hash",
  "findings",
] as const;
const CHANGED = new Set<keyof SessionChange>([
  "project_id",
  "client",
  "harness_id",
  "host",
  "cwd",
  "branch",
  "worktree",
  "ttl_seconds",
  "share_with_children",
  "resume_hash",
  "findings",
]);
const INSERT = insertInto("sessions", COLUMNS);
const SELECT = `SELECT s.*, a.name AS agent_name,
  ${sharedBy("s")} AS shared_by
  FROM sessions s JOIN agents a ON a.id = s.agent_id`;
// What a session's state reads at an instant, whether or not anybody has noticed its silence (R1).
const DEAD = "s.expires_at IS NOT NULL AND s.expires_at <= ?";

export function sessionVerbs(db: Db): SessionVerbs {
  return { ...reading(db), ...writing(db) };
}

type Writing = Pick<SessionVerbs, "insert" | "touch" | "carry" | "update" | "end">;

function writing(db: Db): Writing {
  return {
    insert: (row) => done(db.run(INSERT, ...valuesOf(row, COLUMNS))),
    // The caller may have read the session in an earlier transaction: what has ended since stays ended.
    touch(id, seenAtMs, expiresAtMs) {
      db.kept.clear();
      const written = db.run(
        `UPDATE sessions SET seen_at = CASE WHEN seen_at > ? THEN seen_at ELSE ? END,
         expires_at = CASE WHEN expires_at > ? THEN expires_at ELSE ? END
         WHERE id = ? AND state = 'open' AND expires_at > ?`,
        seenAtMs,
        seenAtMs,
        expiresAtMs,
        expiresAtMs,
        id,
        seenAtMs,
      );
      return after(written, (rows) => rows === 1);
    },
    carry(id, expiresAtMs) {
      db.kept.clear();
      const sql = "UPDATE sessions SET expires_at = ? WHERE id = ? AND state = 'open' AND expires_at < ?";
      return done(db.run(sql, expiresAtMs, id, expiresAtMs));
    },
    update(id, change) {
      const { set, values } = assignments(change, CHANGED);
      return done(db.run(`UPDATE sessions SET ${set} WHERE id = ?`, ...values, id));
    },
    end(id, state, atMs) {
      db.kept.clear();
      return done(
        db.run("UPDATE sessions SET state = ?, ended_at = ? WHERE id = ? AND state = 'open'", state, atMs, id),
      );
    },
  };
}

function reading(db: Db): Omit<SessionVerbs, keyof Writing> {
  return {
    byId: (workspaceId, id) => db.get<SessionRow>(`${SELECT} WHERE s.id = ? AND s.workspace_id = ?`, id, workspaceId),
    implicitOf: (agentId) =>
      db.get<SessionRow>(`${SELECT} WHERE s.agent_id = ? AND s.implicit = 1 AND s.state = 'open'`, agentId),
    byHarness: (agentId, { harnessId, parentId }, nowMs) =>
      db.get<SessionRow>(
        `${SELECT} WHERE s.agent_id = ? AND s.state = 'open' AND s.harness_id = ? AND NOT (${DEAD})
         AND coalesce(s.parent_session_id, '') = ? ORDER BY s.seq LIMIT 1`,
        agentId,
        harnessId,
        nowMs,
        parentId ?? "",
      ),
    openUnder: (id) =>
      db.all<SessionRow>(
        `WITH RECURSIVE under(id) AS (
           SELECT c.id FROM sessions c WHERE c.parent_session_id = ? AND c.state = 'open'
           UNION ALL SELECT c.id FROM under u JOIN sessions c ON c.parent_session_id = u.id AND c.state = 'open')
         ${SELECT} WHERE s.id IN (SELECT u.id FROM under u) ORDER BY s.seq`,
        id,
      ),
    list(workspaceId, filter, page) {
      const { where, params } = listed(filter);
      return db.all<SessionRow>(
        `${SELECT} WHERE s.workspace_id = ? AND s.seq < ? AND ${where} ORDER BY s.seq DESC LIMIT ?`,
        workspaceId,
        page.after?.[0] ?? Number.MAX_SAFE_INTEGER,
        ...params,
        page.limit,
      );
    },
    openOf: (agentId) => db.all<SessionRow>(`${SELECT} WHERE s.agent_id = ? AND s.state = 'open'`, agentId),
    silentSince: (nowMs, limit) =>
      db.all<SessionRow>(
        `${SELECT} WHERE s.state = 'open' AND s.expires_at IS NOT NULL AND s.expires_at <= ? ORDER BY s.expires_at LIMIT ${limit}
         ${db.locks ? "FOR UPDATE OF s SKIP LOCKED" : ""}`,
        nowMs,
      ),
    heldCount: (agentId, sessionId, nowMs) =>
      after(
        db.get<{ n: number }>(
          `SELECT count(*) AS n FROM tasks WHERE status = 'claimed' AND holder_agent = ? AND holder_session = ? AND lease_until > ?`,
          agentId,
          sessionId,
          nowMs,
        ),
        (row) => row?.n ?? 0,
      ),
  };
}

/** Which sessions a list has: conditions on `s`. */
function listed(filter: SessionFilter): { where: string; params: SqlValue[] } {
  const state = {
    any: undefined,
    open: `s.state = 'open' AND NOT (${DEAD})`,
    ended: "s.state = 'ended'",
    expired: `(s.state = 'expired' OR (s.state = 'open' AND ${DEAD}))`,
  }[filter.state];
  const where = state === undefined ? ["1 = 1"] : [state];
  const params: SqlValue[] = state?.includes(DEAD) ? [filter.nowMs] : [];
  const narrow: [string, string | undefined][] = [
    ["s.agent_id = ?", filter.agentId],
    ["s.project_id = ?", filter.projectId],
    ["s.parent_session_id = ?", filter.parentId],
  ];
  for (const [condition, value] of narrow) {
    if (value === undefined) continue;
    where.push(condition);
    params.push(value);
  }
  if (filter.hasFindings !== undefined) where.push(`s.findings IS ${filter.hasFindings ? "NOT NULL" : "NULL"}`);
  return { where: where.join(" AND "), params };
}
