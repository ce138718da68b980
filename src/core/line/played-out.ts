import type { ScopeClaimRow } from "../port/scope-rows.js";
import type { WaitRow } from "../port/wait-rows.js";
import type { Looking } from "../scopes/scope-conflicts.js";
import { withoutFreePlaces } from "../scopes/scope-places.js";
import { inTheWayOf } from "./in-line.js";
import { isOffered, namesOf } from "./line-order.js";
import { asHolder, askerOf, heldInTheWay, waitingOf, wantedBy } from "./line-tickets.js";

/**
 * Whether a ticket would never have its turn, if everybody keeps what it has until it has all that it waits for, and then
 * lets go of it all. Played by the rules of the line themselves, on what is there and nothing is written to: a way from
 * ticket to ticket back to the asker is not enough, as who stands before it may be passed by then, or one of several
 * places be free. `sessions`: the others that may wait for the asker; all that don't let go some time.
 */
export async function waitsForEver(looking: Looking, ticket: WaitRow, sessions: Iterable<string>): Promise<boolean> {
  const players = [...new Set([...sessions, ticket.session_id ?? ""])];
  const waiting = [...(await waitingOf(looking, players)), ticket].sort((a, b) => a.rank - b.rank || a.seq - b.seq);
  const play: Play = { looking, ticket, waiting, had: [], playing: new Set(players) };
  while (waiting.includes(ticket)) if (!(await hasTurn(play)) && !letGo(play)) return true;
  return false;
}

interface Play {
  readonly looking: Looking;
  readonly ticket: WaitRow;
  /** In the order of the line. */
  readonly waiting: WaitRow[];
  /** Tickets that had their turn. */
  readonly had: WaitRow[];
  /** Sessions that haven't let go. */
  readonly playing: Set<string>;
}

/** The first that can have all that it waits for has it; false where none can. */
async function hasTurn(play: Play): Promise<boolean> {
  const looking = asPlayed(play);
  for (const [at, wait] of play.waiting.entries()) {
    const [wanted, asker] = [wantedBy(wait), askerOf(wait)];
    const inTheWay = isOffered(wait, looking.nowMs)
      ? await withoutFreePlaces(looking, await heldInTheWay(looking, [{ wanted, asker }]))
      : await inTheWayOf(looking, wanted, asker);
    if (inTheWay.length > 0) continue;
    play.waiting.splice(at, 1);
    play.had.push(wait);
    return true;
  }
  return false;
}

/** Who waits for nothing any more lets go of all that it has; false where all wait. */
function letGo({ waiting, playing }: Play): boolean {
  const still = new Set(waiting.map(({ session_id }) => session_id));
  const done = [...playing].filter((session) => !still.has(session));
  for (const session of done) playing.delete(session);
  return done.length > 0;
}

/** The store as it would be at this point of the play. */
function asPlayed({ looking, ticket, had, playing }: Play): Looking {
  const { scopes, waits } = looking.tx;
  const over = new Set(had.map(({ seq }) => seq));
  const claims = had.flatMap((wait) => namesOf(wait).map((name) => granted(wait, name, looking.nowMs)));
  const isHeld = ({ holder_session }: ScopeClaimRow) => playing.has(holder_session ?? "");
  const stands = (wait: WaitRow) => playing.has(wait.session_id ?? "") && !over.has(wait.seq);
  const isIn = (namespace: string) => namesOf(ticket).some((name) => name.namespace === namespace);
  const own = stands(ticket) ? [ticket] : [];
  return {
    ...looking,
    found: new Map(),
    tx: {
      ...{ shared: false, frozen: false, holds: looking.tx.holds },
      scopes: {
        ...scopes,
        alone: () => undefined,
        settle: () => undefined,
        nearAny: async (namespace, near) => [
          ...(await scopes.nearAny(namespace, near)).filter(isHeld),
          ...claims.filter((claim) => claim.namespace === namespace && isHeld(claim)),
        ],
        heldBySessions: async (ids) => [
          ...(await scopes.heldBySessions(ids)).filter(isHeld),
          ...claims.filter((claim) => ids.includes(claim.holder_session ?? "") && isHeld(claim)),
        ],
        capacities: (names) => scopes.capacities(names),
      },
      waits: {
        anyOffered: () => waits.anyOffered(),
        nearAny: async (namespace, near) => [
          ...(await waits.nearAny(namespace, near)).filter(stands),
          ...(isIn(namespace) ? own : []),
        ],
        ofSessions: async (ids) => [
          ...(await waits.ofSessions(ids)).filter(stands),
          ...own.filter(({ session_id }) => ids.includes(session_id ?? "")),
        ],
      },
    },
  };
}

function granted(wait: WaitRow, name: Parameters<typeof asHolder>[1], nowMs: number): ScopeClaimRow {
  return { ...asHolder(wait, name, nowMs), until: Number.POSITIVE_INFINITY };
}
