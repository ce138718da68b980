import type { Looking } from "../scopes/scope-conflicts.js";

/**
 * The same look, that asks the store each question once: who follows a line asks of each ticket in it what is around the
 * name that all of them want. Only for what writes nothing meanwhile. With `frozen` false as if there were no holds.
 */
export function lookingOnce(looking: Looking, { frozen = looking.tx.frozen } = {}): Looking {
  const { shared, scopes, waits, holds } = looking.tx;
  const settled = new Set<number>();
  const near = once(scopes.nearAny);
  return {
    ...looking,
    found: new Map(),
    tx: {
      shared,
      frozen,
      holds: { unended: once(holds.unended).ask },
      scopes: {
        alone: once(scopes.alone).ask,
        nearAny: near.ask,
        async settle(rows) {
          const fresh = rows.filter(({ seq }) => !settled.has(seq));
          if (fresh.length === 0) return;
          for (const { seq } of fresh) settled.add(seq);
          await scopes.settle(fresh);
          near.forget();
        },
        heldBySessions: once(scopes.heldBySessions).ask,
        capacities: once(scopes.capacities).ask,
      },
      waits: {
        nearAny: once(waits.nearAny).ask,
        ofSessions: once(waits.ofSessions).ask,
        anyOffered: once(waits.anyOffered).ask,
      },
    },
  };
}

function once<A extends readonly unknown[], R>(ask: (...about: A) => R) {
  const answers = new Map<string, R>();
  return {
    ask(...about: A): R {
      const question = JSON.stringify(about);
      const before = answers.get(question);
      if (before !== undefined || answers.has(question)) return before as R;
      const answer = ask(...about);
      answers.set(question, answer);
      return answer;
    },
    forget: () => answers.clear(),
  };
}
