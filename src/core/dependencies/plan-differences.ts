import { DibsError } from "../../contract/errors.js";
import type { PlanStep } from "../../contract/plan.js";
import type { PlanRow, StepRow } from "../port/plan-verbs.js";

/** Of a plan that has nothing to do with the other, some are enough. */
const NAMED_MAX = 20;

/** A step as it was written, in one form: the order of keys, labels and dependencies says nothing, nor how a time is written. */
export function definitionOf({ key: _, requires_verdict, ...step }: PlanStep): string {
  const instants = Object.fromEntries(
    (["due_date", "not_before"] as const).flatMap((field) => {
      const time = step[field];
      return time === undefined ? [] : [[field, new Date(Date.parse(time)).toISOString()]];
    }),
  );
  // What is not required is what goes without saying.
  const required = requires_verdict ? { requires_verdict } : {};
  const sets = { labels: sorted(step.labels), depends_on: sorted(step.depends_on) };
  return JSON.stringify(Object.entries(ordered({ ...step, ...required, ...instants, ...sets }) as object));
}

const sorted = (texts: readonly string[] = []) => [...new Set(texts)].sort();

/** The value with the keys of every object in one order, and what is undefined left out. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, ordered(item)]));
}

/** In words, what the steps say otherwise than those of the same key; new ones are no difference here. */
export function changedSteps(known: readonly StepRow[], steps: readonly PlanStep[]): string[] {
  const before = new Map(known.map((step) => [step.key, step.definition]));
  return steps.flatMap((step) => {
    const was = before.get(step.key);
    const is = definitionOf(step);
    if (was === undefined || was === is) return [];
    const [old, now] = [fieldsOf(was), fieldsOf(is)];
    const changed = [...new Set([...old.keys(), ...now.keys()])].filter(
      (field) => JSON.stringify(old.get(field)) !== JSON.stringify(now.get(field)),
    );
    return [`step ${step.key} has another ${changed.join(", ")}`];
  });
}

const fieldsOf = (definition: string) => new Map<string, unknown>(JSON.parse(definition));

/** In words, which steps only one of the two has. */
export function strangeSteps(known: readonly StepRow[], steps: readonly PlanStep[]): string[] {
  const [had, wanted] = [new Set(known.map(({ key }) => key)), new Set(steps.map(({ key }) => key))];
  return [
    ...steps.filter(({ key }) => !had.has(key)).map(({ key }) => `step ${key} is not in it`),
    ...known.filter(({ key }) => !wanted.has(key)).map(({ key }) => `its step ${key} is missing here`),
  ];
}

/** The refusal of a plan that is there already and says something else. */
export function anotherPlan(plan: PlanRow, differences: readonly string[]): DibsError<"already_exists"> {
  const told = differences.slice(0, NAMED_MAX);
  const more = differences.length > NAMED_MAX ? `; and ${differences.length - NAMED_MAX} more` : "";
  const remedy =
    "Choose another slug, change its tasks with update_task, or add steps: add_plan_steps (dibs plan apply FILE --add).";
  return new DibsError(
    "already_exists",
    `There is another plan ${plan.slug} already (${plan.id}): ${told.join("; ")}${more}. ${remedy}`,
    { differences: told },
  );
}
