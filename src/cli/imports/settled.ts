import type { BacklogItem, BadRow } from "./backlog.js";
import type { Draft, DraftItem } from "./draft.js";
import { circleIn, knotsOf } from "./knots.js";

// A circle of thousands is understood from its first steps.
const SHOWN_MAX = 12;

/**
 * Items whose dependencies all exist and can all be done, and the bad rows in the order of the file. What waits for
 * something unknown, for a bad row or for itself is bad, and so on backwards; linear in rows and dependencies.
 */
export function settled(draft: Draft, whereElse: string): { items: BacklogItem[]; bad: BadRow[] } {
  const { items } = draft;
  const indexes = new Map(items.map((item, index) => [item.key, index]));
  const waitsFor = items.map((item) => indexesOf(item, indexes));
  const causes = new Map<number, string>();
  for (const [index, item] of items.entries()) {
    const cause = causeOf(item, draft, whereElse);
    if (cause !== undefined) causes.set(index, cause);
  }
  for (const knot of knotsOf(waitsFor)) {
    const cause = circleCause(knot, waitsFor, items);
    for (const member of knot) causes.set(member, causes.get(member) ?? cause);
  }
  spread(causes, waitsFor, items);
  const bad = [...causes].map(([index, message]) => badRow(items[index] as DraftItem, message));
  return {
    items: items.flatMap((item, index) => (causes.has(index) ? [] : [itemOf(item, waitsFor[index] ?? [], items)])),
    bad: [...draft.bad, ...bad].sort((one, other) => one.row - other.row || (one.column ?? 0) - (other.column ?? 0)),
  };
}

function indexesOf(item: DraftItem, indexes: ReadonlyMap<string, number>): number[] {
  return [...new Set(item.dependsOn)].flatMap((key) => indexes.get(key) ?? []);
}

/** Why none of its dependencies can be waited for, of those that are no items. */
function causeOf(item: DraftItem, draft: Draft, whereElse: string): string | undefined {
  for (const key of item.dependsOn) {
    const known = draft.fateOf(key);
    if (known === undefined) return `depends on ${named(key)}, which is not in the file; ${whereElse}`;
    if (known.fate === "bad") return dependsOnBad(key, known.row);
    if (known.fate === "skipped")
      return `depends on ${named(key)} (row ${known.row}), which is no work to import; remove it`;
  }
  return undefined;
}

function dependsOnBad(key: string, row: number): string {
  return `depends on ${named(key)}, and row ${row} with it can't be imported; mend that one first`;
}

/** Ids of other tools may be any text of any length. */
function named(key: string): string {
  return key.length > 80 ? `${key.slice(0, 79)}…` : key;
}

function circleCause(
  knot: readonly number[],
  waitsFor: readonly (readonly number[])[],
  items: readonly DraftItem[],
): string {
  const circle = circleIn(knot, waitsFor);
  const shown = circle.slice(0, SHOWN_MAX).map((index) => items[index]?.key);
  const more = circle.length > SHOWN_MAX ? [`… ${circle.length - SHOWN_MAX} more`] : [];
  const spelled = [...shown, ...more, items[circle[0] ?? 0]?.key].join(" → ");
  const among = knot.length > circle.length ? `${knot.length} rows wait for each other, among them ` : "";
  return `can never start: ${among}${spelled} is a circle; remove one of these dependencies`;
}

/** Whoever depends on a bad row is bad, too. */
function spread(
  causes: Map<number, string>,
  waitsFor: readonly (readonly number[])[],
  items: readonly DraftItem[],
): void {
  const waiting: number[][] = items.map(() => []);
  for (const [index, blockers] of waitsFor.entries()) for (const blocker of blockers) waiting[blocker]?.push(index);
  const reached = [...causes.keys()];
  for (let index = reached.pop(); index !== undefined; index = reached.pop()) {
    const { key, place } = items[index] as DraftItem;
    for (const next of waiting[index] ?? []) {
      if (causes.has(next)) continue;
      causes.set(next, dependsOnBad(key, place.row));
      reached.push(next);
    }
  }
}

function badRow({ key, place }: DraftItem, message: string): BadRow {
  return { ...place, key, message };
}

function itemOf(draft: DraftItem, blockers: readonly number[], items: readonly DraftItem[]): BacklogItem {
  const { place, called, ...item } = draft;
  const dependsOn = blockers.map((index) => (items[index] as DraftItem).key);
  return { ...item, labels: [...new Set(item.labels)], dependsOn, row: place.row };
}
