import { hasNamesOf } from "../agents/sharing.js";
import type { ScopeClaimRow } from "../port/scope-rows.js";
import type { WaitedName, WaitRow } from "../port/wait-rows.js";
import { OverlapIndex } from "../scopes/overlap-index.js";
import { type Conflict, isClaimLive, isInTheWay, type Looking } from "../scopes/scope-conflicts.js";
import { takesPlace } from "../scopes/scope-places.js";
import { isBefore, isOffered, namesOf } from "./line-order.js";
import { askerOf, bothShare, hardInTheWay, requestOf, waitingOf, waitsNear, wantedBy } from "./line-tickets.js";

/** One waits for another: who, by which ticket, for what that the other has. */
export interface Edge {
  readonly wait: WaitRow;
  readonly conflict: Conflict;
}

/** A search for ways to one session, from several others in turn. */
export interface Search {
  readonly looking: Looking;
  readonly sessionId: string;
  /** Those from whom alone a way can lead there. */
  readonly waiting: ReadonlySet<string>;
  /** Those from whom none does, as was found. */
  readonly deadEnds: Set<string>;
  edgesOf(wait: WaitRow): Promise<Conflict[]>;
}

/**
 * The way by which a session waits for the one that is looked for, over whoever waits for whom; undefined where it doesn't.
 * All that a search without success has met are dead ends: with each of a line's sixty followed anew, the next one to enter
 * it took seven seconds.
 */
export async function wayTo(search: Search, from: string): Promise<Edge[] | undefined> {
  const { looking, sessionId, waiting, deadEnds, edgesOf } = search;
  const isNew = (session: string) => waiting.has(session) && !deadEnds.has(session) && !ways.has(session);
  const ways = new Map<string, Edge[]>();
  if (!isNew(from)) return undefined;
  ways.set(from, []);
  let reached = [from];
  while (reached.length > 0) {
    const tickets = await waitingOf(looking, reached);
    reached = [];
    for (const wait of tickets) {
      const way = ways.get(wait.session_id ?? "") ?? [];
      for (const conflict of await edgesOf(wait)) {
        const next = conflict.holder.holder_session;
        const longer = [...way, { wait, conflict }];
        if (next === sessionId) return longer;
        if (!isNew(next)) continue;
        ways.set(next, longer);
        reached.push(next);
      }
    }
  }
  for (const session of ways.keys()) deadEnds.add(session);
  return undefined;
}

/** Sessions that tickets wait for, over however many others, by what these hold or are offered. */
export async function awaitedBy(looking: Looking, from: readonly WaitRow[]): Promise<ReadonlySet<string>> {
  const awaited = new Set<string>();
  let tickets = from;
  while (tickets.length > 0) {
    const reached: string[] = [];
    for (const { holder } of await hardInTheWay(looking, tickets.map(requestOf))) {
      if (holder.holder_session === "" || awaited.has(holder.holder_session)) continue;
      awaited.add(holder.holder_session);
      reached.push(holder.holder_session);
    }
    tickets = await waitingOf(looking, reached);
  }
  return awaited;
}

/**
 * Tickets that wait for a session, by what it holds or is offered, over however many others; from the session on, as most
 * hold little: of a hundred in line each that asks for its turn would otherwise follow all that are before it.
 */
export function waitingFor(looking: Looking, sessionId: string): Promise<ReadonlySet<number>> {
  const { nowMs, found } = looking;
  const before = found?.get(sessionId);
  if (before) return before;
  const stops = {
    claim: (row: ScopeClaimRow) => isClaimLive(row, nowMs),
    ticket: (own: WaitRow) => isOffered(own, nowMs),
    isPassed: () => false,
    exactly: true,
  };
  const tickets = followed(looking, sessionId, stops).then((waits) => new Set(waits.map(({ seq }) => seq)));
  found?.set(sessionId, tickets);
  return tickets;
}

/**
 * The sessions among which all are that wait for a session, by their place in line too: none where it holds nothing and is
 * in no line. What looks dead may be being renewed.
 */
export async function mayWaitFor(looking: Looking, sessionId: string): Promise<ReadonlySet<string>> {
  const { nowMs } = looking;
  const isPassed = (own: WaitRow, { rank, seq }: WaitRow) =>
    !isOffered(own, nowMs) && !isBefore(own, { rank, ticket: seq });
  const waiting = await followed(looking, sessionId, {
    claim: () => true,
    ticket: () => true,
    isPassed,
    exactly: false,
  });
  return new Set(waiting.flatMap(({ session_id }) => session_id ?? []));
}

/** What of a session keeps others waiting. */
interface Stops {
  claim(row: ScopeClaimRow): boolean;
  ticket(own: WaitRow): boolean;
  /** But not those that are before it in line. */
  isPassed(own: WaitRow, wait: WaitRow): boolean;
  /** Whether one that could have another place is not kept waiting by who has one. */
  readonly exactly: boolean;
}

/** Tickets stopped by a session, and by the sessions whose these are, and so on. */
async function followed(looking: Looking, sessionId: string, stops: Stops): Promise<WaitRow[]> {
  const waiting = new Map<number, WaitRow>();
  const seen = new Set([sessionId]);
  let sessions: readonly string[] = [sessionId];
  while (sessions.length > 0) {
    const next: string[] = [];
    for (const wait of await stoppedBy(looking, sessions, stops)) {
      waiting.set(wait.seq, wait);
      if (wait.session_id === null || seen.has(wait.session_id)) continue;
      seen.add(wait.session_id);
      next.push(wait.session_id);
    }
    sessions = next;
  }
  return [...waiting.values()];
}

/** Tickets that what the sessions hold is in the way of, or what their tickets want. */
async function stoppedBy(looking: Looking, sessionIds: readonly string[], stops: Stops): Promise<WaitRow[]> {
  const claims = (await looking.tx.scopes.heldBySessions(sessionIds)).filter((claim) => stops.claim(claim));
  const asked = (await waitingOf(looking, sessionIds)).filter((own) => stops.ticket(own));
  if (claims.length === 0 && asked.length === 0) return [];
  const held = new OverlapIndex(claims, (claim) => claim);
  const own = new OverlapIndex(
    asked.flatMap((ticket) => wantedBy(ticket).map((wanted) => ({ wanted, ticket }))),
    ({ wanted: { namespace, scope } }) => ({ namespace, key: scope.key }),
  );
  const stopsIt = (ticket: WaitRow, wait: WaitRow) =>
    !hasNamesOf({ id: wait.session_id ?? "", shared_by: wait.shared_by }, ticket.session_id) &&
    !stops.isPassed(ticket, wait);
  const near = await waitsNear(looking, [...claims, ...asked.flatMap(namesOf)]);
  const stopped: WaitRow[] = [];
  for (const wait of near) {
    const met = wantedBy(wait).flatMap((wanted, at) => {
      const name = namesOf(wait)[at] as WaitedName;
      const claimed = held.overlapping(name).filter((claim) => isInTheWay(claim, wanted, askerOf(wait)));
      const waited = own
        .overlapping(name)
        .filter(({ ticket, wanted: each }) => stopsIt(ticket, wait) && !bothShare(name, each));
      const holders = [...claimed, ...waited.map((each) => ({ key: each.wanted.scope.key, mode: each.wanted.mode }))];
      return holders.map((holder) => ({ wanted, holder }));
    });
    if (met.length === 0) continue;
    const mayHaveAnother = stops.exactly && met.every(takesPlace);
    if (!mayHaveAnother || (await isStopped(looking, wait, sessionIds))) stopped.push(wait);
  }
  return stopped;
}

async function isStopped(looking: Looking, wait: WaitRow, sessionIds: readonly string[]): Promise<boolean> {
  const conflicts = await hardInTheWay(looking, [requestOf(wait)]);
  return conflicts.some(({ holder }) => sessionIds.includes(holder.holder_session));
}
