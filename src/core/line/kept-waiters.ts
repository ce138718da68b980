import type { WaitRow } from "../port/wait-rows.js";
import type { Looking } from "../scopes/scope-conflicts.js";

const KEPT = "kept for a task, ticket ";

/** Whether it stands for a ticket that is nobody's. */
export function isKept(sessionId: string | null): boolean {
  return sessionId?.startsWith(KEPT) === true;
}

/**
 * The same look, in which what is kept for a task that starved (R16) is a waiter as any other: each stands for a session of its
 * own, which lets go once it has had its turn. Who waits behind it is in a ring of waiting else that nobody sees (R37).
 */
export function withKept(looking: Looking): Looking {
  const { waits } = looking.tx;
  const kept = new Map<string, WaitRow>();
  const named = (rows: readonly WaitRow[]): WaitRow[] =>
    rows.map((wait) => (wait.session_id === null ? own(wait) : wait));
  const own = (wait: WaitRow): WaitRow => {
    const id = `${KEPT}${wait.id}`;
    const before = kept.get(id);
    if (before) return before;
    const as = { ...wait, session_id: id };
    kept.set(id, as);
    return as;
  };
  return {
    ...looking,
    tx: {
      ...looking.tx,
      waits: {
        anyOffered: () => waits.anyOffered(),
        nearAny: async (namespace, near) => named(await waits.nearAny(namespace, near)),
        ofSessions: async (ids) => [
          ...(await waits.ofSessions(ids.filter((id) => !isKept(id)))),
          ...ids.flatMap((id) => kept.get(id) ?? []),
        ],
      },
    },
  };
}
