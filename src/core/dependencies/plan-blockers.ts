import { DibsError, type ErrorDetails, isDibsError } from "../../contract/errors.js";
import type { PlanStep } from "../../contract/plan.js";
import type { Context } from "../context.js";
import type { StepRow } from "../port/plan-verbs.js";
import type { LinkedRow } from "../port/rows.js";
import { titled } from "../quoted.js";
import { blockersNamed } from "./dependencies.js";
import { cycleAmong, type Edge } from "./plan-graph.js";

/** What new steps wait for: each other, by their place in the list, and what is there, by the name they say. */
export interface StepBlockers {
  readonly among: ReadonlyMap<string, number>;
  readonly outside: ReadonlyMap<string, LinkedRow>;
}

/** What the steps' `depends_on` stand for. Throws `dependency_cycle`, `unknown_dependency`, each with the place of the mistake. */
export async function blockersOfSteps(
  context: Context,
  known: readonly StepRow[],
  steps: readonly PlanStep[],
): Promise<StepBlockers> {
  const among = new Map(steps.map(({ key }, at) => [key, at]));
  refuseCycle(steps, among);
  return { among, outside: await outsideOf(context, known, steps, among) };
}

function refuseCycle(steps: readonly PlanStep[], index: ReadonlyMap<string, number>): void {
  const edges: Edge[] = steps.flatMap(({ depends_on = [] }, at) =>
    depends_on.flatMap((name) => {
      const blocker = index.get(name);
      return blocker === undefined ? [] : [{ task_seq: at, blocker_seq: blocker }];
    }),
  );
  const way = cycleAmong([...steps.keys()], edges);
  if (!way) return;
  const cycle = way.map((at) => ({ id: steps[at]?.key ?? "", content: steps[at]?.content ?? "" }));
  const words = cycle.map(({ id, content }) => `"${titled(content)}" (${id})`);
  const spelled = words.length > 9 ? [...words.slice(0, 4), `… ${words.length - 8} more …`, ...words.slice(-4)] : words;
  const place = placeOf(steps, way[0] as number, cycle[1]?.id ?? "");
  throw new DibsError(
    "dependency_cycle",
    `${place}: the steps would wait for each other: ${spelled.join(" waits for ")}.`,
    {
      cycle,
      cycle_length: way.length - 1,
      next: ["Leave one of these dependencies out; nothing was created."],
    },
  );
}

/** What the names stand for that are none of the new steps': steps that are there already, tasks by their ids. */
async function outsideOf(
  context: Context,
  known: readonly StepRow[],
  steps: readonly PlanStep[],
  index: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, LinkedRow>> {
  const names = [...new Set(steps.flatMap(({ depends_on = [] }) => depends_on.filter((name) => !index.has(name))))];
  const seqs = new Map(known.map((step) => [step.key, step.task_seq]));
  for (const name of names) {
    if (seqs.get(name) === null) throw unknown(steps, name, "whose task was deleted");
    if (!seqs.has(name) && !/^[0-9a-f]{32}$/.test(name)) throw unknown(steps, name, "which no step has as its key");
  }
  const titles = await context.tx.dependencies.titles(names.flatMap((name) => seqs.get(name) ?? []));
  const idOf = new Map(titles.map(({ seq, id }) => [seq, id]));
  const ids = new Map(names.map((name) => [name, idOf.get(seqs.get(name) ?? 0) ?? name]));
  const rows = await taskRows(context, steps, [...ids.values()]);
  return new Map([...ids].flatMap(([name, id]) => pairOf(name, rows.get(id))));
}

const pairOf = (name: string, row: LinkedRow | undefined) => (row ? [[name, row] as const] : []);

async function taskRows(context: Context, steps: readonly PlanStep[], ids: readonly string[]) {
  try {
    return await blockersNamed(context, ids);
  } catch (refusal) {
    if (!isDibsError(refusal, "unknown_dependency")) throw refusal;
    throw unknown(steps, (refusal.details as ErrorDetails<"unknown_dependency">).id, "and there is no such task");
  }
}

function unknown(steps: readonly PlanStep[], name: string, why: string): DibsError<"unknown_dependency"> {
  const at = steps.findIndex(({ depends_on = [] }) => depends_on.includes(name));
  const message = `${placeOf(steps, at, name)}: step ${steps[at]?.key} waits for ${name}, ${why}; name a step of the plan, or a task by its id.`;
  return new DibsError("unknown_dependency", message, { id: name });
}

/** Where in the input a step names what it waits for. */
function placeOf(steps: readonly PlanStep[], at: number, name: string): string {
  return `steps.${at}.depends_on.${steps[at]?.depends_on?.indexOf(name) ?? 0}`;
}
