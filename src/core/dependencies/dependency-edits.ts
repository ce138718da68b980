import type { z } from "zod";
import { DibsError, invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { BLOCKERS_SHOWN } from "../../contract/task.js";
import type { Context, Handler, Reply } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { record } from "../events.js";
import { type LinkedRow, type TaskRow, withChange } from "../port/rows.js";
import type { TaskChange } from "../port/verbs.js";
import { endReservation } from "../tasks/passed-over.js";
import { openAmong, queuePlace } from "../tasks/task-state.js";
import { mayChange, requireVersion, taskOf } from "../tasks/tasks.js";
import { viewOf, viewsOf } from "./blockers.js";
import { refuseCycle } from "./cycles.js";
import { blockersNamed, sayWaiting } from "./dependencies.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** What becomes of a task's dependencies, checked and not yet written. */
export interface EdgeChange {
  readonly added: readonly LinkedRow[];
  readonly removed: readonly LinkedRow[];
}

/** Lets the task wait for exactly these. Throws `unknown_dependency`, `dependency_cycle`. */
export async function edgesTo(context: Context, row: TaskRow, ids: readonly string[]): Promise<EdgeChange> {
  if (row.blockers > BLOCKERS_SHOWN) {
    const how = "add and remove them one by one: add_dependencies, remove_dependency";
    throw invalidInput("depends_on", `can't be set as a whole: the task has ${row.blockers} blockers; ${how}`);
  }
  const present = await context.tx.dependencies.blockersOf([row.seq], context.nowMs, BLOCKERS_SHOWN);
  const wanted = new Set(ids);
  const had = new Set(present.map(({ id }) => id));
  const removedIds = [...had].filter((id) => !wanted.has(id));
  const rows = await blockersNamed(context, [...wanted, ...removedIds]);
  const pick = (chosen: readonly string[]) => chosen.flatMap((id) => rows.get(id) ?? []);
  const added = pick([...wanted].filter((id) => !had.has(id)));
  await refuseCycle(context, row, added);
  return { added, removed: pick(removedIds) };
}

async function edgesMore(context: Context, row: TaskRow, ids: readonly string[]): Promise<EdgeChange> {
  const rows = [...(await blockersNamed(context, ids)).values()];
  const seqs = rows.map(({ seq }) => seq);
  const present = new Set(await context.tx.dependencies.present(row.seq, seqs));
  const added = rows.filter(({ seq }) => !present.has(seq));
  await refuseCycle(context, row, added);
  return { added, removed: [] };
}

async function edgesLess(context: Context, row: TaskRow, id: string): Promise<EdgeChange> {
  const [blocker] = await context.tx.dependencies.named(context.workspaceId, [id]);
  if (!blocker) throw new DibsError("not_found", `There is no task ${id}; see GET /v1/tasks (dibs task list).`, {});
  const present = await context.tx.dependencies.present(row.seq, [blocker.seq]);
  return { added: [], removed: present.length === 0 ? [] : [blocker] };
}

/** The counts after it, and with them the place in the queue of a task that nobody holds. */
export function countsAfter(row: TaskRow, { added, removed }: EdgeChange): TaskChange {
  return {
    blockers: row.blockers + added.length - removed.length,
    open_blockers: row.open_blockers + openAmong(added).length - openAmong(removed).length,
  };
}

/** Writes the edges; what the change is recorded with is the answer. */
export async function writeEdges(context: Context, row: TaskRow, edges: EdgeChange): Promise<object> {
  const { added, removed } = edges;
  if (removed.length > 0)
    await context.tx.dependencies.remove(
      row.seq,
      removed.map(({ seq }) => seq),
    );
  await context.tx.dependencies.add(
    added.map(({ seq }) => [row.seq, seq] as const),
    added,
  );
  const ids = (rows: readonly LinkedRow[]) => rows.map(({ id }) => id);
  return { ...(added.length > 0 && { added: ids(added) }), ...(removed.length > 0 && { removed: ids(removed) }) };
}

async function edit(context: Context, row: TaskRow, edges: EdgeChange): Promise<Reply> {
  if (edges.added.length + edges.removed.length === 0) return { body: await viewOf(context, row) };
  const counts = countsAfter(row, edges);
  const place = row.status === "open" ? queuePlace(withChange(row, counts), context.nowMs) : {};
  const change = { ...counts, ...place, version: row.version + 1, updated_at: context.nowMs };
  await context.tx.tasks.update(row, change);
  const after = withChange(row, change);
  if (edges.added.length > 0) await endReservation(context.tx, row);
  const told = await writeEdges(context, row, edges);
  await record(context, "task.updated", after, { fields: ["depends_on"], ...told });
  await sayWaiting(context, row, after, edges.added);
  return { body: await viewOf(context, after) };
}

/** The task, if the caller may change it as it is. */
async function editable(context: Context, id: string): Promise<TaskRow> {
  const row = await taskOf(context, id);
  await mayChange(context, row);
  requireVersion(context, row);
  return row;
}

export const add_dependencies: Handler<Input<"add_dependencies">> = async (context, input) => {
  const row = await editable(context, input.task_id);
  return edit(context, row, await edgesMore(context, row, input.depends_on));
};

export const remove_dependency: Handler<Input<"remove_dependency">> = async (context, input) => {
  const row = await editable(context, input.task_id);
  return edit(context, row, await edgesLess(context, row, input.blocker_id));
};

export const list_dependencies: Handler<Input<"list_dependencies">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  const page = pageOf(`dependencies:${input.which}`, input);
  const rows = await context.tx.dependencies.list(row.seq, input.which, page);
  const next = cursorAfter(`dependencies:${input.which}`, rows, page, (each) => [each.seq]);
  return { body: await viewsOf(context, rows), ...next };
};
