import type { z } from "zod";
import { DibsError } from "../contract/errors.js";
import type { Operations } from "../contract/operations.js";
import { requireReason } from "./claiming.js";
import type { Context, Handler, Reply } from "./context.js";
import { refuseFrozenNames } from "./frozen.js";
import type { Hold } from "./known-holds.js";
import { endWait, lineEvent, offerIfFree } from "./line.js";
import { isOffered, isWaiting } from "./line-order.js";
import { askerOf, hardInTheWay, wantedBy } from "./line-tickets.js";
import { projectOf } from "./projects.js";
import type { SessionRow } from "./rows.js";
import { type Conflict, scopeConflict, scopeEndMs } from "./scope-conflicts.js";
import { type Claiming, tryClaim } from "./scope-granting.js";
import { revokeScopes } from "./scope-leases.js";
import { taskOf } from "./tasks.js";
import type { WaitRow } from "./wait-rows.js";
import { answerOf, waitOf } from "./waits.js";
import { releaseByForce } from "./work.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** Where a ticket is; its session, waiting in this call, takes what is offered by being there (R36). */
export const get_wait: Handler<Input<"get_wait">> = async (context, input) => {
  let row = await noticed(context, input.ticket);
  const present = (input.wait_seconds ?? 0) > 0 && row.session_id === context.session?.id;
  if (present && isOffered(row, context.nowMs)) row = await take(context, row);
  const { body, conflicts } = await answerOf(context, row);
  if (!isWaiting(row, context.nowMs)) return { body };
  return { body, emptyUntilMs: endsFirst(row, conflicts, await context.holds()) };
};

export const accept_wait: Handler<Input<"accept_wait">> = async (context, input) => {
  const row = await noticed(context, input.ticket);
  const own = row.agent_id === context.agent.id && row.session_id === context.session?.id;
  if (!own) throw new DibsError("forbidden", "What a ticket is offered is for the session that waits.", {});
  const after = isOffered(row, context.nowMs) ? await take(context, row) : row;
  return { body: (await answerOf(context, after)).body };
};

/** The ticket, offered what it waits for if the clock has freed that and nobody noticed yet. */
async function noticed(context: Context, ticket: string): Promise<WaitRow> {
  const row = await waitOf(context, ticket);
  if (!isWaiting(row, context.nowMs) || isOffered(row, context.nowMs)) return row;
  return (await offerIfFree(context.tx, row)) ? waitOf(context, ticket) : row;
}

/** When the clock alone may change what a ticket is. */
function endsFirst(row: WaitRow, conflicts: readonly Conflict[], holds: readonly Hold[]): number | null {
  const ends = conflicts
    .filter(({ wait }) => !wait || wait.offered_until !== null)
    .map(({ holder }) => scopeEndMs(holder));
  for (const hold of holds) ends.push(hold.expires_at);
  for (const end of [row.offered_until, row.until]) if (end !== null) ends.push(end);
  return ends.length === 0 ? null : Math.min(...ends);
}

/** Takes what the ticket was offered. */
async function take(context: Context, row: WaitRow): Promise<WaitRow> {
  const session = await sessionOf(context, row);
  const tried = await tryClaim(context, await askedBy(context, row, session));
  if ("conflicts" in tried) return row;
  return grantedTo(context, row, tried.claims);
}

async function grantedTo(context: Context, row: WaitRow, claims: readonly { readonly id: string }[]): Promise<WaitRow> {
  await endWait(context.tx, row, "granted", { claims: claims.map(({ id }) => id), by: context });
  return waitOf(context, row.id);
}

async function askedBy(context: Context, row: WaitRow, session: SessionRow): Promise<Claiming> {
  return {
    wanted: wantedBy(row),
    project: await projectOf(context, row.project_id),
    intent: row.intent,
    leaseSeconds: row.lease_seconds,
    row: row.task_id === null ? null : await taskOf(context, row.task_id),
    asker: askerOf(row),
    holder: async () => session,
  };
}

async function sessionOf(context: Context, row: WaitRow): Promise<SessionRow> {
  const session = await context.tx.sessions.byId(context.workspaceId, row.session_id ?? "");
  if (!session) throw new Error(`Ticket ${row.id} is of a session that isn't there.`);
  return session;
}

/** A person decides otherwise: the ticket has its scopes now, and whoever had them is told by whom and why (R40). */
export const grant_wait: Handler<Input<"grant_wait">> = async (context, input) => {
  const row = await waitOf(context, input.ticket);
  const { reason } = input;
  requireReason(reason);
  if (!isWaiting(row, context.nowMs)) return { body: (await answerOf(context, row)).body };
  // The line is overruled, not a hold: that is lifted by its own id.
  await refuseFrozenNames(context, wantedBy(row), row.project_id, row.agent_id ?? "");
  const conflicts = await hardInTheWay(context, wantedBy(row), askerOf(row));
  for (const conflict of new Map(conflicts.map((each) => [each.holder.id, each])).values())
    await takeAway(context, conflict, reason);
  const asked = await askedBy(context, row, await sessionOf(context, row));
  const tried = await tryClaim(context, { ...asked, overrules: true });
  if ("conflicts" in tried) throw scopeConflict(context, tried.conflicts, null);
  await lineEvent(
    context.tx,
    "scope.overruled",
    row,
    { reason, from: conflicts.map(({ holder }) => holder.id) },
    context,
  );
  return granted(context, row, tried.claims);
};

async function granted(context: Context, row: WaitRow, claims: readonly { readonly id: string }[]): Promise<Reply> {
  return { body: (await answerOf(context, await grantedTo(context, row, claims))).body };
}

/** Ends what somebody holds, or is offered, for another; a task loses its scopes only with its lease. */
async function takeAway(context: Context, { holder, wait }: Conflict, reason: string): Promise<void> {
  const why = `${context.agent.name} gave it to another: ${reason}`;
  if (wait) await context.tx.waits.offer(wait.seq, null);
  else if (holder.task_id === null) await revokeScopes(context.tx, [holder], why);
  else await releaseByForce(context, await taskOf(context, holder.task_id), why);
}
