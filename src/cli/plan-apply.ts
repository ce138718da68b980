import { basename } from "node:path";
import { readConfig } from "../config.js";
import { EXIT } from "../contract/errors.js";
import type { Plan } from "../contract/plan.js";
import { connect } from "./connect.js";
import { readGiven } from "./given-file.js";
import type { Output } from "./output.js";
import { PlanFile } from "./plan-file.js";
import { progressWords, widthWords } from "./shown/plan-card.js";
import { shown } from "./shown/shown-text.js";

interface Wanted {
  readonly file: string;
  readonly slug: string | undefined;
  readonly project: string | undefined;
  /** Add the steps that the plan hasn't yet. */
  readonly add: boolean;
}

/** Makes a file's plan real, in one transaction. Says what was created and how far the plan is. */
export async function applyPlan(wanted: Wanted, output: Output): Promise<number> {
  const file = new PlanFile(wanted.file === "-" ? "stdin" : basename(wanted.file), await readGiven(wanted.file));
  const { slug, project } = wanted;
  const given = { ...file.input, ...(slug && { slug }), ...(project && { project_id: project }) };
  const connection = await connect(readConfig());
  try {
    // The file is not checked here: what it may say is judged where every plan is.
    const plan = wanted.add
      ? await connection.dibs.addPlanSteps(withoutTitle(given) as never)
      : await connection.dibs.createPlan(given as never);
    if (output.json) output.value(plan);
    else output.data(summaryOf(plan, plan.steps_created));
    return EXIT.ok;
  } catch (refusal) {
    throw file.located(refusal);
  } finally {
    await connection.close();
  }
}

/** Steps are added to a plan as it is called. */
function withoutTitle({ title: _, ...rest }: Readonly<Record<string, unknown>>) {
  return rest;
}

function summaryOf(plan: Plan, created: number): string[] {
  const made =
    created === 0 ? "nothing new: it is there already" : `${created} ${created === 1 ? "step" : "steps"} created`;
  return [
    `Plan ${shown(plan.slug)}: ${made}.`,
    `  ${progressWords(plan.progress).join(", ")}; the longest chain has ${plan.critical_path.length}, at once run ${widthWords(plan)}.`,
    `  next: dibs plan show ${shown(plan.slug)} · dibs task claim --plan ${shown(plan.slug)}`,
  ];
}
