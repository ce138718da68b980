import type { Context } from "../context.js";
import { behindHold } from "../port/hold-rows.js";
import type { TaskRow } from "../port/rows.js";
import type { QueueFilter } from "../port/verbs.js";
import { nearTo } from "../scopes/scope-names.js";
import { overlap } from "../scopes/scope-overlap.js";
import { frozenBy } from "./frozen.js";
import type { Hold } from "./known-holds.js";

/**
 * Lets a task that is frozen for the caller sleep until the hold is over, with all others that the hold freezes: ten
 * thousand of them in front of the one that is free are looked at once, not by every claim. False where it isn't frozen.
 */
export async function sleepsFrozen(context: Context, row: TaskRow): Promise<boolean> {
  const holds = await frozenBy(context, row);
  if (holds.length === 0) return false;
  // Of several the last to end: behind the others it would be woken only to sleep again.
  const hold = holds.reduce((last, each) => (each.expires_at > last.expires_at ? each : last));
  await parkBehind(context, hold);
  context.heads.spoil();
  return true;
}

async function parkBehind({ tx }: Context, hold: Hold): Promise<void> {
  const { key, namespace, project_id, expires_at } = hold;
  if (key === null || namespace === null) return tx.holds.parkProject(project_id, behindHold(hold), expires_at);
  const near = await tx.scopes.declaredNear(namespace, nearTo({ key }));
  const met = near.filter((each) => overlap(each.key, key)).map(({ task_seq }) => task_seq);
  return tx.holds.park([...new Set(met)], behindHold(hold), expires_at);
}

/** Tasks that sleep behind holds which let the caller pass are the caller's to claim: wakes the first, if it is next. */
export async function wakeAllowed(context: Context, filter: QueueFilter): Promise<void> {
  const passed = (await context.holds()).filter((hold) => hold.allowed.has(context.agent.id));
  if (passed.length === 0) return;
  const before = await context.heads.first(context.tx, filter);
  if (await context.tx.holds.wakeFirst(filter, passed.map(behindHold), before)) context.heads.spoil();
}

/** Tasks that aren't closed and that are frozen for the caller, for lists that a store filters. */
export async function frozenTasks(context: Context): Promise<{ projectIds: string[]; taskSeqs: number[] } | undefined> {
  const holds = (await context.holds()).filter((hold) => !hold.allowed.has(context.agent.id));
  if (holds.length === 0) return undefined;
  const [projectIds, taskSeqs] = [new Set<string>(), new Set<number>()];
  for (const { key, namespace, project_id } of holds) {
    if (key === null || namespace === null) {
      projectIds.add(project_id);
      continue;
    }
    const near = await context.tx.holds.declaredNear(namespace, nearTo({ key }));
    for (const each of near) if (overlap(each.key, key)) taskSeqs.add(each.task_seq);
  }
  return { projectIds: [...projectIds], taskSeqs: [...taskSeqs] };
}
