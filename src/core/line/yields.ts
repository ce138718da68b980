import type { z } from "zod";
import { DibsError, invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { noticesOf } from "../agents/notices.js";
import { projectOf } from "../agents/projects.js";
import type { Context, Handler } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { newId } from "../ids.js";
import { endScopes, scopeEvent } from "../leases/scope-leases.js";
import { requireNamed } from "../named.js";
import type { ScopeClaimRow } from "../port/scope-rows.js";
import type { YieldRow } from "../port/wait-rows.js";
import { titled } from "../quoted.js";
import { requireReason } from "../required-reason.js";
import { keepNarrowed } from "../scopes/narrowed.js";
import { isClaimLive, isProven, scopeConflict } from "../scopes/scope-conflicts.js";
import { tryClaim } from "../scopes/scope-granting.js";
import { wantedOf } from "../scopes/scope-names.js";
import { isWithin } from "../scopes/scope-overlap.js";
import { iso } from "../tasks/task-view.js";
import { taskOf } from "../tasks/tasks.js";
import { giveBack } from "../tasks/work.js";
import { rankOf } from "./line-order.js";
import { DEFAULT_PRIORITY } from "./waits.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

export const request_yield: Handler<Input<"request_yield">> = async (context, input) => {
  const { reason } = input;
  requireReason(reason);
  const claim = await claimOf(context, input.claim_id);
  requireLive(context, claim, "It is held no more: claim it.");
  const session = await context.holder();
  if (claim.holder_session === session.id) throw invalidInput("claim_id", "is your own session's claim; release it");
  const before = await context.tx.waits.openYield(claim.id, session.id);
  if (before) return { body: yieldView(before), otherwise: true };
  const asked: Omit<YieldRow, "seq"> = {
    id: newId(context.nowMs),
    workspace_id: context.workspaceId,
    project_id: claim.project_id,
    claim_id: claim.id,
    scope: claim.scope,
    holder_agent: claim.holder_agent,
    holder_session: claim.holder_session,
    asked_by_agent: context.agent.id,
    asked_by_session: session.id,
    reason,
    asked_at: context.nowMs,
    answer: null,
    answer_reason: null,
    answered_at: null,
  };
  await context.tx.waits.addYield(asked);
  await scopeEvent(context.tx, "scope.yield_requested", claim, { yield_id: asked.id, reason }, context);
  const message = `${context.agent.name} asks you to yield ${claim.scope} ("${titled(reason)}"): answer_yield ${asked.id}.`;
  await tell(context, claim, claim.holder_session, "yield.requested", message, { yield_id: asked.id, reason });
  return { body: yieldView(asked) };
};

/** The holder's answer; what it lets go of goes to the first in line when this call has done all that it does (R38). */
export const answer_yield: Handler<Input<"answer_yield">> = async (context, input) => {
  const asked = await context.tx.waits.yieldById(context.workspaceId, input.yield_id);
  if (!asked) throw new DibsError("not_found", `Nobody asked ${input.yield_id}; see GET /v1/yields.`, {});
  const claim = await claimOf(context, asked.claim_id);
  const { answer, reason = null } = input;
  if (claim.holder_session !== context.session?.id) throw notHeld(claim, "never_held");
  if (!isProven(claim, input)) throw notHeld(claim, "superseded");
  if (asked.answer === answer && !isClaimLive(claim, context.nowMs)) return answered(context, asked);
  requireLive(context, claim, "There is nothing left to answer for.");
  if (answer === "hold") requireReason(input.reason);
  // Said once more it is no news to who asked.
  if (answer === "hold" && asked.answer === "hold" && asked.answer_reason === reason) return answered(context, asked);
  const all = answer === "hold" ? [asked] : [asked, ...(await othersAsking(context, asked))];
  if (answer === "narrow") await narrow(context, claim, input.scopes);
  else if (input.scopes) throw invalidInput("scopes", "go with narrow alone");
  if (answer === "yield") await letGo(context, claim, input.handoff);
  const message = `${context.agent.name} ${ANSWERED[answer]} ${claim.scope}${reason === null ? "." : `: ${reason}`}`;
  const said = { answer, ...(reason === null ? {} : { reason }), ...(input.scopes ? { scopes: input.scopes } : {}) };
  for (const each of all) {
    await context.tx.waits.answerYield(each.id, answer, reason, context.nowMs);
    const data = { yield_id: each.id, ...said };
    await scopeEvent(context.tx, "scope.yield_answered", claim, data, context);
    await tell(context, claim, each.asked_by_session, "yield.answered", message, data);
  }
  return answered(context, { ...asked, answer, answer_reason: reason, answered_at: context.nowMs });
};

/** So many are answered with one; whoever has asked besides sees that the claim has ended. */
const ANSWERED_MAX = 1000;

/** What others asked of the same claim: what is let go of is let go of for all. */
async function othersAsking({ tx, workspaceId, nowMs }: Context, asked: YieldRow): Promise<YieldRow[]> {
  const page = { limit: ANSWERED_MAX, after: null };
  const open = await tx.waits.yields(workspaceId, { claimId: asked.claim_id, open: true }, nowMs, page);
  return open.filter(({ id }) => id !== asked.id);
}

const ANSWERED = { yield: "yields", hold: "keeps", narrow: "keeps only a part of" } as const;

async function answered(context: Context, asked: YieldRow) {
  return { body: { ...yieldView(asked), notices: await noticesOf(context) } };
}

/** A task's scopes are given back with the task. */
async function letGo(context: Context, claim: ScopeClaimRow, handoff: string | undefined): Promise<void> {
  if (claim.task_id === null) return endScopes(context, [claim], "released", { yielded: true });
  await giveBack(context, await taskOf(context, claim.task_id), handoff, { yielded: true });
}

/** The claim becomes claims of what lies within it, at no instant free for another. */
async function narrow(context: Context, claim: ScopeClaimRow, texts: readonly string[] | undefined): Promise<void> {
  if (!texts) throw invalidInput("scopes", "must say what you keep, as answer is narrow");
  const project = await context.project(claim.project_id);
  if (!project) throw new Error(`Project ${claim.project_id} of claim ${claim.id} is not there.`);
  const wanted = wantedOf(context, texts, project, claim.mode);
  for (const { scope } of wanted)
    if (scope.key === claim.key || !isWithin(scope.key, claim.key))
      throw invalidInput("scopes", `must be smaller than ${claim.scope} and within it, which ${scope.text} is not`);
  const { session } = context;
  const row = claim.task_id === null ? null : await taskOf(context, claim.task_id);
  const asker = {
    session,
    taskId: claim.task_id,
    rank: rankOf(context.nowMs, DEFAULT_PRIORITY),
    ticket: null,
    newcomer: true,
  };
  const { intent, lease_seconds: leaseSeconds, hops, nested } = claim;
  const holder = () => context.holder();
  await endScopes(context, [claim], "released", { narrowed: true });
  const asked = { wanted, project, intent, leaseSeconds, row, asker, holder, hops, nested, overrules: true } as const;
  const tried = await tryClaim(context, asked);
  if ("conflicts" in tried) throw scopeConflict(context, tried.conflicts, null);
  const now = tried.claims.map(({ id }) => id);
  await keepNarrowed(context, claim.id, now);
}

async function claimOf(context: Context, id: string): Promise<ScopeClaimRow> {
  const [claim] = await context.tx.scopes.byIds(context.workspaceId, [id]);
  if (claim) return claim;
  throw new DibsError("not_found", `There is no claim ${id} of a scope; see GET /v1/claims (dibs who).`, {});
}

function requireLive(context: Context, claim: ScopeClaimRow, next: string): void {
  if (!isClaimLive(claim, context.nowMs)) throw notHeld(claim, claim.ended_how ?? "expired", next);
}

type NotHeld = "never_held" | "superseded" | NonNullable<ScopeClaimRow["ended_how"]>;

function notHeld(claim: ScopeClaimRow, reason: NotHeld, next?: string) {
  const message =
    reason === "never_held"
      ? "is not your session's claim"
      : reason === "superseded"
        ? "is held by another grant"
        : "is held no more";
  return new DibsError("lease_lost", `${claim.scope} ${message}.`, {
    reason,
    next: [next ?? "Only the session that holds it answers."],
  });
}

async function tell(
  context: Context,
  claim: ScopeClaimRow,
  sessionId: string,
  type: string,
  message: string,
  data: object,
): Promise<void> {
  const { id, scope, task_id } = claim;
  await context.tx.notes.addNotice({
    id: newId(context.nowMs),
    session_id: sessionId,
    type,
    task_id,
    at: context.nowMs,
    message,
    data: JSON.stringify({ claim_id: id, scope, ...data }),
  });
}

function yieldView(row: Omit<YieldRow, "seq">) {
  return {
    id: row.id,
    claim_id: row.claim_id,
    project_id: row.project_id,
    scope: row.scope,
    holder_agent_id: row.holder_agent,
    holder_session_id: row.holder_session,
    asked_by_agent_id: row.asked_by_agent,
    asked_by_session_id: row.asked_by_session,
    reason: row.reason,
    asked_at: iso(row.asked_at),
    answer: row.answer,
    answer_reason: row.answer_reason,
    answered_at: row.answered_at === null ? null : iso(row.answered_at),
  };
}

export const list_yields: Handler<Input<"list_yields">> = async (context, input) => {
  await requireNamed(context, { session_id: input.holder_session_id });
  const page = pageOf("yields", input);
  const filter = {
    ...(input.project_id === undefined ? {} : { projectId: (await projectOf(context, input.project_id)).id }),
    ...(input.holder_session_id === undefined ? {} : { holderSession: input.holder_session_id }),
    ...(input.open === undefined ? {} : { open: input.open }),
  };
  const rows = await context.tx.waits.yields(context.workspaceId, filter, context.nowMs, page);
  return { body: rows.map(yieldView), ...cursorAfter("yields", rows, page, (row) => [row.seq]) };
};
