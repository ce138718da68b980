import { z } from "zod";
import { claimRow } from "./claim-row.js";
import { cursor, id, itsProject, limit, projectId, reason, waitSeconds } from "./fields.js";
import { holdRow } from "./hold.js";
import { notices } from "./notice.js";
import { defineOperation } from "./operation.js";
import { oneScope, scopeMode } from "./scope-fields.js";
import { unlandedBeside } from "./unlanded.js";

/** How a ticket ended; what is in nobody's line any more. */
export const WAIT_ENDS = ["granted", "offer_expired", "cancelled", "session_ended", "task_lost"] as const;

/** What somebody waits for, and where in line. */
export const waitRow = z.object({
  ticket: z.string(),
  state: z.enum(["waiting", "offered", "granted", "ended"]),
  position: z.number().nullable().describe("1: the next. Null when it waits no more."),
  project_id: z.string(),
  scopes: z.array(z.object({ scope: z.string(), mode: scopeMode })),
  intent: z.string(),
  priority: z.number(),
  agent_id: z.string(),
  agent_name: z.string(),
  session_id: z.string(),
  task_id: z.string().nullable(),
  asked_at: z.string(),
  offer_expires_at: z.string().nullable(),
  offer_remaining_ms: z.number().nullable(),
  ended_at: z.string().nullable(),
  ended_how: z.enum(WAIT_ENDS).nullable(),
});
const answered = waitRow.extend({
  behind: z.array(claimRow).describe("Who is in its way: those who hold, and those before it in line."),
  holds: z.array(holdRow).describe("What of it is frozen: nothing is offered before these have ended."),
  claims: z.array(claimRow).describe("What it was granted."),
  unlanded: unlandedBeside.optional(),
  notices,
});

const ticket = id("a wait, as the claim gave it");

/** Waiting in line for scopes (R35, R36, R40). `claim_scopes` with `wait` gets into it. */
export const waitOperations = {
  list_waits: defineOperation({
    name: "list_waits",
    summary: "Who waits for which scopes, first those who are next.",
    method: "GET",
    path: "/v1/waits",
    input: () =>
      z.strictObject({
        project_id: projectId.optional(),
        agent_id: id("an agent").optional(),
        session_id: id("a session").optional(),
        scope: oneScope.optional().describe("Only those that wait for what overlaps it."),
        limit,
        cursor: cursor.optional(),
      }),
    output: () => z.array(waitRow),
    errors: ["not_found", "invalid_scope", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  get_wait: defineOperation({
    name: "get_wait",
    summary:
      "Where a ticket is in line, and who is before it. With wait_seconds its session waits there, and takes what it is offered.",
    method: "GET",
    path: "/v1/waits/:ticket",
    input: () => z.strictObject({ ticket, ...itsProject, wait_seconds: waitSeconds.optional() }),
    output: () => answered,
    errors: ["not_found", "lease_lost", "limit_exceeded"],
    role: "worker",
    effect: "write",
  }),
  accept_wait: defineOperation({
    name: "accept_wait",
    summary: "Take what a ticket is offered; one that isn't offered anything is answered as it is.",
    method: "POST",
    path: "/v1/waits/:ticket/accept",
    input: () => z.strictObject({ ticket, ...itsProject }),
    output: () => answered,
    errors: ["not_found", "lease_lost", "limit_exceeded"],
    role: "worker",
    effect: "write",
  }),
  cancel_wait: defineOperation({
    name: "cancel_wait",
    summary: "Leave the line. A coordinator may take anybody out of it.",
    method: "DELETE",
    path: "/v1/waits/:ticket",
    input: () => z.strictObject({ ticket, ...itsProject }),
    output: () => answered,
    errors: ["not_found", "lease_lost"],
    role: "worker",
    effect: "write",
  }),
  grant_wait: defineOperation({
    name: "grant_wait",
    summary: "Overrule the line: give a ticket its scopes now. Who holds them loses them, and is told why.",
    method: "POST",
    path: "/v1/waits/:ticket/grant",
    input: () => z.strictObject({ ticket, ...itsProject, reason: reason.optional() }),
    output: () => answered,
    errors: ["not_found", "reason_required", "lease_lost", "limit_exceeded"],
    role: "coordinator",
    effect: "write",
    nulls: "absent",
  }),
};
