import type { z } from "zod";
import type { Operations } from "../../contract/operations.js";
import type { Context, Handler } from "../context.js";
import { grouped } from "../grouped.js";
import { refuseFrozenNames } from "../holds/frozen.js";
import { revokeScopes } from "../leases/scope-leases.js";
import { requireReason } from "../required-reason.js";
import { type Conflict, scopeConflict } from "../scopes/scope-conflicts.js";
import { tryClaim } from "../scopes/scope-granting.js";
import { withoutFreePlaces } from "../scopes/scope-places.js";
import { taskState } from "../tasks/task-state.js";
import { taskOf } from "../tasks/tasks.js";
import { releaseByForce } from "../tasks/work.js";
import { lineEvent, tellGranted, withdrawOffer } from "./line.js";
import { isOffered, isWaiting } from "./line-order.js";
import { hardInTheWay, requestOf, wantedBy } from "./line-tickets.js";
import { askedBy, grantedTo, waitsNoMore } from "./taking.js";
import { answerOf, waitOf } from "./waits.js";

type Input = z.output<Operations["grant_wait"]["input"]>;

/** A person decides otherwise: the ticket has its scopes now, and whoever had them is told by whom and why (R40). */
export const grant_wait: Handler<Input> = async (context, input) => {
  const row = await waitOf(context, input.ticket);
  const { reason } = input;
  requireReason(reason);
  if (row.ended_how === "granted") return { body: (await answerOf(context, row)).body, wait: row.id };
  if (!isWaiting(row, context.nowMs)) throw waitsNoMore(row, context.nowMs);
  // The line is overruled, not a hold: that is lifted by its own id.
  await refuseFrozenNames(context, wantedBy(row), row.project_id, row.agent_id ?? "");
  const asked = await askedBy(context, row);
  const losers = await losersOf(context, await hardInTheWay(context, [requestOf(row)]));
  for (const loser of losers) await takeAway(context, loser, reason);
  const tried = await tryClaim(context, { ...asked, overrules: true });
  if ("conflicts" in tried) throw scopeConflict(context, tried.conflicts, null);
  const from = [...new Set(losers.flat().map(({ holder }) => holder.id))];
  await lineEvent(context.tx, "scope.overruled", row, { reason, from }, context);
  const after = await grantedTo(context, row, tried.claims);
  await tellGranted(context.tx, after, context, reason);
  return { body: (await answerOf(context, after)).body, wait: row.id };
};

/** All that one loses together: a ticket its offer, a session a claim, a task its lease with all its scopes. */
type Loser = readonly [Conflict, ...Conflict[]];

/**
 * Those who must make way: first whoever is in the way whatever the others do, then, while no place is free, offers before
 * what is held and the newest before the older, as they have the least to lose.
 */
async function losersOf(context: Context, conflicts: readonly Conflict[]): Promise<Loser[]> {
  const losers: Loser[] = [];
  let left = [...conflicts];
  const lose = (one: Conflict) => {
    const all = left.filter((each) => loserOf(each) === loserOf(one));
    left = left.filter((each) => !all.includes(each));
    losers.push(all as [Conflict, ...Conflict[]]);
  };
  for (const all of grouped(conflicts, loserOf).values())
    if ((await withoutFreePlaces(context, all)).length > 0) lose(all[0] as Conflict);
  for (;;) {
    const [newest] = (await withoutFreePlaces(context, left)).sort(newestFirst);
    if (!newest) return losers;
    lose(newest);
  }
}

function loserOf({ holder, wait }: Conflict): string {
  if (wait) return `ticket ${wait.seq}`;
  return holder.task_id === null ? `claim ${holder.id}` : `task ${holder.task_id}`;
}

function newestFirst(a: Conflict, b: Conflict): number {
  const offers = Number(b.wait !== undefined) - Number(a.wait !== undefined);
  return offers || b.holder.claimed_at - a.holder.claimed_at || Math.abs(b.holder.seq) - Math.abs(a.holder.seq);
}

async function takeAway(context: Context, [{ holder, wait }]: Loser, reason: string): Promise<void> {
  const why = `${context.agent.name} gave it to another: ${reason}`;
  if (wait) {
    // A ticket for a task that has lost its lease just now is over with it.
    const [now] = await context.tx.waits.bySeqs([wait.seq]);
    if (now && isOffered(now, context.nowMs)) await withdrawOffer(context.tx, now, why, context);
    return;
  }
  if (holder.task_id === null) return revokeScopes(context.tx, [holder], why);
  const task = await taskOf(context, holder.task_id);
  // Read again behind its lock: its holder may just have let go of it.
  if (task.lease_id === holder.task_lease && taskState(task, context.nowMs).held)
    await releaseByForce(context, task, why);
}
