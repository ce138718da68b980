import { z } from "zod";
import { cursor, id, limit, projectId, text, whole } from "./fields.js";
import { notices } from "./notice.js";
import { defineOperation } from "./operation.js";

export const session = z.object({
  id: z.string(),
  agent_id: z.string(),
  agent_name: z.string(),
  project_id: z.string().nullable(),
  state: z.enum(["open", "ended", "expired"]),
  implicit: z.boolean().describe("Opened by a call that named no session; never dies of silence."),
  client: z.string().nullable(),
  harness_id: z.string().nullable(),
  host: z.string().nullable(),
  cwd: z.string().nullable(),
  branch: z.string().nullable(),
  worktree: z.string().nullable(),
  ttl_seconds: z.number().nullable(),
  started_at: z.string(),
  expires_at: z.string().nullable(),
  remaining_ms: z.number().nullable(),
  ended_at: z.string().nullable(),
  tasks_held: z.number(),
});
export type Session = z.output<typeof session>;

const bySession = { session_id: id("the session") } as const;

export const sessionOperations = {
  open_session: defineOperation({
    name: "open_session",
    summary: "Open a session: one run of one agent. Sessions hold; agents do not.",
    method: "POST",
    path: "/v1/sessions",
    input: () =>
      z.strictObject({
        client: text(100).optional().describe("The program: claude-code, codex, my-worker …"),
        harness_id: text(200).optional(),
        project_id: projectId.optional(),
        host: text(255).optional(),
        cwd: text(4096).optional(),
        branch: text(255).optional(),
        worktree: text(4096).optional(),
        ttl_seconds: whole(30, 86_400, "seconds")
          .default(900)
          .describe("Silence after which the session and all it holds end, 30..86400."),
      }),
    output: () => session,
    errors: ["not_found"],
    role: "worker",
    effect: "write",
    status: 201,
    nulls: "absent",
  }),
  list_sessions: defineOperation({
    name: "list_sessions",
    summary: "List sessions, newest first; open ones unless asked otherwise.",
    method: "GET",
    path: "/v1/sessions",
    input: () =>
      z.strictObject({
        state: z.enum(["open", "ended", "expired"]).default("open"),
        agent_id: id("the agent").optional(),
        limit,
        cursor: cursor.optional(),
      }),
    output: () => z.array(session),
    errors: ["not_found", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  get_session: defineOperation({
    name: "get_session",
    summary: "Read one session.",
    method: "GET",
    path: "/v1/sessions/:session_id",
    input: () => z.strictObject(bySession),
    output: () => session.extend({ notices }),
    errors: ["not_found"],
    role: "worker",
    effect: "read",
  }),
  heartbeat_session: defineOperation({
    name: "heartbeat_session",
    summary: "A sign of life that renews everything the session holds, with an answer per item.",
    method: "POST",
    path: "/v1/sessions/:session_id/heartbeat",
    input: () => z.strictObject(bySession),
    output: () =>
      session.extend({
        items: z.array(
          z.object({
            task_id: z.string(),
            lease_id: z.string(),
            outcome: z.enum(["renewed", "lost"]),
            reason: z.string().nullable(),
            lease_expires_at: z.string().nullable(),
            lease_remaining_ms: z.number().nullable(),
          }),
        ),
        notices,
      }),
    errors: ["not_found"],
    role: "worker",
    effect: "write",
    heartbeat: true,
  }),
  end_session: defineOperation({
    name: "end_session",
    summary: "End the session and free all it holds, in one transaction.",
    method: "POST",
    path: "/v1/sessions/:session_id/end",
    input: () => z.strictObject(bySession),
    output: () => z.object({ session_id: z.string(), tasks_released: z.number(), claims_released: z.number() }),
    errors: ["not_found"],
    role: "worker",
    effect: "write",
  }),
};
