import { z } from "zod";
import { evidence, verdict } from "./evidence.js";
import {
  id,
  json,
  labels,
  leaseSeconds,
  projectId,
  reason,
  text,
  time,
  visibleText,
  waitSeconds,
  whole,
} from "./fields.js";
import { scopeMode, scopesWanted } from "./scope-fields.js";

export const TASK_STATUS = ["open", "claimed", "delegated", "completed", "failed", "cancelled"] as const;
export type TaskStatus = (typeof TASK_STATUS)[number];
export const WORK_STATE = ["working", "waiting_input", "errored"] as const;

/** Blockers that a task shows and one call may name; a task can have more. */
export const BLOCKERS_SHOWN = 1000;

/** Characters of a context as JSON: everyone who claims or lists the task reads them. */
export const CONTEXT_MAX = 100_000;
export const CONTEXT_TOO_LARGE = `must have at most ${CONTEXT_MAX.toLocaleString("en")} characters as JSON; keep large things elsewhere, and say here where`;
/** Versions of a context that are kept, the present one counted. */
export const CONTEXT_VERSIONS_KEPT = 100;

const priority = whole(1, 4).describe("4 urgent, 3 high, 2 normal, 1 low.");
const moment = z.string().nullable();

export const task = z.object({
  id: z.string(),
  content: z.string().describe("The title."),
  description: z.string().nullable(),
  project_id: z.string(),
  labels: z.array(z.string()),
  priority: z.number(),
  status: z
    .enum(TASK_STATUS)
    .describe(
      "A task whose lease died reads `open`, or `failed` when its attempts are used up; one whose holder delegated it reads `delegated` until what it waits for is completed.",
    ),
  ready: z.boolean().describe("It could be claimed now by whom it may go to."),
  stalled: z
    .boolean()
    .describe("It waits for a task that failed or was cancelled: nothing happens until somebody acts."),
  frozen: z.boolean().describe("It would be ready, but a hold on its project or scopes keeps you from claiming it."),
  lapsed: z.boolean().describe("Its last lease ended by the clock; the last holder is still shown."),
  depends_on: z.array(z.string()).describe(`Ids of its blockers, at most ${BLOCKERS_SHOWN}, oldest first.`),
  depends_on_count: z.number(),
  blocked_by: z.array(z.string()).describe("Those of them that aren't completed."),
  blocked_by_count: z.number(),
  plan: z.string().nullable().describe("The slug of its plan."),
  scopes: z
    .array(z.object({ scope: z.string(), mode: scopeMode }))
    .describe("What it will touch; who claims the task claims these with it."),
  context: z.record(z.string(), json).nullable(),
  context_version: z.number().describe("Grows by one with every change of the context; 0 when it never had any."),
  requires_verdict: z.boolean().describe("It is completed only with a passing verdict that isn't stale."),
  assigned_to_agent_id: z.string().nullable(),
  accountable_agent_id: z
    .string()
    .nullable()
    .describe("Who answers for delegated work: who delegated the task, or gave it out as a part of its own."),
  created_by_agent_id: z.string(),
  parent_task_id: z.string().nullable().describe("The task it is a part of."),
  claimed_by_agent_id: z.string().nullable(),
  claimed_by_session_id: z.string().nullable(),
  claimed_at: moment,
  lease_id: z.string().nullable().describe("Names this one grant."),
  fence: z.number().describe("Grows with every grant of this task."),
  lease_expires_at: moment,
  lease_remaining_ms: z.number().nullable().describe("Time left at `Server-Now`; count it down on a monotonic clock."),
  state: z.enum(WORK_STATE).nullable(),
  state_detail: z.string().nullable(),
  progress: json.nullable(),
  checkpoint: json.nullable().describe("What the next holder needs to go on."),
  handoff_note: z.string().nullable(),
  cancel_requested: z.boolean(),
  cancel_reason: z.string().nullable(),
  attempts: z.number(),
  max_attempts: z.number(),
  failure_reason: z.string().nullable(),
  result: json.nullable(),
  evidence: z.array(evidence).describe("What shows the result, oldest first."),
  verdict: verdict.nullable().describe("How it was judged last."),
  closed_by_agent_id: z.string().nullable(),
  due_date: moment,
  not_before: moment,
  created_at: z.string(),
  updated_at: z.string(),
  completed_at: moment,
  recurrence_id: z.string().nullable().describe("The recurrence that made it."),
  tick_at: moment.describe("The recurrence's tick that it was made for; it may have been made later."),
  version: z.number(),
});
export type Task = z.output<typeof task>;

export const blockerIds = z
  .array(id("a task it depends on"))
  .max(BLOCKERS_SHOWN, "must have at most 1,000 ids")
  .describe("Ids of tasks that must be completed first.");

const planSlug = text(64);

export const taskContext = z
  .record(z.string(), json)
  .refine((context) => JSON.stringify(context).length <= CONTEXT_MAX, CONTEXT_TOO_LARGE);

/** What a task may be created with. */
export const newTask = z.strictObject({
  content: visibleText(2000).describe("What is to be done: the title, 1..2,000 characters."),
  description: text(1_000_000).optional(),
  project_id: projectId.optional(),
  labels: labels.optional(),
  priority: priority.optional(),
  assigned_to_agent_id: id("the agent whose queue it belongs in").optional(),
  due_date: time.optional(),
  not_before: time.optional().describe("Nobody gets it before this time."),
  max_attempts: whole(1, 100).optional(),
  depends_on: blockerIds.optional().describe("Ids of tasks that must be completed before it can be claimed."),
  plan: planSlug.optional().describe("Slug of a plan of the project that it becomes a part of."),
  parent_task_id: id("the task it is a part of")
    .optional()
    .describe("Groups it under that task, which doesn't wait for it; see `POST /v1/tasks/:task_id/delegate`."),
  scopes: scopesWanted
    .optional()
    .describe("What it will touch, as `path:src/auth`: claiming the task claims these with it, or neither."),
  context: taskContext.optional().describe("Data for whoever does it."),
  requires_verdict: z
    .boolean()
    .optional()
    .describe("true: it is completed only with a passing verdict that isn't stale."),
});
export type NewTask = z.output<typeof newTask>;

const taskId = id("the task");
export const byTask = { task_id: taskId } as const;

export const taskChanges = {
  content: newTask.shape.content.optional(),
  description: newTask.shape.description.nullable(),
  project_id: newTask.shape.project_id,
  labels: newTask.shape.labels.nullable(),
  priority: newTask.shape.priority,
  assigned_to_agent_id: newTask.shape.assigned_to_agent_id.nullable(),
  due_date: newTask.shape.due_date.nullable(),
  not_before: newTask.shape.not_before.nullable(),
  max_attempts: newTask.shape.max_attempts,
  depends_on: blockerIds.nullable().optional().describe("Exactly these from now on."),
  scopes: newTask.shape.scopes.nullable(),
  context: newTask.shape.context.nullable(),
  requires_verdict: newTask.shape.requires_verdict,
} as const;

/** Which tasks a claim or a list speaks of. */
export const claimFilter = {
  project_id: projectId.optional().describe("Only this project (id or key); else all projects of the workspace."),
  labels: labels.optional().describe("Only tasks that carry all of these."),
  plan: planSlug
    .optional()
    .describe("Only steps of this plan (of the project named, else the session's or `default`)."),
} as const;

export const claimOptions = {
  lease_seconds: leaseSeconds.optional(),
  wait_seconds: waitSeconds.optional(),
} as const;

/** A forced action: without the reason it is refused with the code that says so. */
export const withReason = z.strictObject({ ...byTask, reason: reason.optional() });
