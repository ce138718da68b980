import type { Context } from "../context.js";
import { refuseFrozenNames } from "../holds/frozen.js";
import { type Holding, roomForAll } from "../leases/claim-limit.js";
import { grantScopes, renewScope, type ScopeGrant, scopeEvent, upgradeScope } from "../leases/scope-leases.js";
import { ahead } from "../line/in-line.js";
import type { InLine } from "../line/line-tickets.js";
import type { SessionRow, TaskRow } from "../port/rows.js";
import type { GrantedScope, ScopeClaimRow } from "../port/scope-rows.js";
import { holdingOf } from "../tasks/task-scopes.js";
import {
  CONFLICTS_COUNTED,
  type Conflict,
  type Found,
  isClaimLive,
  isInTheWay,
  lookAround,
} from "./scope-conflicts.js";
import type { Wanted } from "./scope-names.js";
import { withoutFreePlaces } from "./scope-places.js";

/** What a claim of names is asked with, and by whom. */
export interface Claiming extends Pick<ScopeGrant, "project" | "intent" | "leaseSeconds" | "hops" | "nested"> {
  readonly wanted: readonly Wanted[];
  /** The task that they are claimed for. */
  readonly row: TaskRow | null;
  readonly asker: InLine;
  /** Who will hold them, where they are for no task. */
  holder(): Promise<SessionRow>;
  /** Whose limit it counts against, where not the caller's. */
  readonly agent?: Holding;
  /** Somebody has decided that whoever is before it in line is not. */
  readonly overrules?: true;
}

/** All are the asker's now, or somebody is in the way and nothing was changed. */
export type Tried = { readonly claims: readonly GrantedScope[] } | { readonly conflicts: readonly Conflict[] };

/** The one way to a lease on a name: locks, then the look at who is in the way, then the grants. */
export async function tryClaim(context: Context, asked: Claiming): Promise<Tried> {
  const { wanted, row } = asked;
  const { own, conflicts } = await looked(context, asked);
  const fresh = wanted.filter(({ scope }) => !own.has(scope.key));
  // Who makes smaller what it holds already gets nothing new.
  if (!asked.overrules) await refuseFrozenNames(context, fresh, asked.project.id);
  if (conflicts.length > 0) return { conflicts };
  await roomForAll(context, fresh.length, asked.agent);
  // Decided: from here on it writes.
  const held = row === null ? { session: await asked.holder(), task: null } : await heldFor(context, row);
  const grant: ScopeGrant = { ...asked, ...held };
  const granted = new Map((await grantScopes(context, fresh, grant)).map((each) => [each.key, each]));
  for (const each of granted.values()) await claimedEvent(context, each);
  const claims: GrantedScope[] = [];
  for (const { scope, mode } of wanted) {
    const before = own.get(scope.key);
    claims.push(before ? await again(context, before, mode, grant) : (granted.get(scope.key) as GrantedScope));
  }
  return { claims };
}

/** What of the names is the holder's already, locked, and who is in the way of the others. */
export async function looked(
  context: Context,
  { wanted, row, asker, overrules }: Pick<Claiming, "wanted" | "row" | "asker" | "overrules">,
) {
  const holder = row?.holder_session ?? asker.session?.id ?? null;
  const conflicts: Conflict[] = [];
  const own = new Map<string, ScopeClaimRow>();
  const fresh: Wanted[] = [];
  const around = await lookAround(context, wanted);
  for (const [at, each] of wanted.entries()) {
    const found = around[at] as Found;
    const mine = found.live.find((claim) => isSame(claim, each, asker.taskId, holder));
    if (mine) own.set(each.scope.key, mine);
    // Who has it already has it, also where several do and there are fewer places by now.
    if (isRenewal(mine, each)) continue;
    fresh.push(each);
    for (const claim of found.live) {
      if (conflicts.length >= CONFLICTS_COUNTED) break;
      if (claim !== mine && isInTheWay(claim, each, asker)) conflicts.push({ wanted: each, holder: claim });
    }
  }
  // A place may be free all the same. What is held already needs no place in line; and who is in line and can't have it yet
  // needs no more to be told.
  let inTheWay = await withoutFreePlaces(context, conflicts);
  const asks = !overrules && fresh.length > 0 && (inTheWay.length === 0 || asker.ticket === null);
  if (asks) inTheWay = await withoutFreePlaces(context, [...conflicts, ...(await ahead(context, fresh, asker))]);
  if (inTheWay.length > 0) return { own, conflicts: inTheWay };
  // A heartbeat or a release of these may be under way.
  const seqs = [...own.values()].map(({ seq }) => seq);
  const locked = seqs.length === 0 || !context.tx.shared ? [...own.values()] : await context.tx.scopes.locked(seqs);
  const held = locked.filter((claim) => isClaimLive(claim, context.nowMs));
  return {
    own: new Map(held.map((claim) => [claim.key as string, claim])),
    conflicts: inTheWay,
  };
}

/** Whether what is held already is all that is wanted: it needs to be free of nobody. */
export function isRenewal(own: ScopeClaimRow | undefined, { mode }: Wanted): boolean {
  return own !== undefined && (own.mode === "exclusive" || mode === "shared");
}

/** Who holds what is claimed for a task, and by which lease: its holder, also where a session that shares it asks. */
async function heldFor(context: Context, row: TaskRow): Promise<Pick<ScopeGrant, "session" | "task">> {
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
  { intent, leaseSeconds, hops = 0, nested = 1 }: ScopeGrant,
): Promise<ScopeClaimRow> {
  const upgraded = row.mode === "shared" && mode === "exclusive";
  const lease = row.task_id === null ? { lease_seconds: leaseSeconds } : {};
  const change = { nested: row.nested + nested, hops: Math.max(row.hops, hops), intent, ...lease };
  const renewed = await (upgraded ? upgradeScope : renewScope)(context, row, change);
  if (upgraded) await claimedEvent(context, renewed, { upgraded: true });
  return renewed;
}

async function claimedEvent(context: Context, row: GrantedScope, data: object = {}): Promise<void> {
  const { intent, lease_seconds } = row;
  await scopeEvent(context.tx, "scope.claimed", row, { intent, lease_seconds, ...data }, context);
}
