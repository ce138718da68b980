import type { z } from "zod";
import { DibsError, invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import type { NewTask } from "../../contract/task.js";
import { projectOf } from "../agents/projects.js";
import { type Context, type Handler, LooksDead } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { dependedOn, viewOf, viewsOf } from "../dependencies/blockers.js";
import { freeDependents, sayWaiting } from "../dependencies/dependencies.js";
import { countsAfter, edgesTo, writeEdges } from "../dependencies/dependency-edits.js";
import { planOf } from "../dependencies/plan-named.js";
import { record } from "../events.js";
import { refuseFrozenChange } from "../holds/frozen.js";
import { frozenTasks } from "../holds/frozen-queue.js";
import { roleAtLeast } from "../identity.js";
import { holds, isHolder, type LeaseProof } from "../leases/leases.js";
import { leaseLost } from "../leases/lost-lease.js";
import { agentOf, requireNamed } from "../named.js";
import { type ProjectRow, type TaskRow, withChange } from "../port/rows.js";
import type { TaskChange, TaskFilter } from "../port/verbs.js";
import { quoted } from "../quoted.js";
import { recordUpdate } from "./assignments.js";
import { contextChange, keepVersion } from "./context-versions.js";
import { endReservation } from "./passed-over.js";
import { heldByOther } from "./refusals.js";
import { mayRequire } from "./required-verdict.js";
import { changeHeld, declaredOf, refuseMore, writeDeclared } from "./task-scopes.js";
import { queuePlace, taskState } from "./task-state.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** The task, or 404; another workspace's answers like an unknown one (R47). */
export async function taskOf(context: Context, id: string): Promise<TaskRow> {
  const row = await context.tx.tasks.byId(context.workspaceId, id);
  if (row) return row;
  throw new DibsError("not_found", `There is no task ${id}; see GET /v1/tasks (dibs task list).`, {});
}

/** The same for whoever asks what the task is now. */
export async function taskNow(context: Context, id: string): Promise<TaskRow> {
  const row = await taskOf(context, id);
  if (row.status === "claimed" && !context.settled && !taskState(row, context.nowMs).held) throw new LooksDead();
  return row;
}

/** Assigning to others is a coordinator's, or `anyone`'s; throws `not_found` for an agent that isn't there. */
export async function mayAssign(context: Context, agentId: string | null | undefined, anyone = false): Promise<void> {
  if (agentId === undefined || agentId === null) return;
  await agentOf(context, agentId);
  if (anyone) return;
  if (agentId !== context.agent.id && !roleAtLeast(context.role, "coordinator")) {
    throw new DibsError("forbidden", "Assigning work to another agent needs the role coordinator.", {});
  }
}

export const get_task: Handler<Input<"get_task">> = async (context, input) => ({
  body: await viewOf(context, await taskNow(context, input.task_id)),
});

export const list_tasks: Handler<Input<"list_tasks">> = async (context, input) => {
  const open = input.ready || input.blocked || input.stalled || input.claimed !== undefined;
  const inQueue = open || input.status === "open" || input.status === "claimed" || input.status === "delegated";
  const sort = input.sort ?? (inQueue ? "handout" : "created");
  const page = pageOf(`tasks:${sort}`, input);
  await requireNamed(context, { agent_id: input.assigned_to });
  if (input.plan !== undefined && input.project_id !== undefined) await planOf(context, input.plan, input.project_id);
  const frozen = input.ready === undefined ? undefined : await frozenTasks(context);
  const filter: TaskFilter = {
    sort,
    ...(input.project_id === undefined ? {} : { projectId: (await projectOf(context, input.project_id)).id }),
    ...(input.assigned_to === undefined ? {} : { assignedTo: input.assigned_to }),
    ...(frozen ? { frozen } : {}),
    ...pick(input, [
      "status",
      "ready",
      "blocked",
      "stalled",
      "lapsed",
      "claimed",
      "label",
      "plan",
      "verdict",
      "search",
    ]),
  };
  const rows = await context.tx.tasks.list(context.workspaceId, filter, page, context.nowMs);
  const position = (row: TaskRow) => (sort === "handout" ? [row.priority, row.seq] : [row.seq]);
  return {
    body: await viewsOf(context, rows),
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
    throw isHolder(context, row) ? (await leaseLost(context, row, proof)).refusal : await heldByOther(context, row);
  }
  const own = row.created_by === context.agent.id || row.assigned_to === context.agent.id;
  if (own || roleAtLeast(context.role, "coordinator")) return;
  throw new DibsError(
    "forbidden",
    `${quoted(row)} was neither created by ${context.agent.name} nor assigned to it; changing it needs the role coordinator.`,
    {},
  );
}

export function requireVersion(context: Context, row: TaskRow): void {
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
  mayRequire(context, row, input.requires_verdict);
  const state = taskState(row, context.nowMs);
  await mayAssign(context, input.assigned_to_agent_id);
  const change: TaskChange = { ...textChanges(row, input), ...(await queueChanges(context, row, input)) };
  const edges = input.depends_on === undefined ? undefined : await edgesTo(context, row, input.depends_on ?? []);
  if (edges) Object.assign(change, countsAfter(row, edges));
  if (input.max_attempts !== undefined) {
    // The attempt under way may be the last one; an open task needs one more.
    const least = state.free ? row.attempts + 1 : row.attempts;
    if (input.max_attempts < least) {
      throw invalidInput("max_attempts", `must be at least ${least}: ${row.attempts} attempts were made`);
    }
    change.max_attempts = input.max_attempts;
  }
  if (state.free && row.status === "open") Object.assign(change, queuePlace(withChange(row, change), context.nowMs));
  Object.assign(change, { version: row.version + 1, updated_at: context.nowMs });
  const declares = input.scopes !== undefined || (change.project_id !== undefined && row.scopes !== null);
  if (declares) Object.assign(change, await declaredAfter(context, row, change, input.scopes));
  if (declares && state.held) await refuseFrozenChange(context, row, withChange(row, change));
  if (declares && state.held) await refuseMore(context, row, withChange(row, change));
  await context.tx.tasks.update(row, change);
  const after = withChange(row, change);
  if (declares || input.not_before !== undefined || edges) await endReservation(context.tx, row);
  if (declares) await writeDeclared(context, after);
  if (declares && state.held) await changeHeld(context, row, after);
  if (input.labels !== undefined) await context.tx.tasks.setLabels(after, JSON.parse(after.labels));
  const fields = Object.keys(input).filter(
    (key) => key !== "task_id" && input[key as keyof typeof input] !== undefined,
  );
  const kept = await keepVersion(context, row, after);
  const waits = edges ? await writeEdges(context, row, edges) : {};
  await recordUpdate(context, row, after, fields, { ...kept, ...waits });
  if (edges) await sayWaiting(context, row, after, edges.added);
  context.woke();
  return { body: await viewOf(context, after) };
};

/** What the task declares from now on, in the project where it is from now on. */
async function declaredAfter(
  context: Context,
  row: TaskRow,
  change: TaskChange,
  given: NewTask["scopes"] | null,
): Promise<TaskChange> {
  const project = await projectOf(context, change.project_id ?? row.project_id);
  const { scopes } = declaredOf(context, given === undefined ? JSON.parse(row.scopes ?? "[]") : given, project);
  // What was claimed for it beside stays with its lease.
  return { scopes, scoped: scopes === null ? row.scoped : 1 };
}

function textChanges(row: TaskRow, input: Input<"update_task">): TaskChange {
  const change: TaskChange = {};
  if (input.content !== undefined) change.content = input.content;
  if (input.description !== undefined) change.description = input.description;
  if (input.labels !== undefined) change.labels = JSON.stringify([...new Set(input.labels ?? [])]);
  if (input.context !== undefined) Object.assign(change, contextChange(row, input.context));
  if (input.requires_verdict !== undefined) change.requires_verdict = input.requires_verdict ? 1 : 0;
  if (input.due_date !== undefined) change.due_date = input.due_date === null ? null : Date.parse(input.due_date);
  return change;
}

async function queueChanges(context: Context, row: TaskRow, input: Input<"update_task">): Promise<TaskChange> {
  const change: TaskChange = {};
  if (input.priority !== undefined) change.priority = input.priority;
  if (input.assigned_to_agent_id !== undefined) change.assigned_to = input.assigned_to_agent_id ?? "";
  if (input.project_id !== undefined) change.project_id = (await projectTo(context, row, input.project_id)).id;
  if (input.not_before !== undefined) {
    change.not_before = input.not_before === null ? null : Date.parse(input.not_before);
    const later = change.not_before !== null && change.not_before > context.nowMs;
    if (later && taskState(row, context.nowMs).held)
      throw invalidInput("not_before", "can't be moved while the task is held");
  }
  return change;
}

/** A plan belongs to its project, and its tasks are found there. */
async function projectTo(context: Context, row: TaskRow, named: string): Promise<ProjectRow> {
  const project = await projectOf(context, named);
  if (row.plan === null || project.id === row.project_id) return project;
  throw invalidInput(
    "project_id",
    `can't be changed: the task is a step of the plan ${row.plan}, which stays in its project`,
  );
}

export const delete_task: Handler<Input<"delete_task">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  if (taskState(row, context.nowMs).held) throw await heldByOther(context, row);
  await mayChange(context, row);
  requireVersion(context, row);
  const refused = row.has_dependents === 1 ? await dependedOn(context, row) : null;
  if (refused && !input.force) throw refused;
  if (refused) await freeDependents(context, row);
  await endReservation(context.tx, row);
  await context.tx.tasks.remove(row);
  const reason = input.reason === undefined ? {} : { reason: input.reason };
  await record(context, "task.updated", row, { deleted: true, content: row.content, ...reason });
  return { body: { deleted: true, id: row.id } };
};
