import { z } from "zod";
import { claimRow } from "./claim-row.js";
import { id, limit, projectId } from "./fields.js";
import { holdRow } from "./hold.js";
import { defineOperation } from "./operation.js";
import { session } from "./session.js";
import { unlandedRow } from "./unlanded.js";
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
      "Who is doing what, where, in which state: the open sessions, newest first, with the tasks and scopes that each holds and what it waits for; what is frozen; and what has changed on branches that aren't on their base yet.",
    method: "GET",
    path: "/v1/presence",
    input: () =>
      z.strictObject({
        project_id: projectId.optional(),
        agent_id: id("an agent").optional(),
        session_id: id("a session").optional(),
        limit: limit.describe("Of sessions, of holds and of unlanded work, 1..1000 each."),
      }),
    output: () =>
      z.object({
        sessions: z.array(
          session.extend({
            seen_at: z.string(),
            tasks: z.array(taskHeld),
            claims: z.array(claimRow).describe("Scopes; a task's, too."),
            waits: z.array(waitRow),
          }),
        ),
        more: z.boolean().describe("There are more sessions than the limit."),
        holds: z.array(holdRow),
        unlanded: z.array(unlandedRow),
      }),
    errors: ["not_found"],
    role: "worker",
    effect: "read",
  }),
};
