import { z } from "zod";
import { AGENT_NAME, AGENT_NAME_RULE } from "./agent-name.js";
import { cursor, id, limit, reason, visibleText, whole } from "./fields.js";
import { defineOperation, ROLES } from "./operation.js";

export const agent = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  display_name: z.string().nullable(),
  description: z.string().nullable(),
  created_at: z.string(),
  keys: z
    .array(z.object({ id: z.string(), created_at: z.string(), expires_at: z.string().nullable() }))
    .describe("Its live keys by their public part."),
});
export type Agent = z.output<typeof agent>;

const agentWithKey = agent.extend({ key: z.string().describe("The secret key; it is shown this once.") });
const name = z.string().regex(AGENT_NAME, AGENT_NAME_RULE);
const byAgent = { agent_id: id("the agent") } as const;
const described = { display_name: visibleText(200), description: visibleText(2000) } as const;
const role = z.enum(ROLES);

export const agentOperations = {
  create_agent: defineOperation({
    name: "create_agent",
    summary: "Add an agent; the answer carries its key, once.",
    method: "POST",
    path: "/v1/agents",
    input: () =>
      z.strictObject({
        name,
        role: role.default("worker"),
        display_name: described.display_name.optional(),
        description: described.description.optional(),
      }),
    output: () => agentWithKey,
    errors: ["already_exists"],
    role: "admin",
    effect: "write",
    status: 201,
    secret: true,
    nulls: "absent",
  }),
  list_agents: defineOperation({
    name: "list_agents",
    summary: "List the workspace's agents.",
    method: "GET",
    path: "/v1/agents",
    input: () => z.strictObject({ limit, cursor: cursor.optional() }),
    output: () => z.array(agent),
    errors: ["invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  get_me: defineOperation({
    name: "get_me",
    summary: "Who the key says I am.",
    method: "GET",
    path: "/v1/agent/me",
    input: () => z.strictObject({}),
    output: () => agent.extend({ workspace: z.string() }),
    errors: [],
    role: "worker",
    effect: "read",
  }),
  get_agent: defineOperation({
    name: "get_agent",
    summary: "Read one agent.",
    method: "GET",
    path: "/v1/agents/:agent_id",
    input: () => z.strictObject(byAgent),
    output: () => agent,
    errors: ["not_found"],
    role: "worker",
    effect: "read",
  }),
  update_agent: defineOperation({
    name: "update_agent",
    summary: "Rename an agent or change its role; what it holds stays held.",
    method: "PATCH",
    path: "/v1/agents/:agent_id",
    input: () =>
      z.strictObject({
        ...byAgent,
        name: name.optional(),
        role: role.optional(),
        display_name: described.display_name.nullable().optional(),
        description: described.description.nullable().optional(),
      }),
    output: () => agent,
    errors: ["not_found", "already_exists"],
    role: "admin",
    effect: "write",
    nulls: "clear",
  }),
  delete_agent: defineOperation({
    name: "delete_agent",
    summary:
      "Delete an agent; with `force` what it holds is revoked in the same transaction. What was assigned to it and is not closed is anybody's.",
    method: "DELETE",
    path: "/v1/agents/:agent_id",
    input: () =>
      z.strictObject({
        ...byAgent,
        force: z.boolean().optional().describe("true: also one that holds something."),
        reason: reason.optional(),
      }),
    output: () =>
      z.object({
        deleted: z.literal(true),
        id: z.string(),
        tasks_released: z.number(),
        tasks_unassigned: z.number().describe("Tasks that only it could have claimed."),
      }),
    errors: ["not_found", "agent_has_claims"],
    role: "admin",
    effect: "write",
  }),
  rotate_agent_key: defineOperation({
    name: "rotate_agent_key",
    summary: "Give the agent a new key; the old one works on for the grace time.",
    method: "POST",
    path: "/v1/agents/:agent_id/rotate-key",
    input: () =>
      z.strictObject({
        ...byAgent,
        grace_seconds: whole(0, 604_800, "seconds").default(3600),
      }),
    output: () => agentWithKey,
    errors: ["not_found"],
    role: "admin",
    effect: "write",
    secret: true,
    nulls: "absent",
  }),
  revoke_agent_key: defineOperation({
    name: "revoke_agent_key",
    summary: "Revoke the agent's keys at once, all or the one named.",
    method: "POST",
    path: "/v1/agents/:agent_id/revoke-key",
    input: () =>
      z.strictObject({
        ...byAgent,
        key_id: z.string().min(1).max(64).optional().describe("The key's public part; else all."),
        release: z.boolean().optional().describe("Also free what the agent holds."),
        reason: reason.optional().describe("For those who lose what they hold, and for the history."),
      }),
    output: () => z.object({ revoked: z.number(), tasks_released: z.number() }),
    errors: ["not_found"],
    role: "admin",
    effect: "write",
    nulls: "absent",
  }),
};
