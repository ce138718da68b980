import { z } from "zod";
import { VERDICT } from "./evidence.js";
import { cursor, limit, projectId, visibleText } from "./fields.js";
import { defineOperation } from "./operation.js";
import { newTask, TASK_STATUS } from "./task.js";

/** Steps of one plan, and of one call. */
const STEPS_MAX = 100_000;

const slug = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    "must be 1..64 of a-z, 0-9, dot, underscore, hyphen, and begin with a letter or digit",
  )
  .describe("The plan's name in its project.");

const stepKey = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, "must be 1..64 of letters, digits, dot, underscore, hyphen")
  .describe("The step's name in its plan.");

/** A step as it is written down: a task's fields, under a key that other steps can wait for. */
export const planStep = newTask.omit({ project_id: true, plan: true, depends_on: true }).extend({
  key: stepKey,
  depends_on: z
    .array(z.string().max(64, "must name a step by its key, or a task by its id"))
    .max(10_000, "must hold at most 10,000 steps")
    .optional()
    .describe("Keys of steps of this plan, or ids of other tasks, that must be completed first."),
});
export type PlanStep = z.output<typeof planStep>;

const steps = z
  .array(planStep)
  .min(1, "must hold at least one step")
  .max(STEPS_MAX, `must hold at most ${STEPS_MAX.toLocaleString("en")} steps`);

const progress = {
  total: z.number(),
  completed: z.number(),
  claimable: z.number().describe("Could be claimed now."),
  in_flight: z.number().describe("Held by somebody, or delegated."),
  blocked: z.number().describe("Waiting for steps that are under way or to come."),
  stalled: z.number().describe("Waiting for what failed or was cancelled: nothing happens without you."),
  scheduled: z.number().describe("Waiting for their time."),
  frozen: z.number().describe("Kept from being claimed by a hold."),
  failed: z.number(),
  cancelled: z.number(),
};

const planRecord = {
  id: z.string(),
  slug: z.string(),
  title: z.string().nullable(),
  project_id: z.string(),
  created_by_agent_id: z.string(),
  created_at: z.string(),
  progress: z.object(progress),
};

const shownStep = z.object({
  key: z.string().nullable().describe("Null for a task that was put into the plan by itself."),
  task_id: z.string(),
  content: z.string(),
  status: z.enum(TASK_STATUS),
  ready: z.boolean(),
  blocked: z.boolean(),
  frozen: z.boolean(),
  stalled: z.boolean(),
  claimed_by_agent_id: z.string().nullable(),
  requires_verdict: z.boolean(),
  verdict: z.enum(VERDICT).nullable().describe("How it was judged last."),
  verdict_stale: z.boolean().describe("The verdict is about a commit that is no longer its branch's head."),
  waits_for: z.array(z.string()).describe("Ids of the tasks it waits for, in this plan or outside."),
});

const planRow = z.object(planRecord);
export const plan = planRow.extend({
  critical_path: z
    .array(z.string())
    .describe(
      "Ids of the longest chain of steps that are still to be completed, first to last: no number of workers is quicker.",
    ),
  claimable_at_once: z
    .number()
    .describe(
      "How many of the claimable steps can be claimed beside each other and beside the plan's steps that are held: in hand-out order, each is counted whose scopes overlap none of those before it. At least so many, where patterns would have to be compared over 200,000 times.",
    ),
  widest_front: z
    .number()
    .describe(
      "Steps that can run at once at most, with a worker for each and steps of equal length, whatever their scopes: more workers than this are idle.",
    ),
  widest_front_with_scopes: z
    .number()
    .describe(
      "The same where steps whose scopes overlap run one after another, counted in hand-out order: so many workers have something to do.",
    ),
  steps: z.array(shownStep).describe("In the order in which they were written."),
});
export type Plan = z.output<typeof plan>;

const applied = plan.extend({ steps_created: z.number().describe("0 when the plan was there already, as it is.") });

const byPlan = { slug, project_id: projectId.optional() };
const refusals = ["not_found", "already_exists", "unknown_dependency", "dependency_cycle", "invalid_scope"] as const;

/** A plan is a named set of tasks with dependencies, written down as one. */
export const planOperations = {
  create_plan: defineOperation({
    name: "create_plan",
    summary: "Create a plan's steps as tasks, all or none. The same plan again changes nothing.",
    method: "POST",
    path: "/v1/plans",
    input: () => z.strictObject({ ...byPlan, title: visibleText(2000).optional(), steps }),
    output: () => applied,
    errors: refusals,
    role: "worker",
    effect: "write",
    status: 201,
    nulls: "absent",
    large: true,
  }),
  add_plan_steps: defineOperation({
    name: "add_plan_steps",
    summary: "Add steps to a plan, all or none. Steps that are there already, as they are, stay.",
    method: "POST",
    path: "/v1/plans/:slug/steps",
    input: () => z.strictObject({ ...byPlan, steps }),
    output: () => applied,
    errors: refusals,
    role: "worker",
    effect: "write",
    status: 201,
    nulls: "absent",
    large: true,
  }),
  list_plans: defineOperation({
    name: "list_plans",
    summary: "List plans with how far they are, oldest first; without a project those of all.",
    method: "GET",
    path: "/v1/plans",
    input: () => z.strictObject({ project_id: projectId.optional(), limit, cursor: cursor.optional() }),
    output: () => z.array(planRow),
    errors: ["not_found", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  get_plan: defineOperation({
    name: "get_plan",
    summary: "Read a plan: its steps with their states, how far it is, what bounds it.",
    method: "GET",
    path: "/v1/plans/:slug",
    input: () => z.strictObject(byPlan),
    output: () => plan,
    errors: ["not_found"],
    role: "worker",
    effect: "read",
  }),
  get_plan_graph: defineOperation({
    name: "get_plan_graph",
    summary: "The plan's steps and what waits for what: as data, or as text for Mermaid or Graphviz.",
    method: "GET",
    path: "/v1/plans/:slug/graph",
    input: () => z.strictObject({ ...byPlan, format: z.enum(["json", "mermaid", "dot"]).default("json") }),
    output: () =>
      z.object({
        format: z.enum(["json", "mermaid", "dot"]),
        nodes: z.array(shownStep.omit({ waits_for: true }).extend({ in_plan: z.boolean() })),
        edges: z.array(z.object({ from: z.string(), to: z.string() })).describe("Ids: `to` waits for `from`."),
        text: z.string().nullable().describe("The drawing, for `mermaid` and `dot`."),
      }),
    errors: ["not_found"],
    role: "worker",
    effect: "read",
  }),
};
