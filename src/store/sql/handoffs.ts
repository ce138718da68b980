import type { HandoffRow, HandoffVerbs } from "../../core/port/handoff-verbs.js";
import type { SqlValue } from "../driver.js";
import { after, type Db, done, insertInto, valuesOf } from "./db.js";

const COLUMNS = [
  "id",
  "workspace_id",
  "project_id",
  "task_id",
  "claim_id",
  "lease_id",
  "from_agent",
  "from_session",
  "to_agent",
  "to_session",
  "note",
  "offered_at",
  "expires_at",
  "state",
] as const;
const INSERT = insertInto("handoffs", COLUMNS);
const SELECT = `SELECT h.*, f.name AS from_name, r.name AS to_name, x.content, c.scope, c.intent,
  CASE WHEN h.claim_id IS NOT NULL THEN CASE WHEN c.ended_at IS NULL THEN c.lease_until ELSE 0 END
    WHEN t.status = 'claimed' AND t.lease_id = h.lease_id AND t.cancel_requested = 0 THEN t.lease_until
    ELSE 0 END AS lease_ends_at,
  CASE WHEN g.state = 'open' THEN g.expires_at ELSE 0 END AS giver_ends_at,
  CASE WHEN r.deleted_at IS NULL AND (h.to_session IS NULL OR s.state = 'open') THEN s.expires_at
    ELSE 0 END AS receiver_ends_at
  FROM handoffs h JOIN agents f ON f.id = h.from_agent JOIN agents r ON r.id = h.to_agent
  JOIN sessions g ON g.id = h.from_session LEFT JOIN sessions s ON s.id = h.to_session
  LEFT JOIN tasks t ON t.id = h.task_id LEFT JOIN task_texts x ON x.seq = t.seq
  LEFT JOIN scope_claims c ON c.id = h.claim_id`;
/** As core/handoffs/handoff-state.ts has it for one row; each `?` is the time. */
const STANDS = `o.state = 'offered' AND o.expires_at > ? AND o.lease_ends_at > ?
  AND (o.giver_ends_at IS NULL OR o.giver_ends_at > ?) AND (o.receiver_ends_at IS NULL OR o.receiver_ends_at > ?)`;

export function handoffVerbs(db: Db): HandoffVerbs {
  return {
    insert: (row) => done(db.run(INSERT, ...valuesOf(row, COLUMNS))),
    byId: (workspaceId, id) => db.get<HandoffRow>(`${SELECT} WHERE h.id = ? AND h.workspace_id = ?`, id, workspaceId),
    openOf: (leaseId) => db.get<HandoffRow>(`${SELECT} WHERE h.lease_id = ? AND h.state = 'offered'`, leaseId),
    list(workspaceId, filter, nowMs, page) {
      const where = ["h.workspace_id = ?", "h.seq > ?"];
      const params: SqlValue[] = [workspaceId, page.after?.[0] ?? 0];
      const narrow = (condition: string, value: string | undefined, times = 1) => {
        if (value === undefined) return;
        where.push(condition);
        params.push(...Array<string>(times).fill(value));
      };
      narrow("h.to_agent = ?", filter.toAgent);
      narrow("h.from_agent = ?", filter.fromAgent);
      narrow("(h.to_agent = ? OR h.from_agent = ?)", filter.either, 2);
      narrow("h.project_id = ?", filter.projectId);
      narrow("h.task_id = ?", filter.taskId);
      // Said of the table itself too: by what is computed of a row no index finds it, and most of all offers are over.
      if (!filter.ended) where.push("h.state = 'offered'");
      const stands = filter.ended ? "" : `WHERE ${STANDS}`;
      return db.all<HandoffRow>(
        `SELECT * FROM (${SELECT} WHERE ${where.join(" AND ")}) AS o ${stands} ORDER BY o.seq LIMIT ?`,
        ...params,
        ...(filter.ended ? [] : [nowMs, nowMs, nowMs, nowMs]),
        page.limit,
      );
    },
    due: (nowMs, limit) =>
      db.all<HandoffRow>(
        `${SELECT} WHERE h.state = 'offered' AND h.expires_at <= ? ORDER BY h.expires_at, h.seq LIMIT ${limit}
         ${db.locks ? "FOR UPDATE OF h SKIP LOCKED" : ""}`,
        nowMs,
      ),
    end: (row, { state, ended_at, by_session = null, granted_lease = null, granted_fence = null }) =>
      after(
        db.run(
          `UPDATE handoffs SET state = ?, ended_at = ?, by_session = ?, granted_lease = ?, granted_fence = ?
           WHERE seq = ? AND state = 'offered'`,
          state,
          ended_at,
          by_session,
          granted_lease,
          granted_fence,
          row.seq,
        ),
        (changed) => changed === 1,
      ),
  };
}
