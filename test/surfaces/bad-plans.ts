import { type Bad, text, wrong } from "./bad-input.js";

const STEP = '{"key":"a","content":"x"}';
const inPlan = { with: '"slug":"p"' };
const steps = (values: readonly string[], says: RegExp, more: Partial<Bad> = {}) =>
  wrong("create_plan", "steps", values, says, { ...inPlan, ...more });
/** What is wrong with plans. */
export const badPlans: readonly Bad[] = [
  ...steps(["[]"], /steps: must hold at least one step/),
  ...steps(["{}", "7"], /steps: must be (a list|an array)/),
  ...steps(['[{"key":"a"}]'], /steps\.0\.content: is required/, { field: "steps.0.content" }),
  ...steps(['[{"content":"x"}]'], /steps\.0\.key: is required/, { field: "steps.0.key" }),
  ...steps(
    ['[{"key":"a b","content":"x"}]', `[{"key":${text(65)},"content":"x"}]`],
    /steps\.0\.key: must be 1\.\.64 of/,
    {
      field: "steps.0.key",
    },
  ),
  ...steps([`[${STEP},${STEP}]`], /steps\.1\.key: is a, the key of an earlier step too/, { field: "steps.1.key" }),
  ...steps(['[{"key":"a","content":"x","plan":"q"}]'], /steps\.0\.plan: is not a field of create_plan/, {
    field: "steps.0.plan",
  }),
  ...steps(['[{"key":"a","content":"x","depends_on":[7]}]'], /steps\.0\.depends_on\.0: must be text/, {
    field: "steps.0.depends_on.0",
  }),
  ...wrong("create_plan", "slug", ['"A B"', '""', '"-x"', text(65)], /slug: must be 1\.\.64 of a-z, 0-9/, {
    with: `"steps":[${STEP}]`,
    not: ["CLI"],
  }),
  ...wrong("claim_next_task", "plan", [text(65)], /plan: must have at most 64 characters/),
];
