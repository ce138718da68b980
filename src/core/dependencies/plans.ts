import type { z } from "zod";
import { invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import type { PlanStep } from "../../contract/plan.js";
import type { NewTask } from "../../contract/task.js";
import { projectOf } from "../agents/projects.js";
import type { Context, Handler, Reply } from "../context.js";
import { record } from "../events.js";
import { newId } from "../ids.js";
import type { PlanRow, StepRow } from "../port/plan-verbs.js";
import type { ProjectRow } from "../port/rows.js";
import { createLinked, type Linked } from "../tasks/task-creation.js";
import { blockersOfSteps } from "./plan-blockers.js";
import { anotherPlan, changedSteps, definitionOf, strangeSteps } from "./plan-differences.js";
import { planOf } from "./plan-named.js";
import { planView } from "./plan-view.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

export const create_plan: Handler<Input<"create_plan">> = async (context, input) => {
  refuseTwice(input.steps);
  const project = await projectOf(context, input.project_id);
  const present = await context.tx.plans.bySlug(project.id, input.slug, { lock: true });
  if (present) return asItIs(context, present, input);
  const row = {
    id: newId(context.nowMs),
    workspace_id: context.workspaceId,
    project_id: project.id,
    slug: input.slug,
    title: input.title ?? null,
    created_by: context.agent.id,
    created_at: context.nowMs,
  };
  // Of two nodes that make it at once, the other's number is taken by then: its transaction runs again, and finds this.
  const plan: PlanRow = { ...row, seq: await context.tx.plans.insert(row) };
  await addSteps(context, plan, project, [], input.steps);
  await tell(context, "plan.created", plan, input.steps.length);
  return applied(context, plan, input.steps.length);
};

/** The plan that is there, if the input says the same; it is refused with the differences else. */
async function asItIs(context: Context, plan: PlanRow, input: Input<"create_plan">): Promise<Reply> {
  const known = await context.tx.plans.steps(plan.seq);
  const differences = [
    ...(plan.title === (input.title ?? null) ? [] : [`its title is ${JSON.stringify(plan.title)}`]),
    ...changedSteps(known, input.steps),
    ...strangeSteps(known, input.steps),
  ];
  if (differences.length > 0) throw anotherPlan(plan, differences);
  return applied(context, plan, 0);
}

export const add_plan_steps: Handler<Input<"add_plan_steps">> = async (context, input) => {
  refuseTwice(input.steps);
  const plan = await planOf(context, input.slug, input.project_id, true);
  const project = await projectOf(context, plan.project_id);
  const known = await context.tx.plans.steps(plan.seq);
  const differences = changedSteps(known, input.steps);
  if (differences.length > 0) throw anotherPlan(plan, differences);
  const keys = new Set(known.map(({ key }) => key));
  const added = input.steps.filter(({ key }) => !keys.has(key));
  if (added.length === 0) return applied(context, plan, 0);
  await addSteps(context, plan, project, known, added);
  await tell(context, "plan.extended", plan, added.length);
  return applied(context, plan, added.length);
};

async function applied(context: Context, plan: PlanRow, created: number): Promise<Reply> {
  return { body: { ...(await planView(context, plan)), steps_created: created } };
}

function tell(context: Context, type: string, plan: PlanRow, steps: number): Promise<void> {
  return record(context, type, { project_id: plan.project_id }, { plan: plan.slug, plan_id: plan.id, steps });
}

function refuseTwice(steps: readonly PlanStep[]): void {
  const seen = new Set<string>();
  for (const [at, { key }] of steps.entries()) {
    if (seen.has(key))
      throw invalidInput(`steps.${at}.key`, `is ${key}, the key of an earlier step too; keys name one step each`);
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
  const { among, outside } = await blockersOfSteps(context, known, steps);
  const linked: Linked[] = steps.map(({ key: _, depends_on, ...fields }) => {
    const names = [...new Set(depends_on ?? [])];
    // One task may be named twice: by its key and by its id.
    const rows = new Map(names.flatMap((name) => outside.get(name) ?? []).map((row) => [row.seq, row]));
    return {
      input: fields as NewTask,
      blockers: [...rows.values()],
      among: names.flatMap((name) => among.get(name) ?? []),
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
