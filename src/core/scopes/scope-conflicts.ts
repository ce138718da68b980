import { DibsError } from "../../contract/errors.js";
import { hasNamesOf, type Sharing } from "../agents/sharing.js";
import type { Context } from "../context.js";
import { grouped } from "../grouped.js";
import type { UnderHolds } from "../holds/freezing.js";
import type { LeaseProof } from "../leases/leases.js";
import type { ScopeClaimRow, ScopeVerbs } from "../port/scope-rows.js";
import type { WaitRow, WaitVerbs } from "../port/wait-rows.js";
import { iso } from "../tasks/task-view.js";
import { oneEach } from "./one-holder.js";
import { OverlapIndex } from "./overlap-index.js";
import { indexKey } from "./scope-keys.js";
import { nearTo, type Wanted } from "./scope-names.js";
import { overlap } from "./scope-overlap.js";
import { scopeClaimView } from "./scope-view.js";

/** What a look at who is in the way needs of a call. */
export interface Looking extends Pick<Context, "workspaceId">, UnderHolds {
  /** By session the tickets that were found to wait for it (wait-graph.ts), where nothing is written meanwhile. */
  readonly found?: Map<string, Promise<ReadonlySet<number>>>;
  /** Where what the clock has ended is noted. */
  readonly dead?: Context["dead"];
  readonly tx: UnderHolds["tx"] & {
    readonly shared: boolean;
    readonly scopes: Pick<ScopeVerbs, "alone" | "nearAny" | "settle" | "heldBySessions" | "capacities">;
    readonly waits: Pick<WaitVerbs, "nearAny" | "ofSessions" | "anyOffered">;
  };
}

/** For whom something is asked: a session, and the task it is for, if it is for one. */
export interface Asker {
  readonly session: Sharing | null;
  readonly taskId: string | null;
}

export interface Conflict {
  readonly wanted: Wanted;
  /** The claim; of a ticket that is before the asker what it wants, in the same form. */
  readonly holder: ScopeClaimRow;
  readonly wait?: WaitRow;
  /** Where it isn't that they overlap. */
  readonly reason?: string;
}

/** When the claim ends by the clock, ms: the earlier of the lease it lives by and its session. */
export function scopeEndMs(row: Pick<ScopeClaimRow, "until" | "session_expires_at">): number {
  return Math.min(row.until, row.session_expires_at ?? row.until);
}

/** Live only while it has not ended; at the instant itself it is dead (R1). */
export function isClaimLive(row: ScopeClaimRow, nowMs: number): boolean {
  return row.ended_at === null && nowMs < scopeEndMs(row);
}

/** Whether it is the grant that a holder's write names, where it names one (R3). */
export function isProven(row: Pick<ScopeClaimRow, "id" | "fence">, { lease_id, fence }: LeaseProof): boolean {
  return (lease_id === undefined || lease_id === row.id) && (fence === undefined || fence === row.fence);
}

/** What was found that may overlap a scope: what lives, and what the clock has ended and nobody recorded. */
export interface Found {
  readonly live: readonly ScopeClaimRow[];
  readonly dead: readonly ScopeClaimRow[];
}

/**
 * For each of the names what may be in its way, behind the lock that holds off other grants of them. What looks dead may be
 * being renewed at this moment: it is read again behind whoever does that.
 */
export async function lookAround(context: Looking, wanted: readonly Wanted[]): Promise<Found[]> {
  await context.tx.scopes.alone(context.workspaceId);
  let found = await overlappingAll(context, wanted);
  const dead = found.flatMap((each) => each.dead);
  if (dead.length > 0 && context.tx.shared) {
    await context.tx.scopes.settle(dead);
    found = await overlappingAll(context, wanted);
  }
  for (const row of found.flatMap((each) => each.dead)) context.dead?.set(row.seq, row);
  return found;
}

/** All names are asked for at once, each place in the index once. */
async function overlappingAll(context: Looking, wanted: readonly Wanted[]): Promise<Found[]> {
  const asked = [...grouped(wanted, ({ namespace }) => namespace)].map(([namespace, all]) => {
    const places = new Map(all.map(({ scope }) => [indexKey(scope.key), nearTo(scope)]));
    return context.tx.scopes.nearAny(namespace, [...places.values()]);
  });
  const near = (await Promise.all(asked)).flat();
  const [only] = wanted;
  if (only && wanted.length === 1) return [byLife(context, near, only)];
  const index = new OverlapIndex(near, (row) => row);
  return wanted.map((each) => {
    const met = index.overlapping({ namespace: each.namespace, key: each.scope.key });
    return byLife(
      context,
      met.sort((a, b) => a.seq - b.seq),
      each,
    );
  });
}

function byLife(
  context: Pick<Context, "nowMs">,
  near: readonly ScopeClaimRow[],
  { scope }: Omit<Wanted, "mode">,
): Found {
  const found = near.filter((row) => overlap(row.key, scope.key));
  return {
    live: found.filter((row) => isClaimLive(row, context.nowMs)),
    dead: found.filter((row) => !isClaimLive(row, context.nowMs)),
  };
}

export async function overlapping(context: Context, { scope, namespace }: Omit<Wanted, "mode">): Promise<Found> {
  return byLife(context, await context.tx.scopes.near(namespace, nearTo(scope)), { scope, namespace });
}

/**
 * Whether a claim keeps the asker from a scope that overlaps it (R16, R32, R33): not where both share it; not where it is
 * the asker's session's own, unless both are of tasks, and of different ones.
 */
export function isInTheWay(claim: ScopeClaimRow, wanted: Wanted, { session, taskId }: Asker): boolean {
  if (claim.mode === "shared" && wanted.mode === "shared") return false;
  if (taskId !== null && claim.task_id === taskId) return false;
  const own = session !== null && hasNamesOf(session, claim.holder_session);
  if (!own) return true;
  return claim.task_id !== null && taskId !== null;
}

/** Conflicts that a refusal lists. */
const LISTED_MAX = 1000;
/** So many are looked for and counted. */
export const CONFLICTS_COUNTED = 10 * LISTED_MAX;

/** Where in line the asker would stand; that its turn there would never come, or null where no line is open to it. */
export type Place = number | "deadlock" | null;

/** The refusal of the caller that names every holder in the way, in the form of the claims table (R34). */
export function scopeConflict(
  context: Pick<Context, "nowMs" | "session">,
  conflicts: readonly Conflict[],
  place: Place,
): DibsError<"scope_conflict"> {
  const inTheWay = oneEach(conflicts);
  const holders = inTheWay.map(({ conflict }) => conflict.holder);
  const named = inTheWay.slice(0, 3).map(({ conflict }) => shown(conflict));
  const more = holders.length > named.length ? ` and ${holders.length - named.length} more` : "";
  const [first] = conflicts as [Conflict];
  return new DibsError(
    "scope_conflict",
    `${first.wanted.scope.text} (${first.wanted.mode}) is not free: ${named.join(", ")}${more}.`,
    {
      conflicts: inTheWay.slice(0, LISTED_MAX).map(({ conflict, also }) => ({
        requested: conflict.wanted.scope.text,
        also_requested: also,
        holder: scopeClaimView(conflict.holder, context.nowMs),
        reason: conflict.reason ?? reasonOf(conflict),
      })),
      conflicts_count: inTheWay.length,
      next: nextMoves(context, conflicts, place),
    },
  );
}

function shown({ holder, wait }: Conflict): string {
  const { scope, mode, intent, agent_name } = holder;
  return `${scope} (${mode}, ${wait ? inLineFor(wait) : `${agent_name}, "${intent}"`})`;
}

/** Who is in line has nothing yet, and what is kept free for a task that was passed over is nobody's. */
function inLineFor({ session_id, agent_name, intent, offered_until }: WaitRow): string {
  if (session_id === null) return `kept for task "${intent}"`;
  return `${offered_until === null ? "waited for by" : "offered to"} ${agent_name}, "${intent}"`;
}

/** What can be done about it. */
function nextMoves({ session }: Pick<Context, "session">, conflicts: readonly Conflict[], place: Place): string[] {
  const all = conflicts.filter(({ wait }) => !wait).map(({ holder }) => holder);
  const own = all.find(({ holder_session }) => holder_session === session?.id);
  const held = all.filter(({ holder_session }) => holder_session !== session?.id);
  const line =
    place === "deadlock"
      ? "Release what others wait for, then claim all that you need in one call: to wait in line would be a deadlock."
      : `Wait in line: claim_scopes with wait: true; you would be number ${place}.`;
  const [holder] = held;
  return [
    // Who waited for itself would wait for ever, and can't be asked to yield.
    ...(own ? [endOwn(own)] : place === null ? [] : [line]),
    "Work on something else: claim_next_task passes over tasks whose scopes aren't free.",
    ...(holder ? [`Ask ${holder.agent_name} to yield: request_yield of claim ${holder.id}.`] : []),
    ...(held.length > 0
      ? [`Try again after ${iso(Math.min(...held.map(scopeEndMs)))}, when the first lease ends unless it is renewed.`]
      : []),
    "Claim a smaller scope that doesn't overlap; check_scope says who would refuse it.",
  ];
}

/** What a session does about another task of its own that is in its way (R16). */
export function endOwn({ scope, task_id }: Pick<ScopeClaimRow, "scope" | "task_id">): string {
  const by = task_id === null ? "release_scopes" : `release or complete task ${task_id}`;
  return `Let go of ${scope}, which your own session holds: ${by}.`;
}

function reasonOf({ wanted: { scope, mode }, holder, wait }: Conflict): string {
  if (wait)
    return wait.offered_until === null ? "somebody is before you in line" : "it is offered to the first in line";
  if (holder.mode === "shared") return "it is shared, and wanted for oneself";
  if (mode === "shared") return "it is held exclusively";
  return holder.key === scope.key ? "it is held" : "they overlap";
}
