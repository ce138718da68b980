import { z } from "zod";
import { cursor, id, itsProject, leaseProof, limit, projectId, reason, visibleText } from "./fields.js";
import { notices } from "./notice.js";
import { defineOperation } from "./operation.js";
import { SCOPES_MAX, scopeText } from "./scope-fields.js";

const YIELD_ANSWERS = ["yield", "hold", "narrow"] as const;

const asked = z.object({
  id: z.string(),
  claim_id: z.string(),
  project_id: z.string(),
  scope: z.string(),
  holder_agent_id: z.string(),
  holder_session_id: z.string(),
  asked_by_agent_id: z.string(),
  asked_by_session_id: z.string(),
  reason: z.string(),
  asked_at: z.string(),
  answer: z.enum(YIELD_ANSWERS).nullable().describe("Null: none yet, which means that it is held."),
  answer_reason: z.string().nullable(),
  answered_at: z.string().nullable(),
});

/** Asking a holder to let go (R38). What is let go goes to the first in line. */
export const yieldOperations = {
  request_yield: defineOperation({
    name: "request_yield",
    summary: "Ask who holds a scope to yield it. The holder is told, and decides; wait in line to get what is yielded.",
    method: "POST",
    path: "/v1/claims/:claim_id/yield",
    input: () => z.strictObject({ claim_id: id("a claim of a scope"), ...itsProject, reason: reason.optional() }),
    output: () => asked,
    errors: ["not_found", "reason_required", "lease_lost"],
    role: "worker",
    effect: "write",
    status: 201,
    otherwise: { status: 200, when: "your session asked this already and has no answer yet" },
    nulls: "absent",
  }),
  answer_yield: defineOperation({
    name: "answer_yield",
    summary:
      "Answer who asks you to yield: yield gives the scope back (a task's with the task), narrow keeps smaller scopes of it, hold keeps it all and says why.",
    method: "POST",
    path: "/v1/yields/:yield_id/answer",
    input: () =>
      z.strictObject({
        yield_id: id("what was asked"),
        ...itsProject,
        ...leaseProof,
        answer: z.enum(YIELD_ANSWERS),
        reason: visibleText(1000).optional().describe("Needed with hold."),
        scopes: z.array(scopeText).min(1).max(SCOPES_MAX).optional().describe("With narrow: what you keep, within it."),
        handoff: visibleText(100_000).optional().describe("With yield of a task's: a note for its next holder."),
      }),
    output: () => asked.extend({ notices }),
    errors: ["not_found", "invalid_scope", "scope_conflict", "reason_required", "lease_lost", "limit_exceeded"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  list_yields: defineOperation({
    name: "list_yields",
    summary: "What holders were asked to yield, oldest first.",
    method: "GET",
    path: "/v1/yields",
    input: () =>
      z.strictObject({
        project_id: projectId.optional(),
        holder_session_id: id("a session").optional().describe("Asked of that session."),
        open: z.boolean().optional().describe("true: those without an answer whose claim is still held."),
        limit,
        cursor: cursor.optional(),
      }),
    output: () => z.array(asked),
    errors: ["not_found", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
};
