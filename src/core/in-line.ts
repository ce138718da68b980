import { isBefore, isOffered } from "./line-order.js";
import { conflictOf, heldInTheWay, type InLine, type Looking, ticketsNear, waitingOf } from "./line-tickets.js";
import type { Conflict } from "./scope-conflicts.js";
import type { Wanted } from "./scope-names.js";
import { waitForEachOther, waitsFor } from "./wait-graph.js";

/** What is in the way of a request: what others hold, what is offered to them, and who is before it in line. */
export async function inTheWayOf(looking: Looking, wanted: readonly Wanted[], asker: InLine): Promise<Conflict[]> {
  return [...(await heldInTheWay(looking, wanted, asker)), ...(await ahead(looking, wanted, asker))];
}

/**
 * What of the line is in the way of a request: live offers, and those before it (R35); one that waits for the asker isn't,
 * or they would wait for each other. And one behind it is, where the asker waits for that one already: granted, the two
 * would wait for each other, too.
 */
export async function ahead(looking: Looking, wanted: readonly Wanted[], asker: InLine): Promise<Conflict[]> {
  const met = await ticketsNear(looking, wanted, asker);
  if (met.length === 0) return [];
  const conflicts: Conflict[] = [];
  const judged = new Map<number, boolean>();
  const own = asker.session ? await waitingOf(looking, [asker.session.id]) : [];
  for (const each of met) {
    const { wait } = each;
    let stops = judged.get(wait.seq);
    if (stops === undefined) {
      stops = isOffered(wait, looking.nowMs);
      if (!stops) {
        const passes = !isBefore(wait, asker) || (await waitsFor(looking, wait, asker.session?.id));
        stops = !passes || (own.length > 0 && (await waitForEachOther(looking, own, wait)));
      }
      judged.set(wait.seq, stops);
    }
    if (stops) conflicts.push(conflictOf(each, looking.nowMs));
  }
  return conflicts;
}

/** How many tickets that are before the asker want what overlaps. */
export async function countAhead(looking: Looking, wanted: readonly Wanted[], asker: InLine): Promise<number> {
  const met = await ticketsNear(looking, wanted, asker);
  return new Set(met.filter(({ wait }) => isBefore(wait, asker)).map(({ wait }) => wait.seq)).size;
}
