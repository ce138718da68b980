import type { EngineCall, Outcome } from "./outcome.js";

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

/** Waiters that look together in one transaction: the first few, then twice as many as long as there is something. */
const LOOK_FIRST = 4;
const LOOK_MAX = 64;

/**
 * Calls that wait for something to claim, in order of arrival (R21). After a hint they look in that order; one that finds
 * nothing speaks for all of its kind. So a thousand waiters of one kind cost a few looks, not a thousand.
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

  /**
   * Whether a new request must queue behind those that wait, without a look of its own: an equal one waits, or others
   * are about to look.
   */
  mustQueue(signature: string): boolean {
    if (this.#waiting.length === 0) return false;
    return this.#again || this.#trying || performance.now() >= this.#nextLook() || this.#hasLike(signature);
  }

  #hasLike(signature: string): boolean {
    return this.#waiting.some((waiter) => waiter.signature === signature);
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
      this.#waiting.push(waiter);
      if (this.#waiting.length === 1) this.onWatch(true);
      if (empty?.ok) this.#learn(signature, empty.emptyForMs ?? null);
      else this.hint();
    });
  }

  /** Something may have become claimable. */
  hint(): void {
    if (this.#waiting.length === 0) return;
    this.#again = true;
    if (!this.#trying) void this.#tryAll();
  }

  /** Ends every wait with what it has: the server stops. */
  drain(): void {
    for (const waiter of [...this.#waiting]) waiter.settle(waiter.empty);
  }

  async #tryAll(): Promise<void> {
    this.#trying = true;
    while (this.#again) {
      this.#again = false;
      await this.#look();
    }
    this.#trying = false;
  }

  async #look(): Promise<void> {
    const looked = new Set<Waiter>();
    const empty = new Set<string>();
    for (let size = LOOK_FIRST; ; size = Math.min(2 * size, LOOK_MAX)) {
      const due = this.#waiting.filter((waiter) => !looked.has(waiter) && !empty.has(waiter.signature));
      if (due.length === 0) return;
      const together = due.slice(0, size).map(async (waiter) => {
        looked.add(waiter);
        if (!(await this.#try(waiter))) empty.add(waiter.signature);
      });
      await Promise.all(together);
    }
  }

  /** False when there was nothing for it. */
  async #try(waiter: Waiter): Promise<boolean> {
    try {
      const outcome = await this.submit(waiter.call);
      if (outcome.ok && outcome.emptyForMs !== undefined) {
        waiter.empty = outcome;
        this.#learn(waiter.signature, outcome.emptyForMs);
        return false;
      }
      waiter.settle(outcome);
    } catch (fault) {
      waiter.fail(fault);
    }
    return true;
  }

  /** Remembers when the clock alone may give this kind of request something. */
  #learn(signature: string, emptyForMs: number | null): void {
    if (!this.#hasLike(signature)) return;
    this.#wakeAt.set(signature, performance.now() + Math.min(emptyForMs ?? TIMER_MAX_MS, TIMER_MAX_MS));
    this.#arm();
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    this.#timer = setTimeout(() => this.hint(), Math.max(1, this.#nextLook() - performance.now()));
  }

  /** When the clock alone may give one of them something. */
  #nextLook(): number {
    return Math.min(...this.#wakeAt.values());
  }

  #remove(waiter: Waiter): void {
    const at = this.#waiting.indexOf(waiter);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    if (!this.#hasLike(waiter.signature)) this.#wakeAt.delete(waiter.signature);
    if (this.#waiting.length > 0) return;
    clearTimeout(this.#timer);
    this.onWatch(false);
  }
}

const NOTHING: Outcome = { ok: true, status: 200, text: '{"task":null,"notices":[]}', notices: 0, nowMs: 0 };
