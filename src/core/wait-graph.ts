import { askerOf, hardInTheWay, type Looking, waitingOf, wantedBy } from "./line-tickets.js";
import type { Conflict } from "./scope-conflicts.js";
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

/** By what is held or offered alone: whoever is only before another in line may be passed. */
export async function waitsFor(looking: Looking, wait: WaitRow, sessionId: string | undefined): Promise<boolean> {
  if (sessionId === undefined) return false;
  const hard = (each: WaitRow) => hardInTheWay(looking, wantedBy(each), askerOf(each));
  return (await wayTo(looking, [wait], sessionId, hard)) !== undefined;
}

/** Whether the asker, by tickets of its own, waits for the one that would wait for it. */
export async function waitForEachOther(looking: Looking, own: readonly WaitRow[], wait: WaitRow): Promise<boolean> {
  if (wait.session_id === null) return false;
  const hard = (each: WaitRow) => hardInTheWay(looking, wantedBy(each), askerOf(each));
  return (await wayTo(looking, own, wait.session_id, hard)) !== undefined;
}
