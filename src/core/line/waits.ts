import type { z } from "zod";
import { DibsError } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { noticesOf } from "../agents/notices.js";
import { projectOf } from "../agents/projects.js";
import { sharersOf } from "../agents/sharing.js";
import type { Context, Handler } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { holdsOn } from "../holds/frozen-line.js";
import { holdView } from "../holds/hold-view.js";
import { roleAtLeast } from "../identity.js";
import { sha256 } from "../ids.js";
import { requireNamed } from "../named.js";
import type { TaskRow } from "../port/rows.js";
import type { WaitedName, WaitFilter, WaitRow } from "../port/wait-rows.js";
import { givenAndLost } from "../scopes/lost-claim.js";
import { type Conflict, isClaimLive, type Looking } from "../scopes/scope-conflicts.js";
import { namespaceOf, nearTo, scopeOf, type Wanted } from "../scopes/scope-names.js";
import { overlap } from "../scopes/scope-overlap.js";
import { scopeClaimView } from "../scopes/scope-view.js";
import { iso } from "../tasks/task-view.js";
import { unlandedBeside } from "../unlanded/unlanded-beside.js";
import { countAhead, inTheWayOf } from "./in-line.js";
import { endWait } from "./line.js";
import { endOf, isOffered, isTicketOf, isWaiting, namesOf } from "./line-order.js";
import { askerOf, waitingOf, wantedBy } from "./line-tickets.js";
import { lookingOnce } from "./looking-once.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** What is asked for without a priority, as a task is. */
export const DEFAULT_PRIORITY = 2;

/** The same for the same names in the same modes, for the same task: who asks again keeps its place (R35). */
export function markOf(wanted: readonly Wanted[], row: TaskRow | null): string {
  const names = wanted.map(({ namespace, scope, mode }) => [namespace, scope.key, mode].join(" ")).sort();
  return sha256(JSON.stringify([row?.id ?? null, row?.lease_id ?? null, ...names]));
}

/** The session's ticket for that request, if it has one that waits. */
export async function ticketOf(context: Context, mark: string): Promise<WaitRow | null> {
  const { session } = context;
  if (!session) return null;
  const near = await context.tx.waits.ofSessions([session.id, ...sharersOf(session)]);
  const own = near.filter((wait) => isTicketOf(wait, session));
  return own.find((wait) => wait.mark === mark && isWaiting(wait, context.nowMs)) ?? null;
}

/** Ends what else the session waits for and has all of by now, be it by several calls. */
export async function endCovered(context: Context, sessionId: string | null): Promise<void> {
  if (sessionId === null || !(await context.tx.waits.any)) return;
  const waits = await waitingOf(context, [sessionId]);
  if (waits.length === 0) return;
  const held = (await context.tx.scopes.heldBySessions([sessionId])).filter((claim) =>
    isClaimLive(claim, context.nowMs),
  );
  const has = (name: WaitedName, taskId: string | null) =>
    held.find(
      (claim) =>
        claim.task_id === taskId &&
        claim.namespace === name.namespace &&
        claim.key === name.key &&
        (claim.mode === "exclusive" || name.mode === "shared"),
    );
  for (const wait of waits) {
    const got = namesOf(wait).map((name) => has(name, wait.task_id));
    if (!got.every((claim) => claim !== undefined)) continue;
    await endWait(context.tx, wait, "granted", { claims: got.map(({ id }) => id), by: context });
  }
}

/** What a new ticket is besides. */
export const NOT_OFFERED = { offered_until: null, ended_at: null, ended_how: null, claims: null };

export async function waitOf(context: Context, ticket: string): Promise<WaitRow> {
  const found = await context.tx.waits.byId(context.workspaceId, ticket);
  // What keeps names free for a task is nobody's ticket.
  if (found && found.session_id !== null) return found;
  throw new DibsError("not_found", `There is no ticket ${ticket}; see GET /v1/waits (dibs wait list).`, {});
}

export const list_waits: Handler<Input<"list_waits">> = async (context, input) => {
  await requireNamed(context, input);
  const page = pageOf("waits", input);
  const project = input.project_id === undefined ? null : await projectOf(context, input.project_id);
  const scope =
    input.scope === undefined ? null : scopeOf(context, input.scope, project ?? (await projectOf(context, undefined)));
  const namespace = scope && namespaceOf(context, scope, project ?? (await projectOf(context, undefined)));
  const filter: WaitFilter = {
    ...(project ? { projectId: project.id } : {}),
    ...(input.agent_id === undefined ? {} : { agentId: input.agent_id }),
    ...(input.session_id === undefined ? {} : { sessionId: input.session_id }),
    ...(scope && namespace ? { near: { namespace, near: nearTo(scope) } } : {}),
  };
  const rows = await context.tx.waits.list(context.workspaceId, filter, context.nowMs, page);
  const meant = rows.filter(
    (row) => !scope || namesOf(row).some((name) => name.namespace === namespace && overlap(name.key, scope.key)),
  );
  const looking = lookingOnce(context);
  const body = await Promise.all(meant.map((row) => waitView(looking, row)));
  return { body, ...cursorAfter("waits", rows, page, (row) => [row.rank, row.seq]) };
};

/** A ticket as it is at this instant, whether or not anybody noticed its end. */
export async function waitView(looking: Looking, row: WaitRow) {
  const { nowMs } = looking;
  const end = endOf(row, nowMs);
  const offered = isOffered(row, nowMs) ? row.offered_until : null;
  const state = end ? (end.how === "granted" ? "granted" : "ended") : offered === null ? "waiting" : "offered";
  return {
    ticket: row.id,
    state,
    position: end ? null : (await countAhead(looking, wantedBy(row), askerOf(row))) + 1,
    project_id: row.project_id,
    scopes: namesOf(row).map(({ scope, mode }) => ({ scope, mode })),
    intent: row.intent,
    priority: row.priority,
    agent_id: row.agent_id ?? "",
    agent_name: row.agent_name ?? "",
    session_id: row.session_id ?? "",
    task_id: row.task_id,
    asked_at: iso(row.asked_at),
    offer_expires_at: offered === null ? null : iso(offered),
    offer_remaining_ms: offered === null ? null : offered - nowMs,
    ended_at: end ? iso(end.atMs) : null,
    ended_how: end?.how ?? null,
  };
}

/** The answer about one ticket: with who is in its way, and what it was granted. */
export async function answerOf(context: Context, row: WaitRow): Promise<{ body: unknown; conflicts: Conflict[] }> {
  const waits = isWaiting(row, context.nowMs);
  const conflicts = waits ? await inTheWayOf(context, wantedBy(row), askerOf(row)) : [];
  const behind = new Map(conflicts.map(({ holder }) => [holder.id, holder]));
  const granted = row.claims === null ? [] : (JSON.parse(row.claims) as string[]);
  const claims = granted.length === 0 ? [] : await context.tx.scopes.byIds(context.workspaceId, granted);
  const view = (rows: Iterable<Parameters<typeof scopeClaimView>[0]>) =>
    [...rows].map((claim) => scopeClaimView(claim, context.nowMs));
  const unlanded = await unlandedBeside(context, claims);
  const body = {
    ...(await waitView(context, row)),
    behind: view(behind.values()),
    holds: waits ? holdsOn(await context.holds(), row).map((hold) => holdView(hold, context.nowMs)) : [],
    claims: view(claims),
    ...(unlanded.length > 0 ? { unlanded } : {}),
    notices: await noticesOf(context),
  };
  return { body, conflicts };
}

/**
 * The answer about a ticket that was given before, as things are now; what it was granted and its own session holds no more is
 * never given again as live (R59).
 */
export async function waitAnew(context: Context, ticket: string): Promise<unknown> {
  const row = await waitOf(context, ticket);
  if (row.ended_how === "granted" && isTicketOf(row, context.session)) {
    const ids = JSON.parse(row.claims ?? "[]") as string[];
    const claims = await context.tx.scopes.byIds(context.workspaceId, ids);
    const dead = claims.find((claim) => !isClaimLive(claim, context.nowMs));
    if (dead) throw givenAndLost(dead);
  }
  return (await answerOf(context, row)).body;
}

export const cancel_wait: Handler<Input<"cancel_wait">> = async (context, input) => {
  const row = await waitOf(context, input.ticket);
  if (row.agent_id !== context.agent.id && !roleAtLeast(context.role, "coordinator"))
    throw new DibsError("forbidden", "Only its own agent, or a coordinator, takes a ticket out of the line.", {});
  if (isWaiting(row, context.nowMs)) await endWait(context.tx, row, "cancelled", { by: context });
  return { body: (await answerOf(context, await waitOf(context, row.id))).body, wait: row.id };
};
