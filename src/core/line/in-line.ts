import { type Sharing, sharersOf } from "../agents/sharing.js";
import { frozenTickets } from "../holds/freezing.js";
import type { WaitRow } from "../port/wait-rows.js";
import type { Conflict, Looking } from "../scopes/scope-conflicts.js";
import type { Wanted } from "../scopes/scope-names.js";
import { withoutFreePlaces } from "../scopes/scope-places.js";
import { isBefore, isOffered } from "./line-order.js";
import { conflictOf, heldInTheWay, type InLine, ticketsNear, waitingOf } from "./line-tickets.js";
import { lookingOnce } from "./looking-once.js";
import { awaitedBy, waitingFor } from "./wait-graph.js";

/** What is in the way of a request: what others hold, what is offered to them, and who is before it in line. */
export async function inTheWayOf(looking: Looking, wanted: readonly Wanted[], asker: InLine): Promise<Conflict[]> {
  const held = await heldInTheWay(looking, [{ wanted, asker }]);
  return withoutFreePlaces(looking, [...held, ...(await ahead(looking, wanted, asker))]);
}

/**
 * What of the line is in the way of a request: live offers, and those before it (R35); one that waits for the asker isn't,
 * or they would wait for each other. And one behind a newcomer is, where the newcomer waits for that one already: granted,
 * the two would wait for each other, too. One that a hold keeps from its turn stops nobody meanwhile (R36), but whom the
 * asker waits for.
 */
export async function ahead(looking: Looking, wanted: readonly Wanted[], asker: InLine): Promise<Conflict[]> {
  const met = await ticketsNear(looking, [{ wanted, asker }]);
  if (met.length === 0) return [];
  const { session } = asker;
  const before = met.map(({ wait }) => wait).filter((wait) => isBefore(wait, asker) && !isOffered(wait, looking.nowMs));
  const behind = session && before.length > 0 ? await waitingForNamesOf(looking, session) : NOBODY;
  const frozen = await frozenTickets(looking, before);
  const own = session && (asker.newcomer || frozen.size > 0) ? await waitingOf(looking, [session.id]) : [];
  const awaited = own.length > 0 ? await awaitedBy(lookingOnce(looking), own) : NOBODY;
  const stops = (wait: WaitRow) => {
    if (isOffered(wait, looking.nowMs)) return true;
    const waits = isBefore(wait, asker) && !behind.has(wait.seq);
    const isAwaited = wait.session_id !== null && awaited.has(wait.session_id);
    return frozen.has(wait) ? waits && isAwaited : waits || (asker.newcomer && isAwaited);
  };
  return met.filter(({ wait }) => stops(wait)).map((each) => conflictOf(each, looking.nowMs));
}

/** What waits for a session, or for one that shares its names with it: that one lets go behind its children. */
async function waitingForNamesOf(looking: Looking, session: Sharing): Promise<ReadonlySet<number>> {
  const own = await waitingFor(looking, session.id);
  const sharers = sharersOf(session);
  if (sharers.length === 0) return own;
  const all = new Set(own);
  for (const sharer of sharers) for (const seq of await waitingFor(looking, sharer)) all.add(seq);
  return all;
}

const NOBODY: ReadonlySet<never> = new Set<never>();

/** How many tickets that are before the asker want what overlaps, those too that would share it. */
export async function countAhead(looking: Looking, wanted: readonly Wanted[], asker: InLine): Promise<number> {
  const alone = wanted.map((each) => ({ ...each, mode: "exclusive" as const }));
  const met = await ticketsNear(looking, [{ wanted: alone, asker }]);
  return new Set(met.filter(({ wait }) => isBefore(wait, asker)).map(({ wait }) => wait.seq)).size;
}
