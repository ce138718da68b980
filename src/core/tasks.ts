import type { z } from "zod";
import { DibsError, invalidInput } from "../contract/errors.js";
import type { Operations } from "../contract/operations.js";
import type { NewTask } from "../contract/task.js";
import { recordUpdate } from "./assignments.js";
import type { Context, Handler } from "./context.js";
import { cursorAfter, pageOf } from "./cursor.js";
import { record } from "./events.js";
import { roleAtLeast } from "./identity.js";
import { newId } from "./ids.js";
import { holds, type LeaseProof, leaseLost } from "./leases.js";
import { agentOf, requireNamed } from "./named.js";
import { projectOf } from "./projects.js";
import { heldByOther, quoted } from "./refusals.js";
import { type NewTaskRow, type ProjectRow, type TaskRow, withChange } from "./rows.js";
import { queuePlace, taskState } from "./task-state.js";
import { taskView } from "./task-view.js";
import type { TaskChange, TaskFilter } from "./verbs.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;
const millis = (time: string | undefined) => (time === undefined ? null : Date.parse(time));

/** The task, or 404; another workspace's answers like an unknown one (R47). */
export async function taskOf(context: Context, id: string): Promise<TaskRow> {
  const row = await context.tx.tasks.byId(context.workspaceId, id);
  if (row) return row;
  throw new DibsError("not_found", `There is no task ${id}; see GET /v1/tasks (dibs task list).`, {});
}

async function mayAssign(context: Context, agentId: string | null | undefined): Promise<void> {
  if (agentId === undefined || agentId === null) return;
  await agentOf(context, agentId);
  if (agentId !== context.agent.id && !roleAtLeast(context.role, "coordinator")) {
    throw new DibsError("forbidden", "Assigning work to another agent needs the role coordinator.", {});
  }
}

function newRow(context: Context, input: NewTask, project: ProjectRow): NewTaskRow {
  const notBefore = millis(input.not_before);
  return {
    id: newId(context.nowMs),
    workspace_id: context.workspaceId,
    project_id: project.id,
    priority: input.priority ?? 2,
    ...queuePlace(notBefore, context.nowMs),
    assigned_to: input.assigned_to_agent_id ?? "",
    created_by: context.agent.id,
    max_attempts: input.max_attempts ?? context.settings.max_attempts,
    created_at: context.nowMs,
    not_before: notBefore,
    due_date: millis(input.due_date),
    content: input.content,
    description: input.description ?? null,
    labels: JSON.stringify([...new Set(input.labels ?? [])]),
    context: input.context === undefined ? null : JSON.stringify(input.context),
  };
}

const UNCLAIMED: TaskRow = {
  seq: 0,
  id: "",
  workspace_id: "",
  project_id: "",
  priority: 2,
  status: "open",
  queue: null,
  wakes_at: null,
  assigned_to: "",
  created_by: "",
  attempts: 0,
  max_attempts: 0,
  version: 1,
  created_at: 0,
  updated_at: 0,
  closed_at: null,
  closed_by: null,
  not_before: null,
  due_date: null,
  recurrence_id: null,
  tick_at: null,
  cancel_requested: 0,
  state: null,
  lease_id: null,
  fence: 0,
  holder_agent: null,
  holder_session: null,
  claimed_at: null,
  lease_seconds: null,
  lease_until: null,
  lapsed: 0,
  content: "",
  description: null,
  labels: "[]",
  context: null,
  state_detail: null,
  progress: null,
  checkpoint: null,
  handoff_note: null,
  failure_reason: null,
  result: null,
  cancel_reason: null,
  session_expires_at: null,
};

/** A row as it reads right after its insertion. */
function freshTask(row: NewTaskRow, seq: number): TaskRow {
  return Object.assign(withChange(UNCLAIMED, row), { seq, updated_at: row.created_at });
}

async function createAll(context: Context, inputs: readonly NewTask[]): Promise<TaskRow[]> {
  const rows: { row: NewTaskRow; labels: string[] }[] = [];
  // A thousand tasks mostly name the same project.
  const projects = new Map<string | undefined, ProjectRow>();
  for (const input of inputs) {
    await mayAssign(context, input.assigned_to_agent_id);
    const project = projects.get(input.project_id) ?? (await projectOf(context, input.project_id));
    projects.set(input.project_id, project);
    rows.push({ row: newRow(context, input, project), labels: input.labels ?? [] });
  }
  const created: TaskRow[] = [];
  for (const { row, labels } of rows) {
    const task = freshTask(row, await context.tx.tasks.insert(row, labels));
    await record(context, "task.created", task, { content: task.content, priority: task.priority });
    created.push(task);
  }
  context.woke();
  return created;
}

export const create_task: Handler<Input<"create_task">> = async (context, input) => {
  const [task] = await createAll(context, [input]);
  return { body: taskView(task as TaskRow, context.nowMs) };
};

export const create_tasks: Handler<Input<"create_tasks">> = async (context, input) => {
  const tasks = await createAll(context, input.tasks);
  return { body: tasks.map((task) => taskView(task, context.nowMs)) };
};

export const get_task: Handler<Input<"get_task">> = async (context, input) => ({
  body: taskView(await taskOf(context, input.task_id), context.nowMs),
});

export const list_tasks: Handler<Input<"list_tasks">> = async (context, input) => {
  const inQueue = input.ready || input.claimed !== undefined || input.status === "open" || input.status === "claimed";
  const sort = input.sort ?? (inQueue ? "handout" : "created");
  const page = pageOf(`tasks:${sort}`, input);
  await requireNamed(context, { agent_id: input.assigned_to });
  const filter: TaskFilter = {
    sort,
    ...(input.project_id === undefined ? {} : { projectId: (await projectOf(context, input.project_id)).id }),
    ...(input.assigned_to === undefined ? {} : { assignedTo: input.assigned_to }),
    ...pick(input, ["status", "ready", "lapsed", "claimed", "label", "search"]),
  };
  const rows = await context.tx.tasks.list(context.workspaceId, filter, page, context.nowMs);
  const position = (row: TaskRow) => (sort === "handout" ? [row.priority, row.seq] : [row.seq]);
  return {
    body: rows.map((row) => taskView(row, context.nowMs)),
    ...cursorAfter(`tasks:${sort}`, rows, page, position),
  };
};

function pick<T extends object, K extends keyof T>(record: T, keys: readonly K[]): Partial<Pick<T, K>> {
  return Object.fromEntries(
    keys.filter((key) => record[key] !== undefined).map((key) => [key, record[key]]),
  ) as Partial<Pick<T, K>>;
}

/**
 * Whether the caller may change the task (R19, R46): its holder; nobody else while it is held; a coordinator; a worker
 * only what it created or was assigned.
 */
export async function mayChange(context: Context, row: TaskRow, proof: LeaseProof = {}): Promise<void> {
  if (holds(context, row, proof)) return;
  if (taskState(row, context.nowMs).held) {
    const own = context.session !== null && row.holder_session === context.session.id;
    throw own ? (await leaseLost(context, row, proof)).refusal : await heldByOther(context, row);
  }
  const own = row.created_by === context.agent.id || row.assigned_to === context.agent.id;
  if (own || roleAtLeast(context.role, "coordinator")) return;
  throw new DibsError(
    "forbidden",
    `${quoted(row)} was neither created by ${context.agent.name} nor assigned to it; changing it needs the role coordinator.`,
    {},
  );
}

function requireVersion(context: Context, row: TaskRow): void {
  if (context.ifVersion === undefined || context.ifVersion === row.version) return;
  const { version } = row;
  throw new DibsError("version_mismatch", `${quoted(row)} is at version ${version}; read it again and repeat.`, {
    version,
  });
}

export const update_task: Handler<Input<"update_task">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  await mayChange(context, row);
  requireVersion(context, row);
  const state = taskState(row, context.nowMs);
  await mayAssign(context, input.assigned_to_agent_id);
  const change: TaskChange = { ...textChanges(input), ...(await queueChanges(context, row, input)) };
  if (input.max_attempts !== undefined) {
    // The attempt under way may be the last one; an open task needs one more.
    const least = state.status === "open" ? row.attempts + 1 : row.attempts;
    if (input.max_attempts < least) {
      throw invalidInput("max_attempts", `must be at least ${least}: ${row.attempts} attempts were made`);
    }
    change.max_attempts = input.max_attempts;
  }
  if (state.status === "open" && row.status === "open") Object.assign(change, placeAfter(context, row, change));
  Object.assign(change, { version: row.version + 1, updated_at: context.nowMs });
  await context.tx.tasks.update(row, change);
  const after = withChange(row, change);
  if (input.labels !== undefined) await context.tx.tasks.setLabels(after, JSON.parse(after.labels));
  const fields = Object.keys(input).filter(
    (key) => key !== "task_id" && input[key as keyof typeof input] !== undefined,
  );
  await recordUpdate(context, row, after, fields);
  context.woke();
  return { body: taskView(after, context.nowMs) };
};

function textChanges(input: Input<"update_task">): TaskChange {
  const change: TaskChange = {};
  if (input.content !== undefined) change.content = input.content;
  if (input.description !== undefined) change.description = input.description;
  if (input.labels !== undefined) change.labels = JSON.stringify([...new Set(input.labels ?? [])]);
  if (input.context !== undefined) change.context = input.context === null ? null : JSON.stringify(input.context);
  if (input.due_date !== undefined) change.due_date = input.due_date === null ? null : Date.parse(input.due_date);
  return change;
}

async function queueChanges(context: Context, row: TaskRow, input: Input<"update_task">): Promise<TaskChange> {
  const change: TaskChange = {};
  if (input.priority !== undefined) change.priority = input.priority;
  if (input.assigned_to_agent_id !== undefined) change.assigned_to = input.assigned_to_agent_id ?? "";
  if (input.project_id !== undefined) change.project_id = (await projectOf(context, input.project_id)).id;
  if (input.not_before !== undefined) {
    change.not_before = input.not_before === null ? null : Date.parse(input.not_before);
    const later = change.not_before !== null && change.not_before > context.nowMs;
    if (later && taskState(row, context.nowMs).held)
      throw invalidInput("not_before", "can't be moved while the task is held");
  }
  return change;
}

function placeAfter(context: Context, row: TaskRow, change: TaskChange): TaskChange {
  const notBefore = change.not_before === undefined ? row.not_before : change.not_before;
  return queuePlace(notBefore, context.nowMs);
}

export const delete_task: Handler<Input<"delete_task">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  if (taskState(row, context.nowMs).held) throw await heldByOther(context, row);
  await mayChange(context, row);
  requireVersion(context, row);
  await context.tx.tasks.remove(row);
  await record(context, "task.updated", row, { deleted: true, content: row.content });
  return { body: { deleted: true, id: row.id } };
};
