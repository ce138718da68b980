import type { Scope } from "../../contract/scope.js";
import { SCOPE_KINDS } from "../../contract/scope-kind.js";
import { grouped } from "../grouped.js";
import type { ScopeClaimRow } from "../port/scope-rows.js";
import type { Conflict, Looking } from "./scope-conflicts.js";
import { isPattern } from "./scope-keys.js";
import type { Wanted } from "./scope-names.js";

/** Flat scopes that so many may hold at once, each for itself (R32). */

/** Whether it is a name that can have places: of a flat kind, and no pattern. */
export function hasPlaces({ kind, key }: Scope): boolean {
  return kind.shape === "flat" && !isPattern(key);
}

/**
 * What keeps an asker from what it wants, but for those who have that very name, or a turn at it, while a place is free: the
 * one way to know who is in the way of a name with places, for claims, checks, tasks, lines and handoffs alike.
 */
export async function withoutFreePlaces(looking: Looking, conflicts: readonly Conflict[]): Promise<Conflict[]> {
  const taking = conflicts.filter((conflict) => takesPlace(conflict));
  if (taking.length === 0) return [...conflicts];
  const capacities = await capacitiesOf(
    looking,
    taking.map(({ wanted }) => wanted),
  );
  const free = new Set<Conflict>();
  const full = new Map<Conflict, string>();
  for (const [wanted, holders] of grouped(taking, (conflict) => conflict.wanted)) {
    const capacity = capacities.get(placeOf(wanted)) ?? 1;
    const isFree = placesTaken(holders.map(({ holder }) => holder)) < capacity;
    for (const each of holders) {
      if (isFree) free.add(each);
      else if (capacity > 1 && !each.wait) full.set(each, `all ${capacity} places are taken`);
    }
  }
  return conflicts
    .filter((conflict) => !free.has(conflict))
    .map((conflict) => {
      const reason = full.get(conflict);
      return reason === undefined ? conflict : { ...conflict, reason };
    });
}

/** Whether both want the one name for themselves, so that it is the number of its places that keeps them apart, if anything does. */
export function takesPlace({
  wanted,
  holder,
}: {
  readonly wanted: Wanted;
  readonly holder: Pick<ScopeClaimRow, "mode" | "key">;
}): boolean {
  const alone = wanted.mode === "exclusive" && holder.mode === "exclusive";
  return alone && holder.key === wanted.scope.key && mayHavePlaces(wanted.scope);
}

/** Of a kind of the workspace's own the name alone may be known; a tree has no places to be found. */
export function mayHavePlaces({ kind, key }: Wanted["scope"]): boolean {
  return SCOPE_KINDS.get(kind.name)?.shape !== "tree" && !isPattern(key);
}

/** How many places the names have, by `placeOf`; those that aren't in it have one. */
export async function capacitiesOf(
  { tx }: Pick<Looking, "tx">,
  wanted: readonly Wanted[],
): Promise<ReadonlyMap<string, number>> {
  if (wanted.length === 0) return new Map();
  const rows = await tx.scopes.capacities(wanted.map(({ namespace, scope }) => ({ namespace, key: scope.key })));
  return new Map(rows.map(({ namespace, key, capacity }) => [`${namespace} ${key}`, capacity]));
}

export const placeOf = ({ namespace, scope }: Wanted) => `${namespace} ${scope.key}`;

/**
 * A session has a place for each task that it holds the name for; what it has by itself is in one of these. Who waits for
 * more than it has of it already needs no second one.
 */
export function placesTaken(holders: readonly Pick<ScopeClaimRow, "task_id" | "holder_session">[]): number {
  const ofTasks = holders.filter(({ task_id }) => task_id !== null);
  const sessions = new Set(ofTasks.map((row) => row.holder_session));
  const alone = holders.filter((row) => row.task_id === null && !sessions.has(row.holder_session));
  return new Set(ofTasks.map((row) => row.task_id)).size + new Set(alone.map((row) => row.holder_session)).size;
}
