import type { z } from "zod";
import type { Operations } from "../contract/operations.js";
import type { NewTask } from "../contract/task.js";
import { viewsOf } from "./blockers.js";
import type { Context, Handler } from "./context.js";
import { blockersNamed, sayWaiting } from "./dependencies.js";
import { record } from "./events.js";
import { newId } from "./ids.js";
import { projectOf } from "./projects.js";
import { type LinkedRow, type NewTaskRow, type ProjectRow, QUEUE, type TaskRow, withChange } from "./rows.js";
import { openAmong, queuePlace } from "./task-state.js";
import { mayAssign } from "./tasks.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;
const millis = (time: string | undefined) => (time === undefined ? null : Date.parse(time));

function newRow(context: Context, input: NewTask, project: ProjectRow, blockers: readonly LinkedRow[]): NewTaskRow {
  const notBefore = millis(input.not_before);
  const waiting = { not_before: notBefore, open_blockers: openAmong(blockers).length };
  return {
    id: newId(context.nowMs),
    workspace_id: context.workspaceId,
    project_id: project.id,
    priority: input.priority ?? 2,
    ...queuePlace(waiting, context.nowMs),
    assigned_to: input.assigned_to_agent_id ?? "",
    created_by: context.agent.id,
    max_attempts: input.max_attempts ?? context.settings.max_attempts,
    created_at: context.nowMs,
    ...waiting,
    blockers: blockers.length,
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
  blockers: 0,
  open_blockers: 0,
  has_dependents: 0,
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

interface Planned {
  readonly row: NewTaskRow;
  readonly labels: readonly string[];
  readonly blockers: readonly LinkedRow[];
}

/** A new task can close no cycle: nothing waits for it yet. */
async function createAll(context: Context, inputs: readonly NewTask[]): Promise<TaskRow[]> {
  const named = await blockersNamed(
    context,
    inputs.flatMap((input) => input.depends_on ?? []),
  );
  const planned: Planned[] = [];
  // A thousand tasks mostly name the same project.
  const projects = new Map<string | undefined, ProjectRow>();
  for (const input of inputs) {
    await mayAssign(context, input.assigned_to_agent_id);
    const project = projects.get(input.project_id) ?? (await projectOf(context, input.project_id));
    projects.set(input.project_id, project);
    const blockers = [...new Set(input.depends_on)].flatMap((id) => named.get(id) ?? []);
    planned.push({ row: newRow(context, input, project, blockers), labels: input.labels ?? [], blockers });
  }
  const created: TaskRow[] = [];
  const edges: [number, number][] = [];
  for (const { row, labels, blockers } of planned) {
    const task = freshTask(row, await context.tx.tasks.insert(row, labels));
    await record(context, "task.created", task, { content: task.content, priority: task.priority });
    for (const { seq } of blockers) edges.push([task.seq, seq]);
    if (blockers.length > 0) await sayWaiting(context, task, task, blockers);
    created.push(task);
  }
  await context.tx.dependencies.add(edges, [...named.values()]);
  if (created.some((task) => task.queue !== QUEUE.blocked)) context.woke();
  return created;
}

export const create_task: Handler<Input<"create_task">> = async (context, input) => ({
  body: (await viewsOf(context, await createAll(context, [input])))[0],
});

export const create_tasks: Handler<Input<"create_tasks">> = async (context, input) => ({
  body: await viewsOf(context, await createAll(context, input.tasks)),
});
