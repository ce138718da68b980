import type { WaitVerbs, YieldRow } from "../../core/port/wait-rows.js";
import type { SqlValue } from "../driver.js";
import { type Db, type Dialect, done, insertInto, valuesOf } from "./db.js";
import { LIVE } from "./held-scopes.js";

const YIELD = [
  "id",
  "workspace_id",
  "project_id",
  "claim_id",
  "scope",
  "holder_agent",
  "holder_session",
  "asked_by_agent",
  "asked_by_session",
  "reason",
  "asked_at",
  "answer",
  "answer_reason",
  "answered_at",
] as const satisfies readonly (keyof YieldRow)[];

// Nobody answers for what is held no more.
const OPEN = `(y.answer IS NULL AND EXISTS (SELECT 1 FROM scope_claims c JOIN sessions s ON s.id = c.holder_session
  LEFT JOIN tasks t ON t.id = c.task_id WHERE c.id = y.claim_id AND ${LIVE}))`;

type Yields = "addYield" | "yieldById" | "openYield" | "answerYield" | "yields";

/** What was asked of holders, and what they said. */
export function yields(db: Db): Pick<WaitVerbs, Yields> {
  return {
    addYield: (row) => done(db.run(insertInto("yields", YIELD), ...valuesOf(row, YIELD))),
    yieldById: (workspaceId, id) =>
      db.get<YieldRow>("SELECT * FROM yields WHERE workspace_id = ? AND id = ?", workspaceId, id),
    openYield: (claimId, sessionId) =>
      db.get<YieldRow>(
        "SELECT * FROM yields WHERE claim_id = ? AND asked_by_session = ? AND answer IS NULL",
        claimId,
        sessionId,
      ),
    answerYield: (id, answer, reason, at) =>
      done(
        db.run("UPDATE yields SET answer = ?, answer_reason = ?, answered_at = ? WHERE id = ?", answer, reason, at, id),
      ),
    yields(workspaceId, { projectId, holderSession, claimId, open }, nowMs, page) {
      const where: string[] = [];
      const params: SqlValue[] = [];
      const narrow = (condition: string, ...values: readonly (SqlValue | undefined)[]) => {
        if (values[0] === undefined) return;
        where.push(condition);
        params.push(...(values as SqlValue[]));
      };
      // Of those that nobody answered most are about what is held no more: they are found from what is held.
      if (open) narrow(`y.answer IS NULL AND c.workspace_id = ? AND ${LIVE}`, workspaceId, nowMs, nowMs, nowMs);
      else if (open === false) narrow(`NOT ${OPEN}`, nowMs, nowMs, nowMs);
      narrow("y.workspace_id = ? AND y.seq > ?", workspaceId, page.after?.[0] ?? 0);
      narrow("y.project_id = ?", projectId);
      narrow("y.holder_session = ?", holderSession);
      narrow("y.claim_id = ?", claimId);
      return db.all<YieldRow>(
        `SELECT y.* FROM ${open ? ofHeld(db.dialect) : "yields y"} WHERE ${where.join(" AND ")} ORDER BY y.seq LIMIT ?`,
        ...params,
        page.limit,
      );
    },
  };
}

const ofHeld = ({ join }: Dialect) =>
  `scope_claims c ${join} sessions s ON s.id = c.holder_session LEFT JOIN tasks t ON t.id = c.task_id
   ${join} yields y ON y.claim_id = c.id`;
