import type { z } from "zod";
import type { Operations } from "../../contract/operations.js";
import { noticesOf } from "../agents/notices.js";
import { projectOf } from "../agents/projects.js";
import type { Context, Handler } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { frozenNames } from "../holds/frozen.js";
import { holdView } from "../holds/hold-view.js";
import { holds, leaseSecondsOf } from "../leases/leases.js";
import { refuseLost } from "../leases/stale-writes.js";
import { openPlace, wait } from "../line/entering.js";
import { endWait } from "../line/line.js";
import { rankOf } from "../line/line-order.js";
import type { InLine } from "../line/line-tickets.js";
import { DEFAULT_PRIORITY, endCovered, markOf, ticketOf } from "../line/waits.js";
import type { TaskRow } from "../port/rows.js";
import type { GrantedScope, ScopeClaimRow } from "../port/scope-rows.js";
import { iso } from "../tasks/task-view.js";
import { taskOf } from "../tasks/tasks.js";
import { refusedBeside, unlandedBeside } from "../unlanded/unlanded-beside.js";
import { givenAndLost } from "./lost-claim.js";
import { isClaimLive, scopeConflict } from "./scope-conflicts.js";
import { type Claiming, isRenewal, looked, tryClaim } from "./scope-granting.js";
import { namespaceOf, nearTo, scopeOf, type Wanted, wantedOf } from "./scope-names.js";
import { overlap } from "./scope-overlap.js";
import { scopeClaimView } from "./scope-view.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/**
 * Grants all the names or none; what the session holds already under the same name is renewed (R5, R33). With `wait` a
 * request that can't be granted gets into line, or keeps its place there (R35).
 */
export const claim_scopes: Handler<Input<"claim_scopes">> = async (context, input) => {
  const project = await projectOf(context, input.project_id);
  const wanted = wantedOf(context, input.scopes, project, input.mode);
  const leaseSeconds = leaseSecondsOf(context, input.ttl_seconds, "ttl_seconds");
  const row = input.task_id === undefined ? null : await taskOf(context, input.task_id);
  if (row && !holds(context, row, {})) return refuseLost(context, row, {});
  const names = keysOf(wanted);
  const { asker, priority, mark, ticket } = await inLineFor(context, wanted, row, input.priority);
  const { intent } = input;
  const asked: Claiming = { wanted, project, intent, leaseSeconds, row, asker, holder: () => context.holder() };
  const beside = async (refusal: unknown): Promise<never> => {
    throw await refusedBeside(context, names, refusal);
  };
  const tried = await tryClaim(context, asked).catch(beside);
  if ("conflicts" in tried) {
    if (input.wait) return wait(context, asked, { priority, mark, ticket, conflicts: tried.conflicts });
    return beside(scopeConflict(context, tried.conflicts, await openPlace(context, asked, priority)));
  }
  const scopes = tried.claims.map(({ id }) => id);
  if (ticket) await endWait(context.tx, ticket, "granted", { claims: scopes, by: context });
  await endCovered(context, row?.holder_session ?? context.session?.id ?? null);
  const claims = tried.claims.map(claimedView(context));
  const unlanded = await unlandedBeside(context, names);
  return { body: { claims, unlanded, notices: await noticesOf(context) }, scopes };
};

/** For whom a call asks, and from where in line: by its ticket, if the session waits for just that. */
async function inLineFor(context: Context, wanted: readonly Wanted[], row: TaskRow | null, said: number | undefined) {
  const mark = markOf(wanted, row);
  const ticket = await ticketOf(context, mark);
  const priority = said ?? ticket?.priority ?? DEFAULT_PRIORITY;
  const asker: InLine = {
    session: context.session,
    taskId: row?.id ?? null,
    rank: ticket?.rank ?? rankOf(context.nowMs, priority),
    ticket: ticket?.seq ?? null,
    newcomer: ticket === null,
  };
  return { asker, priority, mark, ticket };
}

const keysOf = (wanted: readonly Wanted[]) => wanted.map(({ scope, namespace }) => ({ namespace, key: scope.key }));

const claimedView =
  ({ nowMs }: Context) =>
  (row: GrantedScope) => ({ ...scopeClaimView(row, nowMs), nested: row.nested });

/** The first answer to a claim of names, as they are now; one that is dead is never given again as live (R59). */
export async function claimedAnew(context: Context, ids: readonly string[]) {
  const rows = new Map((await context.tx.scopes.byIds(context.workspaceId, ids)).map((row) => [row.id, row]));
  const claims = ids.map((id) => {
    const row = rows.get(id);
    if (row && isClaimLive(row, context.nowMs)) return claimedView(context)(row);
    throw givenAndLost(row);
  });
  const unlanded = await unlandedBeside(context, [...rows.values()]);
  return { claims, unlanded, notices: await noticesOf(context) };
}

/** Who is in the way of a whole tree may be thousands; who asks whether it is free needs some. */
const CHECKED_MAX = 100;

export const check_scope: Handler<Input<"check_scope">> = async (context, input) => {
  const project = await projectOf(context, input.project_id);
  const [wanted] = wantedOf(context, [input.scope], project, input.mode) as [Wanted];
  const { asker } = await inLineFor(context, [wanted], null, undefined);
  const { own, conflicts } = await looked(context, { wanted: [wanted], row: null, asker });
  const mine = own.get(wanted.scope.key);
  const held = isRenewal(mine, wanted);
  const rows = conflicts.slice(0, CHECKED_MAX).map(({ holder }) => scopeClaimView(holder, context.nowMs));
  const frozen = mine ? [] : await frozenNames(context, [wanted], project.id);
  const free = rows.length === 0 && frozen.length === 0;
  const by = { conflicts: rows, holds: frozen.map((hold) => holdView(hold, context.nowMs)) };
  return { body: { scope: wanted.scope.text, mode: input.mode, free, held, ...by } };
};

export const list_scope_history: Handler<Input<"list_scope_history">> = async (context, input) => {
  const project = await projectOf(context, input.project_id);
  const scope = scopeOf(context, input.scope, project);
  const page = pageOf("scope-history", input);
  const rows = await context.tx.scopes.past(namespaceOf(context, scope, project), nearTo(scope), page);
  const body = rows
    .filter((row) => overlap(row.key, scope.key))
    .map((row) => ({
      ...scopeClaimView(row, context.nowMs),
      ended_at: endedAt(row, context.nowMs),
      ended_how: row.ended_how ?? (isClaimLive(row, context.nowMs) ? null : "expired"),
    }));
  return { body, ...cursorAfter("scope-history", rows, page, (row) => [row.seq]) };
};

function endedAt(row: ScopeClaimRow, nowMs: number): string | null {
  if (row.ended_at !== null) return iso(row.ended_at);
  return isClaimLive(row, nowMs) ? null : scopeClaimView(row, nowMs).expires_at;
}
