import { z } from "zod";
import { claimRow } from "./claim-row.js";
import { cursor, id, limit, projectId } from "./fields.js";
import { defineOperation } from "./operation.js";
import { session } from "./session.js";
import { waitRow } from "./wait.js";

const taskHeld = z.object({
  id: z.string(),
  content: z.string(),
  state: z.string().nullable().describe("How it goes: working, waiting_input, errored."),
  state_detail: z.string().nullable(),
  progress: z.json(),
  lease_expires_at: z.string().nullable(),
  lease_remaining_ms: z.number().nullable(),
});

/** One answer to who is doing what, where, in which state (R53). */
export const presenceOperations = {
  get_presence: defineOperation({
    name: "get_presence",
    summary:
      "Who is doing what, where, in which state: the open sessions, newest first, with the tasks and scopes that each holds and what it waits for.",
    method: "GET",
    path: "/v1/presence",
    input: () =>
      z.strictObject({
        project_id: projectId.optional(),
        agent_id: id("an agent").optional(),
        session_id: id("a session").optional(),
        limit,
        cursor: cursor.optional(),
      }),
    output: () =>
      z.array(
        session.extend({
          seen_at: z.string(),
          tasks: z.array(taskHeld),
          claims: z.array(claimRow).describe("Scopes; a task's, too."),
          waits: z.array(waitRow),
        }),
      ),
    errors: ["not_found", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
};
