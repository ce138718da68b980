import { z } from "zod";
import { leaseProof, visibleText } from "./fields.js";
import { defineOperation } from "./operation.js";
import { byTask, newTask, TASK_STATUS, task } from "./task.js";

/** Tasks of a chain that are shown. */
export const CHAIN_SHOWN = 1000;

const { parent_task_id: _parent, ...fields } = newTask.shape;
const childFields = {
  ...fields,
  project_id: fields.project_id.describe("Id or key of the project; the task's own where none is named."),
  plan: fields.plan.describe("Slug of the plan that it becomes a part of; the task's own where none is named."),
};

const chainLink = z.object({
  id: z.string(),
  content: z.string(),
  status: z.enum(TASK_STATUS),
  stalled: z.boolean(),
  parent_task_id: z.string().nullable(),
  depth: z.number().describe("0: the root."),
  delegated: z.boolean().describe("Its parent waits for it; else it is grouped under its parent only."),
  created_by_agent_id: z.string(),
  assigned_to_agent_id: z.string().nullable(),
  accountable_agent_id: z.string().nullable(),
  claimed_by_agent_id: z.string().nullable(),
});

/** Handing a part of one's task to others, and who does what for whom. */
export const delegationOperations = {
  delegate_task: defineOperation({
    name: "delegate_task",
    summary:
      "Give a part of the task you hold to another agent, as a task of its own. Your lease ends; the task waits as `delegated` and is yours to go on with when all its parts are completed.",
    method: "POST",
    path: "/v1/tasks/:task_id/delegate",
    input: () =>
      z.strictObject({
        ...byTask,
        ...leaseProof,
        ...childFields,
        handoff: visibleText(100_000).optional().describe("A note for whoever goes on with the task afterwards."),
      }),
    output: () => task.describe("The new task."),
    errors: [
      "not_found",
      "task_claimed",
      "task_closed",
      "lease_lost",
      "unknown_dependency",
      "dependency_cycle",
      "invalid_scope",
      "limit_exceeded",
    ],
    role: "worker",
    effect: "write",
    status: 201,
    nulls: "absent",
  }),
  get_task_chain: defineOperation({
    name: "get_task_chain",
    summary: "The tree that a task is in: who gave which part of it to whom, and how far each is.",
    method: "GET",
    path: "/v1/tasks/:task_id/chain",
    input: () => z.strictObject(byTask),
    output: () =>
      z.object({
        root_id: z.string(),
        depth: z.number().describe("Of the deepest task shown."),
        total_count: z.number().describe("Tasks shown."),
        completed_count: z.number(),
        truncated: z.boolean().describe(`There are more than ${CHAIN_SHOWN}; those nearest to the root are shown.`),
        chain: z.array(chainLink).describe("Each before its parts, oldest first."),
      }),
    errors: ["not_found"],
    role: "worker",
    effect: "read",
  }),
};
