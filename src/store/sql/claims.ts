import type { ClaimRecord } from "../../core/port/rows.js";
import type { ClaimVerbs } from "../../core/port/verbs.js";
import type { SqlValue } from "../driver.js";
import { after, type Db } from "./db.js";

const CLAIMS = `SELECT t.seq, t.id AS task_id, t.project_id, x.content, t.holder_agent AS agent_id, a.name AS agent_name,
  s.id AS session_id, s.implicit, s.client, s.branch, t.fence, t.lease_id, t.claimed_at, t.lease_until,
  s.expires_at AS session_expires_at
  FROM tasks t`;

/** The table of everything held, as it is at an instant. */
export function claimVerbs(db: Db): ClaimVerbs {
  const { join, indexedBy } = db.dialect;
  const holders = `${join} task_texts x ON x.seq = t.seq ${join} sessions s ON s.id = t.holder_session
    ${join} agents a ON a.id = t.holder_agent`;
  return {
    countLive: (agentId, nowMs, limit) =>
      after(
        db.get<{ n: number }>(
          `SELECT count(*) AS n FROM (SELECT 1 FROM tasks
             WHERE status = 'claimed' AND holder_agent = ? AND lease_until > ?
           UNION ALL SELECT 1 FROM scope_claims
             WHERE holder_agent = ? AND ended_at IS NULL AND (lease_until IS NULL OR lease_until > ?)
           LIMIT ${limit}) AS live`,
          agentId,
          nowMs,
          agentId,
          nowMs,
        ),
        (row) => row?.n ?? 0,
      ),
    countLiveOf: (agentIds, nowMs) =>
      db.all(
        `SELECT agent_id, count(*) AS n FROM (SELECT holder_agent AS agent_id FROM tasks
             WHERE status = 'claimed' AND holder_agent IN (${db.dialect.textsOf}) AND lease_until > ?
           UNION ALL SELECT holder_agent FROM scope_claims WHERE holder_agent IN (${db.dialect.textsOf})
             AND ended_at IS NULL AND (lease_until IS NULL OR lease_until > ?)) AS live GROUP BY agent_id`,
        JSON.stringify(agentIds),
        nowMs,
        JSON.stringify(agentIds),
        nowMs,
      ),
    list(workspaceId, filter, nowMs, page) {
      const where = ["t.workspace_id = ?", "t.status = 'claimed'", "t.queue = 2", "t.lease_until > ?"];
      const params: SqlValue[] = [workspaceId, nowMs];
      where.push("s.state = 'open' AND (s.expires_at IS NULL OR s.expires_at > ?)");
      params.push(nowMs);
      const narrow: [string, string | undefined][] = [
        ["t.holder_agent = ?", filter.agentId],
        ["t.holder_session = ?", filter.sessionId],
        ["t.project_id = ?", filter.projectId],
        ["t.id = ?", filter.taskId],
      ];
      for (const [condition, value] of narrow) {
        if (value === undefined) continue;
        where.push(condition);
        params.push(value);
      }
      where.push("t.seq > ?");
      params.push(page.after?.[0] ?? 0);
      // From what is held, or from the one task: left to itself SQLite walks every task the workspace ever had.
      const by = filter.taskId === undefined ? indexedBy("tasks_held") : "";
      return db.all<ClaimRecord>(
        `${CLAIMS} ${by} ${holders} WHERE ${where.join(" AND ")} ORDER BY t.seq LIMIT ?`,
        ...params,
        page.limit,
      );
    },
  };
}
