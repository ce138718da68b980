import type { z } from "zod";
import { DibsError, invalidInput } from "../../contract/errors.js";
import { HOPS_MAX } from "../../contract/handoff.js";
import type { Operations } from "../../contract/operations.js";
import { projectOf } from "../agents/projects.js";
import { isSessionLive, sessionEnded } from "../agents/session-life.js";
import type { Context, Handler, Reply } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { newId } from "../ids.js";
import { holds } from "../leases/leases.js";
import { refuseLost } from "../leases/stale-writes.js";
import { agentOf, sessionOf } from "../named.js";
import type { StoredHandoff } from "../port/handoff-verbs.js";
import type { ScopeClaimRow } from "../port/scope-rows.js";
import { quoted } from "../quoted.js";
import { isClaimLive, isProven, overlapping } from "../scopes/scope-conflicts.js";
import { scopeClaimView } from "../scopes/scope-view.js";
import { taskOf } from "../tasks/tasks.js";
import { endOffer, expireOffer, handoffEvent, tellReceivers } from "./handoff-record.js";
import { handoffView, stands } from "./handoff-state.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** Offers a held task to others (R39); its holder keeps it until somebody accepts. */
export const handoff_task: Handler<Input<"handoff_task">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  if (!holds(context, row, input)) return refuseLost(context, row, input);
  if (row.cancel_requested === 1)
    throw invalidInput("task_id", "names a task that is to be cancelled: release it, or cancel it");
  mayGoOn(row.hops, quoted(row));
  const { lease_id, holder_agent, holder_session } = row;
  const lease = { lease_id: lease_id ?? "", from_agent: holder_agent ?? "", from_session: holder_session ?? "" };
  return offer(context, { project_id: row.project_id, task_id: row.id, claim_id: null, ...lease }, input);
};

/** The same of a scope that a session claimed by itself. */
export const handoff_claim: Handler<Input<"handoff_claim">> = async (context, input) => {
  const [row] = await context.tx.scopes.byIds(context.workspaceId, [input.claim_id]);
  if (!row) {
    const text = `There is no claim of a scope ${input.claim_id}; see GET /v1/claims (dibs who --json). A task is handed over by its own id: handoff_task.`;
    throw new DibsError("not_found", text, {});
  }
  if (row.holder_session !== context.session?.id || !isClaimLive(row, context.nowMs))
    throw await claimLost(context, row);
  if (!isProven(row, input)) throw await claimLost(context, row, "superseded");
  if (row.task_id !== null)
    throw invalidInput("claim_id", `names what goes with task ${row.task_id}: hand over the task (handoff_task)`);
  mayGoOn(row.hops, row.scope);
  const lease = { lease_id: row.id, from_agent: row.holder_agent, from_session: row.holder_session };
  return offer(context, { project_id: row.project_id, task_id: null, claim_id: row.id, ...lease }, input);
};

/** The refusal of whoever doesn't hold a scope (any more): how its claim ended, and who has that name, or of it, now (R3). */
async function claimLost(
  context: Context,
  row: ScopeClaimRow,
  how: "expired" | "superseded" = "expired",
): Promise<DibsError<"lease_lost">> {
  const mine = row.holder_session === context.session?.id;
  const reason = mine ? (row.ended_how ?? how) : "never_held";
  const now = isClaimLive(row, context.nowMs) ? row : await holderOfName(context, row);
  // Not that it is free: a hold, or who waits in line for it, may keep it from being claimed.
  const ended = mine ? " Your claim of it has ended." : "";
  const held = now ? ` ${now.agent_name} (session ${now.holder_session}) holds ${now.scope} now.` : ended;
  return new DibsError("lease_lost", `${row.scope} is not your session's to hand over.${held}`, {
    reason,
    ...(now ? { holder: scopeClaimView(now, context.nowMs) } : {}),
    next: ["Stop working on it.", "Claim it again if you want it: claim_scopes."],
  });
}

async function holderOfName(context: Context, { namespace, scope, kind, key, mode }: ScopeClaimRow) {
  const { live } = await overlapping(context, { namespace, scope: { text: scope, kind: { name: kind }, key } });
  return live.find((row) => row.key === key) ?? live.find((row) => !(row.mode === "shared" && mode === "shared"));
}

/** What is passed on and on is worked on by nobody (R39). */
function mayGoOn(hops: number, what: string): void {
  if (hops < HOPS_MAX) return;
  throw new DibsError(
    "limit_exceeded",
    `${what} has changed hands ${hops} times since anybody reported progress, the most there may be; a heartbeat that says how far it is starts anew.`,
    { setting: "handoff_hops", limit: HOPS_MAX },
  );
}

type Offered = Pick<StoredHandoff, "project_id" | "task_id" | "claim_id" | "lease_id" | "from_agent" | "from_session">;
type To = Pick<Input<"handoff_task">, "to_agent_id" | "to_session_id" | "note" | "offer_seconds">;

/** Writes the offer; one of the same lease that stood before is replaced by it. */
async function offer(context: Context, offered: Offered, input: To): Promise<Reply> {
  const { tx, nowMs } = context;
  const to = await receiverOf(context, offered.from_session, input);
  const before = await tx.handoffs.openOf(offered.lease_id);
  const replaces = before && stands(before, nowMs) ? { replaces: before.id } : {};
  if (before && "replaces" in replaces) await endOffer(tx, before, { state: "replaced", ended_at: nowMs });
  else if (before) await expireOffer(tx, before);
  const id = newId(nowMs);
  await tx.handoffs.insert({
    id,
    workspace_id: context.workspaceId,
    ...offered,
    ...to,
    note: input.note ?? null,
    offered_at: nowMs,
    expires_at: nowMs + input.offer_seconds * 1000,
    state: "offered",
    ended_at: null,
    by_session: null,
    granted_lease: null,
    granted_fence: null,
  });
  const row = await tx.handoffs.byId(context.workspaceId, id);
  if (!row) throw new Error("A handoff that was just offered is not there.");
  await handoffEvent(tx, "offered", row, replaces, context);
  await tellReceivers(tx, row);
  return { body: handoffView(row, nowMs) };
}

/** Whom it is for: a live session, or any of an agent's; never the one that holds it. */
async function receiverOf(context: Context, giver: string, { to_session_id, to_agent_id }: To) {
  if ((to_session_id === undefined) === (to_agent_id === undefined))
    throw invalidInput("to_session_id", "or to_agent_id must be given, and only one of them");
  if (to_agent_id !== undefined) return { to_agent: (await agentOf(context, to_agent_id)).id, to_session: null };
  const session = await sessionOf(context, to_session_id ?? "");
  if (session.id === giver) throw invalidInput("to_session_id", "is the session that holds it already");
  if (!isSessionLive(session, context.nowMs)) throw sessionEnded(session);
  return { to_agent: session.agent_id, to_session: session.id };
}

export const list_handoffs: Handler<Input<"list_handoffs">> = async (context, input) => {
  const page = pageOf("handoffs", input);
  const me = context.agent.id;
  const whose = { mine: { either: me }, to_me: { toAgent: me }, by_me: { fromAgent: me }, all: {} }[input.whose];
  const filter = {
    ...whose,
    ended: input.ended === true,
    taskId: input.task_id === undefined ? undefined : (await taskOf(context, input.task_id)).id,
    projectId: input.project_id === undefined ? undefined : (await projectOf(context, input.project_id)).id,
  };
  const rows = await context.tx.handoffs.list(context.workspaceId, filter, context.nowMs, page);
  const body = rows.map((row) => handoffView(row, context.nowMs));
  return { body, ...cursorAfter("handoffs", rows, page, (row) => [row.seq]) };
};
