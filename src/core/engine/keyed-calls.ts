import type { Outcome } from "./outcome.js";

/** Who lost its connection asks again within so long; a call whose callers are all gone longer than that waits no more. */
export const GONE_MS = 10_000;

interface Shared {
  readonly outcome: Promise<Outcome>;
  readonly gone: AbortController;
  /** Callers that would still hear the answer. */
  heard: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Calls under way by their idempotency key: a repeat shares the answer (R59). So one goes on for a while when its caller has
 * gone, but not for ever: a killed waiter was granted what came free within its minute, and kept it for a whole lease.
 */
export class KeyedCalls {
  readonly #underWay = new Map<string, Shared>();

  /** `perform` is told by its signal that nobody is there any more; what it grants then is kept for a repeat. */
  answer(
    identity: string,
    signal: AbortSignal | undefined,
    perform: (signal: AbortSignal) => Promise<Outcome>,
  ): Promise<Outcome> {
    const before = this.#underWay.get(identity);
    const shared = before ?? this.#begin(identity, perform);
    shared.heard += 1;
    clearTimeout(shared.timer);
    const outcome = before ? before.outcome.then(asReplayed) : shared.outcome;
    if (!signal) return outcome;
    const leave = () => {
      shared.heard -= 1;
      if (shared.heard === 0) shared.timer = setTimeout(() => shared.gone.abort(signal.reason), GONE_MS).unref();
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
    return outcome.finally(() => signal.removeEventListener("abort", leave));
  }

  #begin(identity: string, perform: (signal: AbortSignal) => Promise<Outcome>): Shared {
    const gone = new AbortController();
    const over = () => {
      this.#underWay.delete(identity);
      clearTimeout(shared.timer);
    };
    const shared: Shared = { outcome: perform(gone.signal).finally(over), gone, heard: 0, timer: undefined };
    this.#underWay.set(identity, shared);
    return shared;
  }
}

/** Who repeats a call while that runs has made nothing of its own either. */
function asReplayed(outcome: Outcome): Outcome {
  return outcome.ok ? { ...outcome, replayed: true } : outcome;
}
