import { z } from "zod";
import { cursor, id, itsProject, limit, projectId, text, visibleText, whole } from "./fields.js";
import { notices } from "./notice.js";
import { defineOperation } from "./operation.js";

/** So many characters may a session leave: what the next one should know, not a log. */
const FINDINGS_MAX = 4000;

export const session = z.object({
  id: z.string(),
  agent_id: z.string(),
  agent_name: z.string(),
  project_id: z.string().nullable(),
  state: z.enum(["open", "ended", "expired"]),
  implicit: z.boolean().describe("Opened by a call that named no session; never dies of silence."),
  parent_session_id: z.string().nullable().describe("The session whose end is also this one's."),
  share_with_children: z.boolean().describe("Its children may write what it holds."),
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
  findings: z.string().nullable().describe("What the session left for those who come after it."),
});
export type Session = z.output<typeof session>;

const bySession = { session_id: id("the session"), ...itsProject } as const;
const findings = () =>
  visibleText(FINDINGS_MAX)
    .optional()
    .describe("What those who come after should know; kept with the session, in place of what it left before.");

export const sessionOperations = {
  open_session: defineOperation({
    name: "open_session",
    summary:
      "Open a session: one run of one agent. Sessions hold; agents do not. One that is open already is resumed, with all it holds, by its resume_token or by the same harness_id.",
    method: "POST",
    path: "/v1/sessions",
    input: () =>
      z.strictObject({
        client: text(100).optional().describe("The program: claude-code, codex, my-worker …"),
        harness_id: text(200)
          .optional()
          .describe(
            "What the program calls this run. The agent's open session of the same name and parent is resumed.",
          ),
        resume_token: text(200)
          .optional()
          .describe(
            "From the answer that opened the session, or resumed it last: resumes it under a new harness_id, once.",
          ),
        parent_session_id: id("a session of yours that this one works for, and ends with").optional(),
        share_with_children: z.boolean().optional().describe("Let this session's children write what it holds."),
        project_id: projectId.optional(),
        host: text(255).optional(),
        cwd: text(4096).optional(),
        branch: text(255).optional(),
        worktree: text(4096).optional(),
        ttl_seconds: whole(30, 86_400, "seconds")
          .optional()
          .describe("Silence after which the session and all it holds end, 30..86400; 900 unless given."),
      }),
    output: () =>
      session.extend({
        resumed: z.boolean(),
        resume_token: z
          .string()
          .describe("Resumes the session once, whatever the program calls itself then. Shown once."),
      }),
    otherwise: { status: 200, when: "a session that was open already is resumed" },
    errors: ["not_found", "resume_token_used", "already_exists"],
    role: "worker",
    effect: "write",
    status: 201,
    secret: true,
    nulls: "absent",
  }),
  list_sessions: defineOperation({
    name: "list_sessions",
    summary: "List sessions, newest first; open ones unless asked otherwise.",
    method: "GET",
    path: "/v1/sessions",
    input: () =>
      z.strictObject({
        state: z.enum(["open", "ended", "expired", "any"]).default("open"),
        agent_id: id("the agent").optional(),
        project_id: projectId.optional(),
        parent_session_id: id("the parent whose children are listed").optional(),
        has_findings: z
          .boolean()
          .optional()
          .describe("Only those that left findings; false: only those that left none."),
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
    input: () => z.strictObject({ ...bySession, findings: findings() }),
    output: () =>
      session.extend({
        items: z.array(
          z.object({
            task_id: z.string().nullable().describe("Null for a scope that the session claimed by itself."),
            scope: z.string().nullable(),
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
    summary: "End the session and its children, and free all they hold, in one transaction.",
    method: "POST",
    path: "/v1/sessions/:session_id/end",
    input: () => z.strictObject({ ...bySession, findings: findings() }),
    output: () =>
      z.object({
        session_id: z.string(),
        children_ended: z.number(),
        tasks_released: z.number().describe("By the session and its children."),
        claims_released: z.number(),
      }),
    errors: ["not_found"],
    role: "worker",
    effect: "write",
  }),
};
