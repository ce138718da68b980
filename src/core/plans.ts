import type { z } from "zod";
import { DibsError } from "../contract/errors.js";
import type { Operations } from "../contract/operations.js";
import type { PlanStep } from "../contract/plan.js";
import type { NewTask } from "../contract/task.js";
import type { Context, Handler } from "./context.js";
import { blockersNamed } from "./dependencies.js";
import { record } from "./events.js";
import { newId } from "./ids.js";
import { cycleAmong, type Edge } from "./plan-graph.js";
import { planOf } from "./plan-named.js";
import type { PlanRow, StepRow } from "./plan-verbs.js";
import { planView } from "./plan-view.js";
import { projectOf } from "./projects.js";
import { titled } from "./quoted.js";
import type { LinkedRow, ProjectRow } from "./rows.js";
import { createLinked, type Linked } from "./task-creation.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

export const create_plan: Handler<Input<"create_plan">> = async (context, input) => {
  const project = await projectOf(context, input.project_id);
  const title = input.title ?? null;
  const present = await context.tx.plans.bySlug(project.id, input.slug);
  if (present) {
    const known = await context.tx.plans.steps(present.seq);
    const differences = [
      ...(present.title === title ? [] : [`its title is ${JSON.stringify(present.title)}`]),
      ...differencesOf(known, input.steps),
      ...missing(known, input.steps),
    ];
    if (differences.length > 0) throw different(present, differences);
    return { body: { ...(await planView(context, present)), steps_created: 0 } };
  }
  const row = {
    id: newId(context.nowMs),
    workspace_id: context.workspaceId,
    project_id: project.id,
    slug: input.slug,
    title,
    created_by: context.agent.id,
    created_at: context.nowMs,
  };
  refuseTwice(input.steps);
  const seq = await context.tx.plans.insert(row);
  const plan: PlanRow = { ...row, seq };
  await addSteps(context, plan, project, [], input.steps);
  await record(context, "plan.created", null, { plan: plan.slug, project_id: project.id, steps: input.steps.length });
  return { body: { ...(await planView(context, plan)), steps_created: input.steps.length } };
};

export const add_plan_steps: Handler<Input<"add_plan_steps">> = async (context, input) => {
  const plan = await planOf(context, input.slug, input.project_id);
  const project = await projectOf(context, plan.project_id);
  const known = await context.tx.plans.steps(plan.seq);
  refuseTwice(input.steps);
  const differences = differencesOf(known, input.steps, true);
  if (differences.length > 0) throw different(plan, differences);
  const keys = new Set(known.map(({ key }) => key));
  const added = input.steps.filter(({ key }) => !keys.has(key));
  await addSteps(context, plan, project, known, added);
  if (added.length > 0)
    await record(context, "plan.extended", null, { plan: plan.slug, project_id: project.id, steps: added.length });
  return { body: { ...(await planView(context, plan)), steps_created: added.length } };
};

/** A step as it was written, in one form: what differs in it differs in meaning. */
function definitionOf({ key: _, ...step }: PlanStep): string {
  const labels = [...new Set(step.labels ?? [])].sort();
  const dependsOn = [...new Set(step.depends_on ?? [])].sort();
  const fields = { ...step, labels, depends_on: dependsOn };
  return JSON.stringify(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const NAMED_MAX = 20;

/** In words, what the steps say otherwise than those of the same key; with `onlyKnown` new ones are none. */
function differencesOf(known: readonly StepRow[], steps: readonly PlanStep[], onlyKnown = false): string[] {
  const before = new Map(known.map((step) => [step.key, step.definition]));
  return steps.flatMap((step) => {
    const was = before.get(step.key);
    if (was === undefined) return onlyKnown ? [] : [`step ${step.key} is not in it`];
    const is = definitionOf(step);
    if (was === is) return [];
    const [old, now] = [was, is].map((text) => new Map<string, unknown>(JSON.parse(text)));
    const fields = [...new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])];
    const changed = fields.filter((field) => JSON.stringify(old?.get(field)) !== JSON.stringify(now?.get(field)));
    return [`step ${step.key} has another ${changed.join(", ")}`];
  });
}

function missing(known: readonly StepRow[], steps: readonly PlanStep[]): string[] {
  const keys = new Set(steps.map(({ key }) => key));
  return known.filter(({ key }) => !keys.has(key)).map(({ key }) => `its step ${key} is missing here`);
}

function different(plan: PlanRow, differences: readonly string[]): DibsError<"already_exists"> {
  const told = differences.slice(0, NAMED_MAX).join("; ");
  const more = differences.length > NAMED_MAX ? `; and ${differences.length - NAMED_MAX} more` : "";
  return new DibsError(
    "already_exists",
    `There is another plan ${plan.slug} already (${plan.id}): ${told}${more}. Choose another slug, change its tasks with update_task, or add steps: add_plan_steps (dibs plan apply FILE --add).`,
    { differences: differences.slice(0, NAMED_MAX) },
  );
}

function refuseTwice(steps: readonly PlanStep[]): void {
  const seen = new Set<string>();
  for (const [at, { key }] of steps.entries()) {
    if (seen.has(key)) {
      const message = `is ${JSON.stringify(key)}, the key of an earlier step too; keys name one step each`;
      throw new DibsError("invalid_input", `steps.${at}.key ${message}.`, {
        fields: [{ field: `steps.${at}.key`, message }],
      });
    }
    seen.add(key);
  }
}

/** Creates the steps as tasks that wait for each other, for steps that are there, and for tasks outside. */
async function addSteps(
  context: Context,
  plan: PlanRow,
  project: ProjectRow,
  known: readonly StepRow[],
  steps: readonly PlanStep[],
): Promise<void> {
  const index = new Map(steps.map(({ key }, at) => [key, at]));
  const edges: Edge[] = steps.flatMap(({ depends_on = [] }, at) =>
    depends_on.flatMap((name) => {
      const blocker = index.get(name);
      return blocker === undefined ? [] : [{ task_seq: at, blocker_seq: blocker }];
    }),
  );
  refuseCycleAmong(steps, edges);
  const outside = await named(context, known, steps, index);
  const linked: Linked[] = steps.map(({ key: _, depends_on, ...fields }) => {
    const names = [...new Set(depends_on ?? [])];
    return {
      input: fields as NewTask,
      blockers: [...new Map(names.flatMap((name) => outside.get(name) ?? []).map((row) => [row.seq, row])).values()],
      among: names.flatMap((name) => index.get(name) ?? []),
    };
  });
  const tasks = await createLinked(context, linked, { plan: plan.slug, project });
  const rows = steps.map((step, at) => ({
    key: step.key,
    task_seq: (tasks[at] as { seq: number }).seq,
    definition: definitionOf(step),
  }));
  await context.tx.plans.insertSteps(plan.seq, rows);
}

/** What the names stand for that are none of the new steps': steps that are there already, tasks by their ids. */
async function named(
  context: Context,
  known: readonly StepRow[],
  steps: readonly PlanStep[],
  index: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, LinkedRow>> {
  const names = new Set(steps.flatMap(({ depends_on = [] }) => depends_on.filter((name) => !index.has(name))));
  const byKey = new Map(known.map((step) => [step.key, step]));
  const gone = [...names].find((name) => byKey.get(name)?.task_seq === null);
  if (gone !== undefined) throw unknown(steps, gone, "whose task was deleted");
  const seqOf = new Map(
    [...names].flatMap((name) => {
      const seq = byKey.get(name)?.task_seq;
      return seq ? [[name, seq] as const] : [];
    }),
  );
  const idOf = new Map((await context.tx.dependencies.titles([...seqOf.values()])).map(({ seq, id }) => [seq, id]));
  const ids = new Map([...names].map((name) => [name, idOf.get(seqOf.get(name) ?? 0) ?? name]));
  const nobody = [...names].find((name) => !seqOf.has(name) && !/^[0-9a-f]{32}$/.test(name));
  if (nobody !== undefined) throw unknown(steps, nobody, "which no step has as its key");
  const rows = await blockersNamed(context, [...ids.values()]);
  return new Map(
    [...ids].flatMap(([name, id]) => {
      const row = rows.get(id);
      return row ? [[name, row] as const] : [];
    }),
  );
}

function unknown(steps: readonly PlanStep[], name: string, why: string): DibsError<"unknown_dependency"> {
  const at = steps.findIndex(({ depends_on = [] }) => depends_on.includes(name));
  const message = `steps.${at}.depends_on: step ${steps[at]?.key} waits for ${name}, ${why}; name a step of the plan, or a task by its id.`;
  return new DibsError("unknown_dependency", message, { id: name });
}

function refuseCycleAmong(steps: readonly PlanStep[], edges: readonly Edge[]): void {
  const way = cycleAmong([...steps.keys()], edges);
  if (!way) return;
  const cycle = way.map((at) => ({ id: steps[at]?.key ?? "", content: steps[at]?.content ?? "" }));
  const words = cycle.map(({ id, content }) => `"${titled(content)}" (${id})`);
  throw new DibsError("dependency_cycle", `The steps would wait for each other: ${words.join(" waits for ")}.`, {
    cycle,
    cycle_length: way.length - 1,
    next: ["Leave one of these dependencies out; nothing was created."],
  });
}
