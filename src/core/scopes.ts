import type { z } from "zod";
import type { Operations } from "../contract/operations.js";
import { roomForAll } from "./claim-limit.js";
import type { Context, Handler } from "./context.js";
import { cursorAfter, pageOf } from "./cursor.js";
import { holds, leaseSecondsOf } from "./leases.js";
import { noticesOf } from "./notices.js";
import { projectOf } from "./projects.js";
import {
  type Asker,
  type Conflict,
  type Found,
  isInTheWay,
  isLive,
  lookAround,
  overlapping,
  scopeConflict,
} from "./scope-conflicts.js";
import { grantScopes, lapseScopes, renewScope, type ScopeGrant, scopeEvent } from "./scope-leases.js";
import { namespaceOf, nearTo, scopeOf, type Wanted, wantedOf } from "./scope-names.js";
import { overlap } from "./scope-overlap.js";
import type { GrantedScope, ScopeClaimRow } from "./scope-rows.js";
import { scopeClaimView } from "./scope-view.js";
import { refuseLost } from "./stale-writes.js";
import { taskState } from "./task-state.js";
import { iso } from "./task-view.js";
import { taskOf } from "./tasks.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** Grants all the names or none; what the session holds already under the same name is renewed (R5, R33). */
export const claim_scopes: Handler<Input<"claim_scopes">> = async (context, input) => {
  const project = await projectOf(context, input.project_id);
  const wanted = wantedOf(context, input.scopes, project, input.mode);
  const leaseSeconds = leaseSecondsOf(context, input.ttl_seconds, "ttl_seconds");
  let task: ScopeGrant["task"] = null;
  if (input.task_id !== undefined) {
    const row = await taskOf(context, input.task_id);
    if (!holds(context, row, {})) return refuseLost(context, row, {});
    const untilMs = taskState(row, context.nowMs).leaseEndMs ?? context.nowMs;
    // So that the end of its lease looks for them.
    if (row.scoped === 0) await context.tx.tasks.update(row, { scoped: 1 });
    task = { id: row.id, lease_id: row.lease_id ?? "", untilMs };
  }
  const session = await context.holder();
  const grant = { session, project, intent: input.intent, leaseSeconds, task };
  const claims = await claimAll(context, wanted, grant);
  const body = {
    claims: claims.map((row) => ({ ...scopeClaimView(row, context.nowMs), nested: row.nested })),
    notices: await noticesOf(context),
  };
  return { body };
};

/** The one way to a lease on a name: locks, then the look at who is in the way, then the grants. Throws `scope_conflict`. */
async function claimAll(context: Context, wanted: readonly Wanted[], grant: ScopeGrant): Promise<GrantedScope[]> {
  const asker: Asker = { session: grant.session, taskId: grant.task?.id ?? null };
  const conflicts: Conflict[] = [];
  const dead = new Map<number, ScopeClaimRow>();
  const own = new Map<string, ScopeClaimRow>();
  const around = await lookAround(context, wanted);
  for (const [at, each] of wanted.entries()) {
    const found = around[at] as Found;
    for (const row of found.dead) dead.set(row.seq, row);
    for (const row of found.live) {
      if (isSame(row, each, grant)) own.set(each.scope.key, row);
      else if (isInTheWay(row, each, asker)) conflicts.push({ wanted: each, holder: row });
    }
  }
  if (conflicts.length > 0) throw scopeConflict(context, conflicts);
  const fresh = wanted.filter(({ scope }) => !own.has(scope.key));
  await roomForAll(context, fresh.length);
  await lapseScopes(context.tx, [...dead.values()]);
  const granted = new Map((await grantScopes(context, fresh, grant)).map((row) => [row.key, row]));
  for (const row of granted.values()) await claimedEvent(context, row);
  const claims: GrantedScope[] = [];
  for (const { scope, mode } of wanted) {
    const held = own.get(scope.key);
    claims.push(held ? await again(context, held, mode, grant) : (granted.get(scope.key) as GrantedScope));
  }
  return claims;
}

/** A claim's identity: its session, its task or none, its name (R33). */
function isSame(row: ScopeClaimRow, { scope }: Wanted, { session, task }: ScopeGrant): boolean {
  return row.holder_session === session.id && row.task_id === (task?.id ?? null) && row.key === scope.key;
}

/** What is held is claimed once more; one that was shared may become the session's alone. */
async function again(
  context: Context,
  row: ScopeClaimRow,
  mode: Wanted["mode"],
  { intent, leaseSeconds }: ScopeGrant,
): Promise<ScopeClaimRow> {
  const upgraded = row.mode === "shared" && mode === "exclusive";
  const lease = row.task_id === null ? { lease_seconds: leaseSeconds } : {};
  const change = { nested: row.nested + 1, intent, ...(upgraded ? { mode } : {}), ...lease };
  const renewed = await renewScope(context, row, change);
  if (upgraded) await claimedEvent(context, renewed, { upgraded: true });
  return renewed;
}

async function claimedEvent(context: Context, row: GrantedScope, data: object = {}): Promise<void> {
  const { intent, lease_seconds } = row;
  await scopeEvent(context.tx, "scope.claimed", row, { intent, lease_seconds, ...data }, context);
}

export const check_scope: Handler<Input<"check_scope">> = async (context, input) => {
  const project = await projectOf(context, input.project_id);
  const [wanted] = wantedOf(context, [input.scope], project, input.mode) as [Wanted];
  const { live } = await overlapping(context, wanted);
  const asker = { session: context.session, taskId: null };
  const conflicts = live.filter((row) => isInTheWay(row, wanted, asker));
  const held = live.some((row) => row.holder_session === context.session?.id && row.key === wanted.scope.key);
  const rows = conflicts.map((row) => scopeClaimView(row, context.nowMs));
  return { body: { scope: wanted.scope.text, mode: input.mode, free: rows.length === 0, held, conflicts: rows } };
};

export const list_scope_history: Handler<Input<"list_scope_history">> = async (context, input) => {
  const project = await projectOf(context, input.project_id);
  const scope = scopeOf(input.scope, project);
  const page = pageOf("scope-history", input);
  const rows = await context.tx.scopes.past(namespaceOf(context, scope, project), nearTo(scope), page);
  const body = rows
    .filter((row) => overlap(row.key, scope.key))
    .map((row) => ({
      ...scopeClaimView(row, context.nowMs),
      ended_at: endedAt(row, context.nowMs),
      ended_how: row.ended_how ?? (isLive(row, context.nowMs) ? null : "expired"),
    }));
  return { body, ...cursorAfter("scope-history", rows, page, (row) => [row.seq]) };
};

function endedAt(row: ScopeClaimRow, nowMs: number): string | null {
  if (row.ended_at !== null) return iso(row.ended_at);
  return isLive(row, nowMs) ? null : scopeClaimView(row, nowMs).expires_at;
}
