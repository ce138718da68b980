import { DibsError } from "../../contract/errors.js";
import type { Context } from "../context.js";
import { grouped } from "../grouped.js";
import type { LinkedRow, TaskRow } from "../port/rows.js";
import { titled } from "../quoted.js";

/** Of a longer cycle only both ends are told. */
const TOLD_MAX = 1000;
const SPELLED_MAX = 8;

/**
 * Refuses new blockers that wait for the task already, over any number of others (R23). In time linear in the graph
 * above them, and in none for what has no dependents, as a new task, or where the blockers themselves wait for nothing.
 */
export async function refuseCycle(context: Context, task: TaskRow, added: readonly LinkedRow[]): Promise<void> {
  if (added.some((blocker) => blocker.seq === task.seq)) throw await cycleOf(context, [task.seq, task.seq]);
  // All rows named here are locked: whoever gives one of them a blocker or a dependent comes before this, or after it.
  const waiting = added.filter((blocker) => blocker.blockers > 0).map((blocker) => blocker.seq);
  if (task.has_dependents === 0 || waiting.length === 0) return;
  const { dependencies } = context.tx;
  await dependencies.alone(context.workspaceId, "graph");
  if (!(await dependencies.reaches(waiting, task.seq))) return;
  throw await cycleOf(context, shortestWay(task.seq, waiting, await dependencies.edgesAbove(waiting)));
}

/** From the task over the fewest blockers back to it; breadth first, without recursion. */
function shortestWay(
  task: number,
  blockers: readonly number[],
  edges: readonly { readonly task_seq: number; readonly blocker_seq: number }[],
): number[] {
  const above = grouped(edges, (edge) => edge.task_seq);
  const from = new Map<number, number>(blockers.map((seq) => [seq, task]));
  const reached = [...blockers];
  for (let at = 0; at < reached.length && !from.has(task); at += 1) {
    const seq = reached[at] as number;
    for (const { blocker_seq } of above.get(seq) ?? []) {
      if (from.has(blocker_seq)) continue;
      from.set(blocker_seq, seq);
      reached.push(blocker_seq);
    }
  }
  const way = [task];
  for (let seq = from.get(task); seq !== undefined && seq !== task; seq = from.get(seq)) way.push(seq);
  return [...way, task].reverse();
}

async function cycleOf(context: Context, way: readonly number[]): Promise<DibsError<"dependency_cycle">> {
  const told = way.length > TOLD_MAX ? [...way.slice(0, TOLD_MAX / 2), ...way.slice(-TOLD_MAX / 2)] : way;
  const titles = new Map(
    (await context.tx.dependencies.titles([...new Set(told)])).map(({ seq, id, content }) => [seq, { id, content }]),
  );
  const cycle = told.flatMap((seq) => titles.get(seq) ?? []);
  const words = cycle.map(({ id, content }) => `"${titled(content)}" (${id})`);
  const spelled =
    way.length > SPELLED_MAX
      ? [...words.slice(0, SPELLED_MAX / 2), `… ${way.length - SPELLED_MAX} more …`, ...words.slice(-SPELLED_MAX / 2)]
      : words;
  return new DibsError("dependency_cycle", `The tasks would wait for each other: ${spelled.join(" waits for ")}.`, {
    cycle,
    cycle_length: way.length - 1,
    next: ["Leave this dependency out.", "Or first remove another one of the cycle: remove_dependency."],
  });
}
