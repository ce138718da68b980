import { DibsError } from "../../contract/errors.js";
import { projectOf } from "../agents/projects.js";
import type { Context } from "../context.js";
import type { PlanRow } from "../port/plan-verbs.js";

/** The plan of this name in the project named, the session's or the default one, locked for who adds to it; or 404. */
export async function planOf(
  context: Context,
  slug: string,
  projectId: string | undefined,
  lock = false,
): Promise<PlanRow> {
  const project = await projectOf(context, projectId);
  const plan = await context.tx.plans.bySlug(project.id, slug, { lock });
  if (plan) return plan;
  throw new DibsError(
    "not_found",
    `There is no plan ${slug} in project ${project.key}; see GET /v1/plans (dibs plan list).`,
    {},
  );
}
