import type { SessionRow } from "../../core/rows.js";
import type { SessionVerbs } from "../../core/verbs.js";
import { after, type Db, done, insertInto, valuesOf } from "./db.js";

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
] as const;
const INSERT = insertInto("sessions", COLUMNS);
const SELECT = "SELECT s.*, a.name AS agent_name FROM sessions s JOIN agents a ON a.id = s.agent_id";
// What a session's state reads at an instant, whether or not anybody has noticed its silence (R1).
const DEAD = "s.expires_at IS NOT NULL AND s.expires_at <= ?";

export function sessionVerbs(db: Db): SessionVerbs {
  return {
    insert: (row) => done(db.run(INSERT, ...valuesOf(row, COLUMNS))),
    byId: (workspaceId, id) => db.get<SessionRow>(`${SELECT} WHERE s.id = ? AND s.workspace_id = ?`, id, workspaceId),
    implicitOf: (agentId) =>
      db.get<SessionRow>(`${SELECT} WHERE s.agent_id = ? AND s.implicit = 1 AND s.state = 'open'`, agentId),
    list(workspaceId, filter, page) {
      const state = {
        open: `s.state = 'open' AND NOT (${DEAD})`,
        ended: "s.state = 'ended'",
        expired: `(s.state = 'expired' OR (s.state = 'open' AND ${DEAD}))`,
      }[filter.state];
      const byTime = filter.state === "ended" ? [] : [filter.nowMs];
      const byAgent = filter.agentId === undefined ? [] : [filter.agentId];
      return db.all<SessionRow>(
        `${SELECT} WHERE s.workspace_id = ? AND s.seq < ? AND ${state} ${byAgent.length > 0 ? "AND s.agent_id = ?" : ""}
         ORDER BY s.seq DESC LIMIT ?`,
        workspaceId,
        page.after?.[0] ?? Number.MAX_SAFE_INTEGER,
        ...byTime,
        ...byAgent,
        page.limit,
      );
    },
    openOf: (agentId) => db.all<SessionRow>(`${SELECT} WHERE s.agent_id = ? AND s.state = 'open'`, agentId),
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
    end(id, state, atMs) {
      db.kept.clear();
      return done(
        db.run("UPDATE sessions SET state = ?, ended_at = ? WHERE id = ? AND state = 'open'", state, atMs, id),
      );
    },
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
