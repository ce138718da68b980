import type { z } from "zod";
import { DibsError } from "../contract/errors.js";
import type { Operations } from "../contract/operations.js";
import { roomForAll } from "./claim-limit.js";
import type { Context, Handler } from "./context.js";
import { cursorAfter, pageOf } from "./cursor.js";
import { frozenNames, refuseFrozenNames } from "./frozen.js";
import { holdView } from "./hold-view.js";
import { holds, leaseSecondsOf } from "./leases.js";
import { noticesOf } from "./notices.js";
import { projectOf } from "./projects.js";
import type { TaskRow } from "./rows.js";
import {
  type Asker,
  CONFLICTS_COUNTED,
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
import { holdingOf } from "./task-scopes.js";
import { iso } from "./task-view.js";
import { taskOf } from "./tasks.js";
import { refusedBeside, unlandedBeside } from "./unlanded-beside.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** Grants all the names or none; what the session holds already under the same name is renewed (R5, R33). */
export const claim_scopes: Handler<Input<"claim_scopes">> = async (context, input) => {
  const project = await projectOf(context, input.project_id);
  const wanted = wantedOf(context, input.scopes, project, input.mode);
  const leaseSeconds = leaseSecondsOf(context, input.ttl_seconds, "ttl_seconds");
  const row = input.task_id === undefined ? null : await taskOf(context, input.task_id);
  if (row && !holds(context, row, {})) return refuseLost(context, row, {});
  const names = namesOf(wanted);
  const claims = await claimAll(context, wanted, { project, intent: input.intent, leaseSeconds, row }).catch(
    async (fault: unknown) => {
      throw await refusedBeside(context, names, fault);
    },
  );
  const body = {
    claims: claims.map((each) => ({ ...scopeClaimView(each, context.nowMs), nested: each.nested })),
    unlanded: await unlandedBeside(context, names),
    notices: await noticesOf(context),
  };
  return { body, scopes: claims.map(({ id }) => id) };
};

const namesOf = (wanted: readonly Wanted[]) => wanted.map(({ scope, namespace }) => ({ namespace, key: scope.key }));

interface Claiming extends Pick<ScopeGrant, "project" | "intent" | "leaseSeconds"> {
  /** The task that they are claimed for. */
  readonly row: TaskRow | null;
}

/** The way to a lease on a name: locks, then the look at who is in the way, then the grants. Throws `scope_conflict`. */
async function claimAll(context: Context, wanted: readonly Wanted[], how: Claiming): Promise<GrantedScope[]> {
  const holder = how.row?.holder_session ?? context.session?.id ?? null;
  const { own, dead } = await looked(context, wanted, how, holder);
  const fresh = wanted.filter(({ scope }) => !own.has(scope.key));
  await roomForAll(context, fresh.length);
  // Decided: from here on it writes.
  const grant: ScopeGrant = { ...how, ...(await heldBy(context, how.row)) };
  await lapseScopes(context.tx, dead);
  const granted = new Map((await grantScopes(context, fresh, grant)).map((row) => [row.key, row]));
  for (const row of granted.values()) await claimedEvent(context, row);
  const claims: GrantedScope[] = [];
  for (const { scope, mode } of wanted) {
    const held = own.get(scope.key);
    claims.push(held ? await again(context, held, mode, grant) : (granted.get(scope.key) as GrantedScope));
  }
  return claims;
}

/** What of the names is the holder's already, locked, and what the clock has ended; throws where others are in the way. */
async function looked(context: Context, wanted: readonly Wanted[], how: Claiming, holder: string | null) {
  const taskId = how.row?.id ?? null;
  const asker: Asker = { session: context.session, taskId };
  const conflicts: Conflict[] = [];
  const dead = new Map<number, ScopeClaimRow>();
  const own = new Map<string, ScopeClaimRow>();
  const around = await lookAround(context, wanted);
  for (const [at, each] of wanted.entries()) {
    const found = around[at] as Found;
    for (const row of found.dead) dead.set(row.seq, row);
    for (const row of found.live) {
      if (conflicts.length >= CONFLICTS_COUNTED) break;
      if (isSame(row, each, taskId, holder)) own.set(each.scope.key, row);
      else if (isInTheWay(row, each, asker)) conflicts.push({ wanted: each, holder: row });
    }
  }
  const fresh = wanted.filter(({ scope }) => !own.has(scope.key));
  await refuseFrozenNames(context, fresh, how.project.id);
  if (conflicts.length > 0) throw scopeConflict(context, conflicts);
  // A heartbeat or a release of these may be under way.
  const seqs = [...own.values()].map(({ seq }) => seq);
  const locked = seqs.length === 0 || !context.tx.shared ? [...own.values()] : await context.tx.scopes.locked(seqs);
  const held = locked.filter((row) => isLive(row, context.nowMs));
  return { own: new Map(held.map((row) => [row.key as string, row])), dead: [...dead.values()] };
}

/** Who holds what is claimed now, and by which lease: a task's holder, also where a session that shares it asks. */
async function heldBy(context: Context, row: TaskRow | null): Promise<Pick<ScopeGrant, "session" | "task">> {
  if (row === null) return { session: await context.holder(), task: null };
  // So that the end of its lease looks for them.
  if (row.scoped === 0) await context.tx.tasks.update(row, { scoped: 1 });
  return holdingOf(context, row);
}

/** A claim's identity: its session, its task or none, its name (R33). */
function isSame(row: ScopeClaimRow, { scope }: Wanted, taskId: string | null, holder: string | null): boolean {
  return row.holder_session === holder && row.task_id === taskId && row.key === scope.key;
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

/** The first answer to a claim of names, as they are now; one that is dead is never given again as live (R59). */
export async function claimedAnew(context: Context, ids: readonly string[]) {
  const rows = new Map((await context.tx.scopes.byIds(context.workspaceId, ids)).map((row) => [row.id, row]));
  const claims = ids.map((id) => {
    const row = rows.get(id);
    if (row && isLive(row, context.nowMs)) return { ...scopeClaimView(row, context.nowMs), nested: row.nested };
    const reason = row?.ended_how ?? "expired";
    throw new DibsError("lease_lost", `${row?.scope ?? "A scope"} was claimed by this call, and is held no more.`, {
      reason,
      next: ["Stop working on it.", "Claim it again, with another Idempotency-Key: claim_scopes."],
    });
  });
  const unlanded = await unlandedBeside(context, [...rows.values()]);
  return { claims, unlanded, notices: await noticesOf(context) };
}

/** Who is in the way of a whole tree may be thousands; who asks whether it is free needs some. */
const CHECKED_MAX = 100;

export const check_scope: Handler<Input<"check_scope">> = async (context, input) => {
  const project = await projectOf(context, input.project_id);
  const [wanted] = wantedOf(context, [input.scope], project, input.mode) as [Wanted];
  const { live } = await overlapping(context, wanted);
  const asker = { session: context.session, taskId: null };
  const conflicts = live.filter((row) => isInTheWay(row, wanted, asker)).slice(0, CHECKED_MAX);
  const held = live.some((row) => row.holder_session === context.session?.id && row.key === wanted.scope.key);
  const rows = conflicts.map((row) => scopeClaimView(row, context.nowMs));
  const frozen = held ? [] : await frozenNames(context, [wanted], project.id);
  const free = rows.length === 0 && frozen.length === 0;
  const by = { conflicts: rows, holds: frozen.map((hold) => holdView(hold, context.nowMs)) };
  return { body: { scope: wanted.scope.text, mode: input.mode, free, held, ...by } };
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
