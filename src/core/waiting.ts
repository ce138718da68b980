import type { EngineCall, Outcome } from "./engine.js";

/** A timer never sleeps longer than this: what only the clock knows is looked at again at least so often. */
const TIMER_MAX_MS = 15_000;

interface Waiter {
  readonly call: EngineCall;
  readonly signature: string;
  /** The answer when the time is up: nothing was there. */
  empty: Outcome;
  settle(outcome: Outcome): void;
  fail(fault: unknown): void;
}

/**
 * Calls that wait for something to claim, in order of arrival (R21). After a hint the first of each kind of request
 * tries; while it succeeds the next of its kind tries too. So a thousand waiters of one kind cost one look, not a thousand.
 */
export class WaitingCalls {
  #waiting: Waiter[] = [];
  #wakeAt = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #trying = false;
  #again = false;

  constructor(
    private readonly submit: (call: EngineCall) => Promise<Outcome>,
    /** Told when the first call starts to wait and when the last one ends. */
    private readonly onWatch: (watch: boolean) => void,
  ) {}

  /** Whether an equal request waits already; a new one then queues behind it without a try of its own. */
  hasLike(signature: string): boolean {
    return this.#waiting.some((waiter) => waiter.signature === signature);
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** Resolves with the first grant, or with `empty` when `waitMs` are over or the caller went away. */
  wait(
    call: EngineCall,
    signature: string,
    empty: Outcome | undefined,
    waitMs: number,
    signal?: AbortSignal,
  ): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const finish = () => {
        clearTimeout(deadline);
        signal?.removeEventListener("abort", giveUp);
        this.#remove(waiter);
      };
      const waiter: Waiter = {
        call,
        signature,
        empty: empty ?? NOTHING,
        settle: (outcome) => {
          finish();
          resolve(outcome);
        },
        fail: (fault) => {
          finish();
          reject(fault);
        },
      };
      const giveUp = () => waiter.settle(waiter.empty);
      const deadline = setTimeout(giveUp, waitMs);
      signal?.addEventListener("abort", giveUp, { once: true });
      if (this.#waiting.length === 0) this.onWatch(true);
      this.#waiting.push(waiter);
      if (empty?.ok) this.#learn(signature, empty.emptyForMs ?? null);
      else this.hint();
    });
  }

  /** Something may have become claimable. */
  hint(): void {
    if (this.#waiting.length === 0) return;
    this.#again = true;
    // After the answers of the batch that woke us were handed on, so that a call it left empty is waiting by now.
    if (!this.#trying) setImmediate(() => void this.#tryAll());
  }

  /** Ends every wait with what it has: the server stops. */
  drain(): void {
    for (const waiter of [...this.#waiting]) waiter.settle(waiter.empty);
  }

  async #tryAll(): Promise<void> {
    if (this.#trying) return;
    this.#trying = true;
    while (this.#again) {
      this.#again = false;
      const first = new Map<string, Waiter>();
      for (const waiter of this.#waiting) if (!first.has(waiter.signature)) first.set(waiter.signature, waiter);
      await Promise.all([...first.values()].map((waiter) => this.#try(waiter)));
    }
    this.#trying = false;
  }

  async #try(waiter: Waiter): Promise<void> {
    let outcome: Outcome;
    try {
      outcome = await this.submit(waiter.call);
    } catch (fault) {
      waiter.fail(fault);
      return;
    }
    if (outcome.ok && outcome.emptyForMs !== undefined) {
      waiter.empty = outcome;
      this.#learn(waiter.signature, outcome.emptyForMs);
      return;
    }
    waiter.settle(outcome);
    this.#again = true;
  }

  /** Remembers when the clock alone may give this kind of request something. */
  #learn(signature: string, emptyForMs: number | null): void {
    this.#wakeAt.set(signature, performance.now() + Math.min(emptyForMs ?? TIMER_MAX_MS, TIMER_MAX_MS));
    this.#arm();
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    const next = Math.min(...this.#wakeAt.values());
    this.#timer = setTimeout(() => this.hint(), Math.max(1, next - performance.now()));
  }

  #remove(waiter: Waiter): void {
    const at = this.#waiting.indexOf(waiter);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    if (!this.hasLike(waiter.signature)) this.#wakeAt.delete(waiter.signature);
    if (this.#waiting.length > 0) return;
    clearTimeout(this.#timer);
    this.onWatch(false);
  }
}

const NOTHING: Outcome = { ok: true, status: 200, text: '{"task":null,"notices":[]}', notices: 0, nowMs: 0 };
