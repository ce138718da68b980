import { REMEMBERED_MS } from "../../core/engine/idempotency.js";
import type { CommentRow, LinkRow, NoticeRow } from "../../core/port/note-rows.js";

import type { NoteVerbs } from "../../core/port/verbs.js";
import { after, type Db, done } from "./db.js";

const COMMENT = ["id", "task_seq", "task_id", "agent_id", "body", "kind", "lease_id", "created_at"] as const;
const LINK = ["id", "task_seq", "task_id", "agent_id", "url", "title", "kind", "created_at"] as const;
const NOTICE = ["id", "session_id", "type", "task_id", "at", "message", "data"] as const;
const REMEMBERED = ["scope", "body_hash", "answer", "at"] as const;
// An answer that is still remembered is never written over: two nodes that were asked the same at once would both have done it.
const AGED_ONLY = `ON CONFLICT (scope) DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, at = excluded.at
  WHERE remembered.at <= excluded.at - ${REMEMBERED_MS}`;

/** A session that lost 100,000 tasks at once must not pay for counting them with every call. */
const NOTICES_COUNTED_MAX = 100;

/** What is written beside a task, notices to sessions, and the answers kept for idempotency keys. */
export function noteVerbs(db: Db, noticeWritesBefore: number): NoteVerbs {
  let noticeWrites = noticeWritesBefore;
  return {
    get noticeWrites() {
      return noticeWrites;
    },
    addComment: (row) => db.append("comments", COMMENT, row),
    comments: (taskSeq, page) =>
      db.all<CommentRow>(
        `SELECT c.*, a.name AS agent_name FROM comments c JOIN agents a ON a.id = c.agent_id
         WHERE c.task_seq = ? AND c.seq > ? ORDER BY c.seq LIMIT ?`,
        taskSeq,
        page.after?.[0] ?? 0,
        page.limit,
      ),
    hasLateResult: (leaseId) =>
      after(db.get("SELECT 1 AS x FROM comments WHERE lease_id = ?", leaseId), (row) => row !== undefined),
    addLink: (row) => db.append("links", LINK, row),
    links: (taskSeq, page) =>
      db.all<LinkRow>(
        "SELECT * FROM links WHERE task_seq = ? AND seq > ? ORDER BY seq LIMIT ?",
        taskSeq,
        page.after?.[0] ?? 0,
        page.limit,
      ),
    addNotice(row) {
      noticeWrites += 1;
      return db.append("notices", NOTICE, row);
    },
    notices: (sessionId, limit) =>
      db.all<NoticeRow>(`SELECT * FROM notices WHERE session_id = ? ORDER BY seq DESC LIMIT ${limit}`, sessionId),
    noticeCount: (sessionId) =>
      after(
        db.get<{ n: number }>(
          `SELECT count(*) AS n FROM (SELECT 1 FROM notices WHERE session_id = ? LIMIT ${NOTICES_COUNTED_MAX}) AS few`,
          sessionId,
        ),
        (row) => row?.n ?? 0,
      ),
    dropNotices(sessionIds, type, { field, id }) {
      noticeWrites += 1;
      return done(
        db.run(
          `DELETE FROM notices WHERE session_id IN (${db.dialect.textsOf}) AND type = ?
           AND ${db.dialect.field("data", field)} = ?`,
          JSON.stringify(sessionIds),
          type,
          id,
        ),
      );
    },
    ackNotices(sessionId, ids) {
      noticeWrites += 1;
      return db.run(
        `DELETE FROM notices WHERE session_id = ? AND id IN (${db.dialect.textsOf})`,
        sessionId,
        JSON.stringify(ids),
      );
    },
    ...firstAnswers(db),
  };
}

/** What was answered to idempotency keys. */
function firstAnswers(db: Db): Pick<NoteVerbs, "remembered" | "rememberedOf" | "remember" | "forgetBefore"> {
  return {
    remembered: (scope, sinceMs) =>
      db.get("SELECT scope, body_hash, answer FROM remembered WHERE scope = ? AND at > ?", scope, sinceMs),
    rememberedOf: (scopes, sinceMs) =>
      db.all(
        `SELECT scope, body_hash, answer FROM remembered WHERE scope IN (${db.dialect.textsOf}) AND at > ?`,
        JSON.stringify(scopes),
        sinceMs,
      ),
    remember: (scope, bodyHash, answer, nowMs) =>
      db.append("remembered", REMEMBERED, { scope, body_hash: bodyHash, answer, at: nowMs }, AGED_ONLY),
    forgetBefore: (sinceMs, limit) =>
      done(
        db.run(
          `DELETE FROM remembered WHERE scope IN (SELECT scope FROM remembered WHERE at <= ? ORDER BY at LIMIT ${limit})`,
          sinceMs,
        ),
      ),
  };
}
