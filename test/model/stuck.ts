import type { Line } from "./line.js";
import type { Claim } from "./scopes.js";
import type { Ticket } from "./tickets.js";

/**
 * Who would wait for ever if everybody kept what it has until it has got all that it waits for, and then let go of all.
 * Played on copies, and without holds, as each has an end; of the `more` in line themselves are told. What is kept for a task
 * is let go once it has had its turn.
 */
export function stuckAfterAll(rules: Line, more: readonly Ticket[]): Set<Ticket> {
  const { claims, tickets, freezes } = rules;
  const before = [claims.splice(0), tickets.splice(0), freezes.splice(0)] as const;
  const copies = new Map([...before[1], ...more].map((ticket) => [{ ...ticket }, ticket] as const));
  claims.push(...before[0].map((claim) => ({ ...claim })));
  tickets.push(...copies.keys());
  while (goOn(rules));
  const stuck = new Set(rules.inOrder().map((ticket) => copies.get(ticket) as Ticket));
  claims.splice(0, claims.length, ...before[0]);
  tickets.splice(0, tickets.length, ...before[1]);
  freezes.push(...before[2]);
  return stuck;
}

function goOn(rules: Line): boolean {
  const next = rules.inOrder().find((ticket) => rules.mayHave(ticket));
  if (next) {
    next.ended = "granted";
    const { session, task, grant } = next;
    const lease = {
      id: null,
      fence: null,
      fenceBefore: 0,
      intent: "",
      seconds: 1,
      nested: 1,
      hops: 0,
      atMs: 0,
      untilMs: Infinity,
    };
    const more: Omit<Claim, "name" | "mode" | "space"> = { ...lease, session, task, grant, project: "", ended: null };
    rules.claims.push(...next.wanted.map((each) => ({ ...each, ...more })));
    return true;
  }
  const waiting = new Set(rules.inOrder().map(({ session }) => session));
  const done = rules.claims.filter((claim) => rules.lives(claim) && !waiting.has(claim.session));
  for (const claim of done) claim.ended = "released";
  return done.length > 0;
}
