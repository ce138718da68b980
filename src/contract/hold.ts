import { z } from "zod";
import { cursor, id, itsProject, limit, projectId, reason, time, whole } from "./fields.js";
import { defineOperation } from "./operation.js";
import { oneScope } from "./scope-fields.js";

/** The longest hold, seconds: 366 days. */
const HOLD_MAX = 31_622_400;
/** Agents that a hold may let pass. */
const ALLOWED_MAX = 100;

/** A hold as it stands in lists and refusals. */
export const holdRow = z.object({
  id: z.string(),
  project_id: z.string(),
  scope: z.string().nullable().describe("What is frozen; null: the whole project."),
  reason: z.string(),
  agent_id: z.string().describe("Who placed it."),
  agent_name: z.string(),
  allow_agent_ids: z.array(z.string()).describe("Whom it lets pass."),
  placed_at: z.string(),
  expires_at: z.string(),
  remaining_ms: z.number(),
  ended_at: z.string().nullable(),
  ended_how: z.enum(["lifted", "expired"]).nullable(),
});
export type HoldRecord = z.output<typeof holdRow>;

/** Freezing: no new claims on a scope or a project until a time (R41). */
export const holdOperations = {
  place_hold: defineOperation({
    name: "place_hold",
    summary:
      "Freeze a scope or a project until a time: new claims of it are refused, who holds something already goes on.",
    method: "POST",
    path: "/v1/holds",
    input: () =>
      z.strictObject({
        project_id: projectId.optional(),
        scope: oneScope.optional(),
        project: z.boolean().optional().describe("true: the whole project, tasks and scopes; instead of a scope."),
        reason,
        expires_at: time
          .optional()
          .describe("When it ends by itself, within 366 days; this or ttl_seconds is required."),
        ttl_seconds: whole(1, HOLD_MAX, "seconds").optional().describe("The same, counted from now."),
        allow_agent_ids: z
          .array(id("an agent that may claim nevertheless"))
          .max(ALLOWED_MAX, "must have at most 100 ids")
          .optional()
          .describe("Ids of agents that may claim nevertheless."),
      }),
    output: () => holdRow,
    errors: ["not_found", "invalid_scope", "limit_exceeded"],
    role: "coordinator",
    effect: "write",
    status: 201,
    nulls: "absent",
  }),
  list_holds: defineOperation({
    name: "list_holds",
    summary: "What is frozen now, why, by whom, until when.",
    method: "GET",
    path: "/v1/holds",
    input: () =>
      z.strictObject({
        project_id: projectId.optional().describe("Only holds placed in this project (id or key)."),
        ended: z.boolean().optional().describe("true: those that are over instead."),
        limit,
        cursor: cursor.optional(),
      }),
    output: () => z.array(holdRow),
    errors: ["not_found", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  lift_hold: defineOperation({
    name: "lift_hold",
    summary: "Lift one hold; others on the same scope stay. One that is over already is left as it is.",
    method: "DELETE",
    path: "/v1/holds/:hold_id",
    input: () => z.strictObject({ hold_id: id("the hold"), ...itsProject, reason: reason.optional() }),
    output: () => holdRow,
    errors: ["not_found"],
    role: "coordinator",
    effect: "write",
    nulls: "absent",
  }),
};
