import type { z } from "zod";
import type { Operations } from "../../contract/operations.js";
import type { NewTask } from "../../contract/task.js";
import { projectOf } from "../agents/projects.js";
import type { Context, Handler } from "../context.js";
import { viewsOf } from "../dependencies/blockers.js";
import { blockersNamed, sayWaiting } from "../dependencies/dependencies.js";
import { planOf } from "../dependencies/plan-named.js";
import { record } from "../events.js";
import { newId } from "../ids.js";
import { type LinkedRow, type NewTaskRow, type ProjectRow, QUEUE, type TaskRow, withChange } from "../port/rows.js";
import { declaredOf, writeDeclared } from "./task-scopes.js";
import { openAmong, queuePlace } from "./task-state.js";
import { mayAssign, taskOf } from "./tasks.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;
const millis = (time: string | undefined) => (time === undefined ? null : Date.parse(time));

type Counts = Pick<NewTaskRow, "blockers" | "open_blockers" | "has_dependents">;

function newRow(context: Context, input: NewTask, place: Place, counts: Counts): NewTaskRow {
  const { project, plan } = place;
  const notBefore = millis(input.not_before);
  const waiting = { not_before: notBefore, open_blockers: counts.open_blockers };
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
    not_before: notBefore,
    ...counts,
    plan,
    parent_id: input.parent_task_id ?? null,
    accountable: place.accountable ?? null,
    requires_verdict: input.requires_verdict ? 1 : 0,
    ...declaredOf(context, input.scopes, project),
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
  plan: null,
  parent_id: null,
  accountable: null,
  delegated: 0,
  requires_verdict: 0,
  context_version: 0,
  scoped: 0,
  parked_by: null,
  passed_since: null,
  state: null,
  lease_id: null,
  fence: 0,
  holder_agent: null,
  holder_session: null,
  claimed_at: null,
  lease_seconds: null,
  lease_until: null,
  lapsed: 0,
  hops: 0,
  content: "",
  description: null,
  labels: "[]",
  context: null,
  scopes: null,
  state_detail: null,
  progress: null,
  checkpoint: null,
  handoff_note: null,
  failure_reason: null,
  result: null,
  evidence: null,
  verdict: null,
  cancel_reason: null,
  session_expires_at: null,
};

/** A row as it reads right after its insertion. */
function freshTask(row: NewTaskRow, seq: number): TaskRow {
  return Object.assign(withChange(UNCLAIMED, row), { seq, updated_at: row.created_at });
}

/** A task to be created, and what it waits for. */
export interface Linked {
  readonly input: NewTask;
  /** Tasks that are there. */
  readonly blockers: readonly LinkedRow[];
  /** Others of the same creation, by their place in it; they are no cycle. */
  readonly among?: readonly number[];
  /** The agent that gives it out as a part of its own, and answers for it; assigning such a part takes no role. */
  readonly delegatedBy?: string;
}

/** A new task can close no cycle: nothing waits for it yet. */
async function createAll(context: Context, inputs: readonly NewTask[]): Promise<TaskRow[]> {
  const named = await blockersNamed(
    context,
    inputs.flatMap((input) => input.depends_on ?? []),
  );
  const placed = await besideParents(context, inputs);
  return createLinked(
    context,
    placed.map((input) => ({
      input,
      blockers: [...new Set(input.depends_on)].flatMap((id) => named.get(id) ?? []),
    })),
  );
}

/** A part is where its task is, unless it says otherwise. Throws `not_found` where there is no such task. */
async function besideParents(context: Context, inputs: readonly NewTask[]): Promise<NewTask[]> {
  const projects = new Map<string, string>();
  const placed: NewTask[] = [];
  for (const input of inputs) {
    const { parent_task_id: parentId, project_id } = input;
    if (parentId !== undefined && !projects.has(parentId))
      projects.set(parentId, (await taskOf(context, parentId)).project_id);
    const beside = parentId === undefined || project_id !== undefined ? undefined : projects.get(parentId);
    placed.push(beside === undefined ? input : { ...input, project_id: beside });
  }
  return placed;
}

/** Creates the tasks; all of them, where a plan is named, as its steps. */
export async function createLinked(
  context: Context,
  all: readonly Linked[],
  as?: { readonly plan: string; readonly project: ProjectRow },
): Promise<TaskRow[]> {
  const places = as ? () => as : placesOf(context);
  const waitedFor = new Set(all.flatMap(({ among = [] }) => among));
  const rows: NewTaskRow[] = [];
  for (const [at, { input, blockers, among = [], delegatedBy }] of all.entries()) {
    await mayAssign(context, input.assigned_to_agent_id, delegatedBy !== undefined);
    const counts = {
      blockers: blockers.length + among.length,
      open_blockers: openAmong(blockers).length + among.length,
    };
    const place = { ...(await places(input)), accountable: delegatedBy };
    rows.push(newRow(context, input, place, { ...counts, has_dependents: waitedFor.has(at) ? 1 : 0 }));
  }
  const created: TaskRow[] = [];
  for (const [at, row] of rows.entries()) {
    const task = freshTask(row, await context.tx.tasks.insert(row, all[at]?.input.labels ?? []));
    if (row.scoped === 1) await writeDeclared(context, task);
    const told = { content: task.content, priority: task.priority };
    await record(context, "task.created", task, task.plan === null ? told : { ...told, plan: task.plan });
    created.push(task);
  }
  await writeEdges(context, all, created);
  if (created.some((task) => task.queue !== QUEUE.blocked)) context.woke();
  return created;
}

async function writeEdges(context: Context, all: readonly Linked[], created: readonly TaskRow[]): Promise<void> {
  const edges: [number, number][] = [];
  const outside = new Map<number, LinkedRow>();
  for (const [at, { blockers, among = [] }] of all.entries()) {
    const task = created[at] as TaskRow;
    for (const blocker of blockers) {
      edges.push([task.seq, blocker.seq]);
      outside.set(blocker.seq, blocker);
    }
    for (const other of among) edges.push([task.seq, (created[other] as TaskRow).seq]);
    if (blockers.length > 0) await sayWaiting(context, task, task, blockers);
  }
  await context.tx.dependencies.add(edges, [...outside.values()]);
}

interface Place {
  readonly project: ProjectRow;
  readonly plan: string | null;
  readonly accountable?: string | undefined;
}

/** Where a task goes that says so itself: a thousand mostly name the same project. */
function placesOf(context: Context): (input: NewTask) => Promise<Place> {
  const known = new Map<string, Place>();
  return async (input) => {
    const name = JSON.stringify([input.project_id, input.plan]);
    const project = known.get(name)?.project ?? (await projectOf(context, input.project_id));
    const plan =
      known.get(name)?.plan ?? (input.plan === undefined ? null : (await planOf(context, input.plan, project.id)).slug);
    const place = { project, plan };
    known.set(name, place);
    return place;
  };
}

export const create_task: Handler<Input<"create_task">> = async (context, input) => ({
  body: (await viewsOf(context, await createAll(context, [input])))[0],
});

export const create_tasks: Handler<Input<"create_tasks">> = async (context, input) => ({
  body: await viewsOf(context, await createAll(context, input.tasks)),
});
