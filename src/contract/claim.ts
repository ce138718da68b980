import { z } from "zod";
import { claimRow } from "./claim-row.js";
import { cursor, id, limit, projectId, text, whole } from "./fields.js";
import { defineOperation } from "./operation.js";
import { historyEntry } from "./task-records.js";

const claimFilters = z.strictObject({
  agent_id: id("the holder").optional(),
  session_id: id("the holding session").optional(),
  project_id: projectId.optional(),
  scope: z
    .string()
    .max(4096)
    .optional()
    .describe("What lies at or under this scope; of a kind that projects share, whatever project it was claimed from."),
  overlapping: z.boolean().optional().describe("true: also what covers the scope, or overlaps it as a pattern."),
  kind: text(32).optional().describe("`task`, or a scope's kind, as `path`."),
  limit,
  cursor: cursor.optional(),
});

/** Who asks for a count means all; a hundred thousand rows in one answer are still too many. */
const COUNTED_DEFAULT = 1000;

export const claimOperations = {
  list_claims: defineOperation({
    name: "list_claims",
    summary: "Everything held now: who, what, why, since, until.",
    method: "GET",
    path: "/v1/claims",
    input: () => claimFilters,
    output: () => z.array(claimRow),
    errors: ["not_found", "invalid_cursor", "invalid_scope"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  count_claims: defineOperation({
    name: "count_claims",
    summary: "The claims table in the older form `{claims, count}`: `count` is how many rows this answer has.",
    method: "GET",
    path: "/v1/coordination/claims",
    input: () =>
      claimFilters.extend({
        limit: whole(1, COUNTED_DEFAULT).default(COUNTED_DEFAULT).describe(`Rows a page, 1..${COUNTED_DEFAULT}.`),
      }),
    output: () => z.object({ claims: z.array(claimRow), count: z.number() }),
    errors: ["not_found", "invalid_cursor", "invalid_scope"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  list_events: defineOperation({
    name: "list_events",
    summary: "The log of what happened, oldest first, after a cursor.",
    method: "GET",
    path: "/v1/events",
    input: () =>
      z.strictObject({
        after: z
          .string()
          .regex(/^\d{1,15}$/, "must be an event's id")
          .optional()
          .describe("Events after this id; without it from the oldest kept."),
        newest: z
          .boolean()
          .optional()
          .describe("true: the newest `limit` events, still oldest first; where reading from now on starts."),
        types: z.array(z.string().min(1).max(100)).max(100).optional().describe("Only these types."),
        project_id: projectId.optional(),
        task_id: id("the task").optional(),
        limit,
      }),
    output: () => z.array(historyEntry),
    errors: ["not_found"],
    role: "worker",
    effect: "read",
  }),
};
