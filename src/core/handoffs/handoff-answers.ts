import type { z } from "zod";
import { DibsError } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { noticesOf } from "../agents/notices.js";
import type { Context, Handler, Reply } from "../context.js";
import { viewOf } from "../dependencies/blockers.js";
import { refuseFrozen, refuseFrozenNames } from "../holds/frozen.js";
import { roomForAll } from "../leases/claim-limit.js";
import { leaseSecondsOf, notifyLost, transfer } from "../leases/leases.js";
import { leaseLost } from "../leases/lost-lease.js";
import { tellLost, transferScope, transferScopesOf } from "../leases/scope-leases.js";
import { isOffered } from "../line/line-order.js";
import { conflictOf, ticketsNear } from "../line/line-tickets.js";
import { endCovered } from "../line/waits.js";
import type { HandoffRow } from "../port/handoff-verbs.js";
import type { ProjectRow, TaskRow } from "../port/rows.js";
import type { ScopeClaimRow } from "../port/scope-rows.js";
import { quoted } from "../quoted.js";
import {
  type Conflict,
  type Found,
  isClaimLive,
  isInTheWay,
  lookAround,
  scopeConflict,
} from "../scopes/scope-conflicts.js";
import { type Wanted, wantedOf } from "../scopes/scope-names.js";
import { withoutFreePlaces } from "../scopes/scope-places.js";
import { scopeClaimView } from "../scopes/scope-view.js";
import { holderOf } from "../tasks/refusals.js";
import { holdingOf } from "../tasks/task-scopes.js";
import { taskState } from "../tasks/task-state.js";
import { iso } from "../tasks/task-view.js";
import { leaseOf } from "../tasks/work.js";
import { refusedBeside, unlandedBeside } from "../unlanded/unlanded-beside.js";
import { endOffer, handoffEvent, tell } from "./handoff-record.js";
import { handoffView, offeredThing, stands } from "./handoff-state.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/**
 * Takes what is offered (R39): exactly once, as long as the offer stands, and never where somebody else, its giver
 * counted, holds what overlaps. What is refused leaves it with its holder.
 */
export const accept_handoff: Handler<Input<"accept_handoff">> = async (context, input) => {
  const { handoff, task, claim } = await behindLocks(context, input.handoff_id);
  mayAnswer(context, handoff, { giver: false });
  const before = handoff.state === "accepted" && handoff.by_session === context.session?.id;
  if (before) return { body: await acceptedAnew(context, handoff.id) };
  if (!stands(handoff, context.nowMs)) throw await taken(context, handoff);
  const leaseSeconds = leaseSecondsOf(context, input.lease_seconds ?? (task ?? claim)?.lease_seconds ?? undefined);
  const accepted = task
    ? await takeTask(context, handoff, task, leaseSeconds)
    : await takeClaim(context, handoff, claim as ScopeClaimRow, leaseSeconds);
  return { ...accepted, handoff: handoff.id };
};

/** The handoff and what it is of, with that locked before the handoff is read: the order in which everybody comes. */
async function behindLocks(context: Context, id: string) {
  const { tx, workspaceId } = context;
  const seen = await handoffOf(context, id);
  if (seen.task_id !== null) {
    const task = await tx.tasks.byId(workspaceId, seen.task_id);
    return { handoff: await handoffOf(context, id), task, claim: undefined };
  }
  if (seen.claim_id !== null) await tx.scopes.alone(workspaceId);
  const [claim] = await tx.scopes.byIds(workspaceId, [seen.claim_id ?? ""]);
  return { handoff: await handoffOf(context, id), task: undefined, claim };
}

/** The handoff, or 404; another workspace's answers like an unknown one (R47). */
async function handoffOf(context: Context, id: string): Promise<HandoffRow> {
  const row = await context.tx.handoffs.byId(context.workspaceId, id);
  if (row) return row;
  throw new DibsError("not_found", `There is no handoff ${id}; see GET /v1/handoffs (dibs handoff list).`, {});
}

/** Whom it is offered to; it may be taken back by who offers it, too. */
function mayAnswer({ agent, session }: Context, row: HandoffRow, { giver }: { giver: boolean }): void {
  const named = row.to_session === null ? row.to_agent === agent.id : row.to_session === session?.id;
  const own = session !== null && row.from_session === session.id;
  if (own ? giver : named) return;
  const whom = row.to_session === null ? row.to_name : `session ${row.to_session} of ${row.to_name}`;
  const text = own ? "you hold it already, until somebody else accepts" : `it is offered to ${whom}`;
  throw new DibsError("forbidden", `Handoff ${row.id} of ${offeredThing(row)}: ${text}.`, {});
}

const ENDED: Readonly<Record<HandoffRow["state"], string>> = {
  offered: "the offer has ended",
  expired: "the offer has ended",
  accepted: "it was accepted",
  declined: "it was declined",
  withdrawn: "it was taken back",
  replaced: "another offer of it stands",
};

/** The refusal of whoever comes too late: what became of the offer, and who has what it was of. */
async function taken(context: Context, row: HandoffRow): Promise<DibsError<"handoff_taken">> {
  const holder = await holderNow(context, row);
  const { state } = handoffView(row, context.nowMs);
  const has = holder ? ` ${holder.agent_name} (session ${holder.session_id}) holds it until ${holder.expires_at}.` : "";
  return new DibsError("handoff_taken", `${offeredThing(row)} can't be had by this handoff: ${ENDED[state]}.${has}`, {
    state,
    ...(holder ? { holder } : {}),
    next: ["Claim other work: claim_next_task.", "See what is offered to you: list_handoffs."],
  });
}

async function holderNow(context: Context, row: HandoffRow) {
  if (row.task_id !== null) {
    const task = await context.tx.tasks.byId(context.workspaceId, row.task_id);
    return task && (await holderOf(context, task));
  }
  const ids = [row.granted_lease, row.claim_id].filter((id) => id !== null);
  const claims = await context.tx.scopes.byIds(context.workspaceId, ids);
  const live = claims.find((claim) => isClaimLive(claim, context.nowMs));
  return live && scopeClaimView(live, context.nowMs);
}

async function takeTask(context: Context, handoff: HandoffRow, row: TaskRow, leaseSeconds: number): Promise<Reply> {
  await refuseFrozen(context, row);
  const held = row.scoped === 1 ? await context.tx.scopes.ofTask(row) : [];
  const named = await withWanted(context, held, row.project_id);
  // What it holds beside what it declares goes with it, and is as new to who gets it.
  await refuseFrozenNames(
    context,
    named.map(({ wanted }) => wanted),
    row.project_id,
  );
  await refuseOverlaps(context, named, row.id);
  if (handoff.from_agent !== context.agent.id) await roomForAll(context, held.length + 1);
  const note = handoff.note === null ? {} : { handoff_note: handoff.note };
  const after = await transfer(context, row, leaseSeconds, note);
  await transferScopesOf(context, named, { ...(await holdingOf(context, after)), project: { id: row.project_id } });
  await settle(context, handoff, { lease_id: after.lease_id ?? "", fence: after.fence, session: after.holder_session });
  const to = { lease_id: after.lease_id, fence: after.fence, agent_id: after.holder_agent };
  const data = { ...leaseOf(row), to: { ...to, session_id: after.holder_session }, attempt: after.attempts };
  await handoffEvent(context.tx, "accepted", handoff, data, context);
  await notifyLost(
    context.tx,
    row,
    "transferred",
    `${context.agent.name} accepted ${quoted(row)}: you hold it no more.`,
  );
  return answer(context, handoff.id, after, null);
}

async function takeClaim(
  context: Context,
  handoff: HandoffRow,
  row: ScopeClaimRow,
  leaseSeconds: number,
): Promise<Reply> {
  const [named] = await withWanted(context, [row], row.project_id);
  if (!named) throw new Error(`Claim ${row.id} has no name.`);
  await refuseFrozenNames(context, [named.wanted], row.project_id);
  const own = await refuseOverlaps(context, [named], null);
  if (handoff.from_agent !== context.agent.id && !own) await roomForAll(context, 1);
  const session = await context.holder();
  const after = await transferScope(context, named, { session, project: { id: row.project_id }, leaseSeconds }, own);
  await settle(context, handoff, { lease_id: after.id, fence: after.fence, session: session.id });
  await endCovered(context, session.id);
  const to = { lease_id: after.id, fence: after.fence, agent_id: session.agent_id, session_id: session.id };
  const was = { mode: row.mode, fence: row.fence, agent_id: row.holder_agent, session_id: row.holder_session };
  await handoffEvent(context.tx, "accepted", handoff, { ...was, to }, context);
  await tellLost(context.tx, row, "transferred", `${context.agent.name} accepted ${row.scope}: you hold it no more.`);
  return answer(context, handoff.id, null, after.id);
}

async function withWanted(context: Context, rows: readonly ScopeClaimRow[], projectId: string) {
  const project = (await context.project(projectId)) as ProjectRow;
  return rows.map((row) => {
    const [wanted] = wantedOf(context, [{ scope: row.scope, mode: row.mode }], project) as [Wanted];
    return { ...row, wanted };
  });
}

/**
 * Refuses what would let two hold what overlaps: the giver's other claims, and what it was offered, were no bar to its own
 * session, but they are one to the receiver's. With what the receiver has of that very name, which goes on (R33). Throws `scope_conflict`.
 */
async function refuseOverlaps(
  context: Context,
  named: readonly (ScopeClaimRow & { readonly wanted: Wanted })[],
  taskId: string | null,
): Promise<ScopeClaimRow | undefined> {
  if (named.length === 0) return undefined;
  const around = await lookAround(
    context,
    named.map(({ wanted }) => wanted),
  );
  const asker = { session: context.session, taskId };
  const conflicts: Conflict[] = [];
  let own: ScopeClaimRow | undefined;
  for (const [at, { wanted, seq, key }] of named.entries()) {
    for (const holder of (around[at] as Found).live) {
      if (holder.seq === seq) continue;
      if (isInTheWay(holder, wanted, asker)) conflicts.push({ wanted, holder });
      const mine = holder.holder_session === context.session?.id && holder.task_id === null;
      if (taskId === null && mine && holder.key === key) own = holder;
    }
  }
  const wanted = named.map((each) => each.wanted);
  const inLine = { ...asker, rank: context.nowMs, ticket: null, newcomer: true };
  // What waits for more for the same task ends with its lease.
  const offers = (await ticketsNear(context, [{ wanted, asker: inLine }])).filter(
    ({ wait }) => isOffered(wait, context.nowMs) && (taskId === null || wait.task_id !== taskId),
  );
  conflicts.push(...offers.map((met) => conflictOf(met, context.nowMs)));
  const inTheWay = await withoutFreePlaces(context, conflicts);
  if (inTheWay.length > 0) throw await refusedBeside(context, named, scopeConflict(context, inTheWay, null));
  return own;
}

interface Granted {
  readonly lease_id: string;
  readonly fence: number;
  readonly session: string | null;
}

async function settle(context: Context, handoff: HandoffRow, granted: Granted): Promise<void> {
  const lease = { granted_lease: granted.lease_id, granted_fence: granted.fence };
  const end = { state: "accepted", ended_at: context.nowMs, by_session: granted.session, ...lease } as const;
  await endOffer(context.tx, handoff, end);
}

async function answer(context: Context, id: string, task: TaskRow | null, claimId: string | null): Promise<Reply> {
  const [claim] = claimId === null ? [] : await context.tx.scopes.byIds(context.workspaceId, [claimId]);
  const names = task?.scoped === 1 ? await context.tx.scopes.ofTask(task) : claim ? [claim] : [];
  const unlanded = await unlandedBeside(context, names);
  const body = {
    ...handoffView(await handoffOf(context, id), context.nowMs),
    // Made its holder's alone since, it has a higher one: that of the grant would be refused as superseded.
    ...(claim ? { fence: claim.fence } : {}),
    task: task && (await viewOf(context, task)),
    claim: claim ? scopeClaimView(claim, context.nowMs) : null,
    ...(unlanded.length > 0 ? { unlanded } : {}),
    notices: await noticesOf(context),
  };
  return { body };
}

/** The answer to whoever accepted it, as things are now; a lease that is dead is never given again as live (R59). */
export async function acceptedAnew(context: Context, id: string): Promise<unknown> {
  const row = await handoffOf(context, id);
  if (row.task_id !== null) {
    const task = await context.tx.tasks.byId(context.workspaceId, row.task_id);
    if (task?.lease_id === row.granted_lease && taskState(task as TaskRow, context.nowMs).held)
      return (await answer(context, id, task as TaskRow, null)).body;
    if (task) throw (await leaseLost(context, task, { lease_id: row.granted_lease ?? "" })).refusal;
  }
  const [claim] = await context.tx.scopes.byIds(context.workspaceId, [row.granted_lease ?? ""]);
  if (claim && isClaimLive(claim, context.nowMs)) return (await answer(context, id, null, claim.id)).body;
  throw new DibsError("lease_lost", `${offeredThing(row)} was handed to you, and is yours no more.`, {
    reason: claim?.ended_how ?? "expired",
    next: ["Stop working on it."],
  });
}

/** Ends an offer that stands: by whom it is for, or by who made it. The holder keeps what it has. */
export const decline_handoff: Handler<Input<"decline_handoff">> = async (context, input) => {
  const { handoff } = await behindLocks(context, input.handoff_id);
  mayAnswer(context, handoff, { giver: true });
  const own = handoff.from_session === context.session?.id;
  const state = own ? "withdrawn" : "declined";
  if (handoff.state === state) return { body: handoffView(handoff, context.nowMs) };
  if (!stands(handoff, context.nowMs)) throw await taken(context, handoff);
  await endOffer(context.tx, handoff, { state, ended_at: context.nowMs });
  const reason = input.reason ?? null;
  await handoffEvent(context.tx, "declined", handoff, { reason, ...(own ? { withdrawn: true } : {}) }, context);
  if (!own) {
    const message = `${context.agent.name} declined ${offeredThing(handoff)}${reason === null ? "" : `: ${reason}`}. You hold it still, until ${iso(handoff.lease_ends_at)} unless you renew it.`;
    await tell(context.tx, handoff.from_session, "handoff.declined", handoff, { message, data: { reason } });
  }
  return { body: handoffView(await handoffOf(context, handoff.id), context.nowMs) };
};
