import { isOffered, namesOf } from "./line-order.js";
import { askerOf, collide, hardInTheWay, waitingOf, wantedBy } from "./line-tickets.js";
import { type Conflict, isInTheWay, isLive, type Looking } from "./scope-conflicts.js";
import { nearTo, type Wanted } from "./scope-names.js";
import { overlap } from "./scope-overlap.js";
import type { ScopeClaimRow } from "./scope-rows.js";
import type { WaitRow } from "./wait-rows.js";

/** One waits for another: who, by which ticket, for what that the other has. */
export interface Edge {
  readonly wait: WaitRow;
  readonly conflict: Conflict;
}

/** The way by which tickets wait for a session, over whoever waits for whom; undefined where they don't. */
export async function wayTo(
  looking: Looking,
  from: readonly WaitRow[],
  sessionId: string,
  edgesOf: (wait: WaitRow) => Promise<Conflict[]>,
): Promise<Edge[] | undefined> {
  const ways = new Map<string, Edge[]>();
  let tickets = from.map((wait) => ({ wait, way: [] as Edge[] }));
  while (tickets.length > 0) {
    const reached: string[] = [];
    for (const { wait, way } of tickets) {
      for (const conflict of await edgesOf(wait)) {
        const next = conflict.holder.holder_session;
        const longer = [...way, { wait, conflict }];
        if (next === sessionId) return longer;
        if (next === "" || ways.has(next)) continue;
        ways.set(next, longer);
        reached.push(next);
      }
    }
    tickets = (await waitingOf(looking, reached)).map((wait) => ({ wait, way: ways.get(wait.session_id ?? "") ?? [] }));
  }
  return undefined;
}

/** Sessions that tickets wait for, over however many others, by what these hold or are offered. */
export async function awaitedBy(looking: Looking, from: readonly WaitRow[]): Promise<ReadonlySet<string>> {
  const awaited = new Set<string>();
  let tickets = from;
  while (tickets.length > 0) {
    const reached: string[] = [];
    for (const wait of tickets) {
      for (const { holder } of await hardInTheWay(looking, wantedBy(wait), askerOf(wait))) {
        if (holder.holder_session === "" || awaited.has(holder.holder_session)) continue;
        awaited.add(holder.holder_session);
        reached.push(holder.holder_session);
      }
    }
    tickets = await waitingOf(looking, reached);
  }
  return awaited;
}

/**
 * Tickets that wait for a session, by what it holds or is offered, over however many others; from the session on, as most
 * hold little: of a hundred in line each that asks for its turn would otherwise follow all that are before it.
 */
export async function waitingFor(looking: Looking, sessionId: string): Promise<ReadonlySet<number>> {
  const waiting = new Set<number>();
  const seen = new Set([sessionId]);
  let sessions: readonly string[] = [sessionId];
  while (sessions.length > 0) {
    const next: string[] = [];
    for (const wait of await stoppedBy(looking, sessions)) {
      waiting.add(wait.seq);
      if (wait.session_id === null || seen.has(wait.session_id)) continue;
      seen.add(wait.session_id);
      next.push(wait.session_id);
    }
    sessions = next;
  }
  return waiting;
}

/** Tickets that what the sessions hold, or are offered, is in the way of. */
async function stoppedBy(looking: Looking, sessionIds: readonly string[]): Promise<WaitRow[]> {
  const { tx, nowMs } = looking;
  const claims = (await tx.scopes.heldBySessions(sessionIds)).filter((claim) => isLive(claim, nowMs));
  const offered = (await waitingOf(looking, sessionIds)).filter((wait) => isOffered(wait, nowMs));
  const stopped = new Map<number, WaitRow>();
  const look = async (namespace: string, of: Pick<ScopeClaimRow, "key">, stops: (wait: WaitRow) => boolean) => {
    for (const wait of await tx.waits.near(namespace, nearTo(of))) if (stops(wait)) stopped.set(wait.seq, wait);
  };
  for (const claim of claims)
    await look(claim.namespace, claim, (wait) =>
      wantedBy(wait).some((wanted) => isWanted(claim, wanted) && isInTheWay(claim, wanted, askerOf(wait))),
    );
  for (const offer of offered) {
    const wanted = wantedBy(offer);
    for (const each of wanted)
      await look(
        each.namespace,
        each.scope,
        (wait) =>
          wait.session_id !== offer.session_id &&
          namesOf(wait).some((name) => name.namespace === each.namespace && collide(name, each)),
      );
  }
  return [...stopped.values()];
}

function isWanted(claim: ScopeClaimRow, wanted: Wanted): boolean {
  return claim.namespace === wanted.namespace && overlap(claim.key, wanted.scope.key);
}
