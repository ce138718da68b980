import type { CommentRow, LinkRow, NoticeRow } from "../../core/rows.js";
import type { NoteVerbs } from "../../core/store.js";
import { type Db, insertInto, valuesOf } from "./db.js";

const COMMENT = ["id", "task_seq", "task_id", "agent_id", "body", "kind", "lease_id", "created_at"] as const;
const LINK = ["id", "task_seq", "task_id", "agent_id", "url", "title", "kind", "created_at"] as const;
const NOTICE = ["id", "session_id", "type", "task_id", "at", "message", "data"] as const;
const INSERT_COMMENT = insertInto("comments", COMMENT);
const INSERT_LINK = insertInto("links", LINK);
const INSERT_NOTICE = insertInto("notices", NOTICE);

/** What is written beside a task, notices to sessions, and the answers kept for idempotency keys. */
/** A session that lost 100,000 tasks at once must not pay for counting them with every call. */
const NOTICES_COUNTED_MAX = 100;

export function noteVerbs(db: Db): NoteVerbs {
  let noticeWrites = 0;
  return {
    get noticeWrites() {
      return noticeWrites;
    },
    addComment(row) {
      db.run(INSERT_COMMENT, ...valuesOf(row, COMMENT));
    },
    comments: (taskSeq, page) =>
      db.all<CommentRow>(
        `SELECT c.*, a.name AS agent_name FROM comments c JOIN agents a ON a.id = c.agent_id
         WHERE c.task_seq = ? AND c.seq > ? ORDER BY c.seq LIMIT ?`,
        taskSeq,
        page.after?.[0] ?? 0,
        page.limit,
      ),
    hasLateResult: (leaseId) => db.get("SELECT 1 AS x FROM comments WHERE lease_id = ?", leaseId) !== undefined,
    addLink(row) {
      db.run(INSERT_LINK, ...valuesOf(row, LINK));
    },
    links: (taskSeq, page) =>
      db.all<LinkRow>(
        "SELECT * FROM links WHERE task_seq = ? AND seq > ? ORDER BY seq LIMIT ?",
        taskSeq,
        page.after?.[0] ?? 0,
        page.limit,
      ),
    addNotice(row) {
      noticeWrites += 1;
      db.run(INSERT_NOTICE, ...valuesOf(row, NOTICE));
    },
    notices: (sessionId, limit) =>
      db.all<NoticeRow>(`SELECT * FROM notices WHERE session_id = ? ORDER BY seq DESC LIMIT ${limit}`, sessionId),
    noticeCount: (sessionId) =>
      db.get<{ n: number }>(
        `SELECT count(*) AS n FROM (SELECT 1 FROM notices WHERE session_id = ? LIMIT ${NOTICES_COUNTED_MAX})`,
        sessionId,
      )?.n ?? 0,
    ackNotices(sessionId, ids) {
      noticeWrites += 1;
      return db.run(
        "DELETE FROM notices WHERE session_id = ? AND id IN (SELECT value FROM json_each(?))",
        sessionId,
        JSON.stringify(ids),
      );
    },
    remembered: (scope, sinceMs) =>
      db.get("SELECT body_hash, answer FROM remembered WHERE scope = ? AND at > ?", scope, sinceMs),
    remember(scope, bodyHash, answer, nowMs) {
      db.run(
        `INSERT INTO remembered (scope, body_hash, answer, at) VALUES (?, ?, ?, ?)
         ON CONFLICT (scope) DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, at = excluded.at`,
        scope,
        bodyHash,
        answer,
        nowMs,
      );
    },
    forgetBefore(sinceMs, limit) {
      db.run(
        `DELETE FROM remembered WHERE scope IN (SELECT scope FROM remembered WHERE at <= ? ORDER BY at LIMIT ${limit})`,
        sinceMs,
      );
    },
  };
}
