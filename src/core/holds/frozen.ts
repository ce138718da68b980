import { DibsError } from "../../contract/errors.js";
import type { Context } from "../context.js";
import type { TaskRow } from "../port/rows.js";
import { quoted } from "../quoted.js";
import type { Wanted } from "../scopes/scope-names.js";
import { declared } from "../tasks/task-scopes.js";
import { iso } from "../tasks/task-view.js";
import { freezes } from "./freezing.js";
import { holdView } from "./hold-view.js";
import type { Hold } from "./known-holds.js";

/** What a hold may freeze: a task, by its project and by what it declares. */
export type Freezable = Pick<TaskRow, "id" | "seq" | "project_id" | "scopes">;

/** The live holds that don't let the agent pass. */
async function inForce(context: Context, agentId = context.agent.id): Promise<readonly Hold[]> {
  const holds = await context.holds();
  return holds.length === 0 ? holds : holds.filter((hold) => !hold.allowed.has(agentId));
}

/** The holds that freeze the task for the caller, oldest first: those on its project and on what it declares (R41). */
export async function frozenBy(context: Context, task: Freezable): Promise<readonly Hold[]> {
  const holds = await inForce(context);
  if (holds.length === 0) return holds;
  return freezing(holds, task.project_id, await declared(context, task));
}

/** Those of the tasks that are frozen for the caller, by sequence number. */
export async function frozenAmong(context: Context, tasks: readonly Freezable[]): Promise<ReadonlySet<number>> {
  if ((await inForce(context)).length === 0) return NONE;
  const frozen = new Set<number>();
  for (const task of tasks) if ((await frozenBy(context, task)).length > 0) frozen.add(task.seq);
  return frozen;
}

const NONE: ReadonlySet<number> = new Set();

/** Those of the holds that freeze new claims of these names, made in that project. */
function freezing(holds: readonly Hold[], projectId: string, wanted: readonly Wanted[]): Hold[] {
  const names = wanted.map(({ namespace, scope }) => ({ namespace, key: scope.key }));
  return holds.filter((hold) => freezes(hold, projectId, names));
}

/** The holds that keep the caller from claiming the names; none where it claims none. */
export async function frozenNames(
  context: Context,
  wanted: readonly Wanted[],
  projectId: string,
  agentId = context.agent.id,
): Promise<Hold[]> {
  if (wanted.length === 0) return [];
  return freezing(await inForce(context, agentId), projectId, wanted);
}

/** Refuses a new claim of names that are frozen for the agent, the caller where none is said. Throws `frozen`. */
export async function refuseFrozenNames(
  context: Context,
  wanted: readonly Wanted[],
  projectId: string,
  agentId = context.agent.id,
): Promise<void> {
  const holds = await frozenNames(context, wanted, projectId, agentId);
  if (holds.length === 0) return;
  const first = wanted.find((each) => freezing(holds, projectId, [each]).length > 0);
  throw frozen(context, first?.scope.text ?? "It", holds);
}

/** Refuses a new lease on a task that is frozen. Throws `frozen`. */
export async function refuseFrozen(context: Context, task: Freezable & Pick<TaskRow, "content">): Promise<void> {
  const holds = await frozenBy(context, task);
  if (holds.length > 0) throw frozen(context, quoted(task), holds);
}

/** The same of what the holder of a task declares anew: what it has already goes on. Throws `frozen`. */
export async function refuseFrozenChange(context: Context, before: Freezable, after: Freezable): Promise<void> {
  if ((await inForce(context)).length === 0) return;
  const was = await declared(context, before);
  const had = ({ namespace, scope }: Wanted) =>
    was.some((each) => each.namespace === namespace && each.scope.key === scope.key);
  const fresh = (await declared(context, after)).filter((each) => !had(each));
  await refuseFrozenNames(context, fresh, after.project_id);
}

/** Holds that a refusal lists. */
const LISTED_MAX = 100;

/** The refusal of what may not be claimed now, with every hold that freezes it. */
export function frozen(context: Context, what: string, holds: readonly Hold[]): DibsError<"frozen"> {
  const named = holds.slice(0, 3).map(({ scope, agent_name, reason, expires_at }) => {
    return `${scope ?? "the project"} until ${iso(expires_at)} (${agent_name}, "${reason}")`;
  });
  const more = holds.length > named.length ? ` and ${holds.length - named.length} more` : "";
  const last = Math.max(...holds.map((hold) => hold.expires_at));
  return new DibsError("frozen", `${what} is frozen: ${named.join(", ")}${more}.`, {
    holds: holds.slice(0, LISTED_MAX).map((hold) => holdView(hold, context.nowMs)),
    next: [
      "Work on something else: claim_next_task passes over what is frozen.",
      `Try again after ${iso(last)}, when the last of these holds ends.`,
      "A coordinator can lift a hold: lift_hold.",
    ],
  });
}
