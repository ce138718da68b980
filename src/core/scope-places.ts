import type { Scope } from "../contract/scope.js";
import { SCOPE_KINDS } from "../contract/scope-kind.js";
import { grouped } from "./grouped.js";
import type { Conflict, Looking } from "./scope-conflicts.js";
import { isPattern } from "./scope-keys.js";
import type { Wanted } from "./scope-names.js";
import type { ScopeClaimRow } from "./scope-rows.js";

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

function takesPlace({ wanted, holder }: Conflict): boolean {
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

/** A session that holds a name by itself and for tasks holds it once for each task: what it has by itself shares a place. */
export function placesTaken(holders: readonly Pick<ScopeClaimRow, "task_id" | "holder_session">[]): number {
  const withTask = new Set(holders.filter(({ task_id }) => task_id !== null).map((row) => row.holder_session));
  return holders.filter((row) => row.task_id !== null || !withTask.has(row.holder_session)).length;
}
