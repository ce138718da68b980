import type { Queued } from "./lane.js";
import type { EngineCall, Outcome } from "./outcome.js";

/** A timer never sleeps longer than this: what only the clock knows is looked at again at least so often. */
const TIMER_MAX_MS = 15_000;

/** A call that is to wait. */
export interface Waiting {
  readonly call: EngineCall;
  /** Calls of one signature find the same. */
  readonly signature: string;
  /** Grows from call to call: whoever came first is before the others, however long its first look took. */
  readonly arrival: number;
  /** What it found, if it has looked already. */
  readonly empty: Outcome | undefined;
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
}

interface Waiter {
  readonly call: EngineCall;
  readonly signature: string;
  readonly arrival: number;
  /** Nobody has looked for it yet, or its time is up and it looks once more. */
  fresh: boolean;
  looking: boolean;
  /** Answered by its next look, whatever that finds. */
  over: boolean;
  settle(outcome: Outcome): void;
  fail(fault: unknown): void;
}

/** Waiters that look together in one transaction: the first few, then twice as many as long as there is something. */
const LOOK_FIRST = 4;
const LOOK_MAX = 64;

/** Who has looked since something was said to have become claimable, and which kinds of request found nothing. */
interface Round {
  readonly looked: Set<Waiter>;
  readonly empty: Set<string>;
  size: number;
}

/**
 * Calls that wait for something to claim, in order of arrival (R21). They look at the head of the next transaction, so
 * that no newer call is before them; one that finds nothing speaks for all of its kind. So a thousand waiters of one kind
 * cost a few looks, not a thousand.
 */
export class WaitingCalls {
  #waiting: Waiter[] = [];
  #wakeAt = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #round: Round | undefined;
  #looking = 0;
  #again = false;
  #drained = false;

  constructor(
    /** Asked for the next transaction, whose head `take` then fills. */
    private readonly lookSoon: () => void,
    /** Told when the first call starts to wait and when the last one ends. */
    private readonly onWatch: (watch: boolean) => void,
  ) {}

  get size(): number {
    return this.#waiting.length;
  }

  /**
   * Resolves with the first grant, or when `waitMs` are over with what a last look gives. A caller that went away gets
   * nothing: no task, or its signal's reason.
   */
  wait({ call, signature, arrival, empty, waitMs, signal }: Waiting): Promise<Outcome> {
    if (signal?.aborted) return goneEmpty(call, signal);
    return new Promise((resolve, reject) => {
      const finish = () => {
        clearTimeout(deadline);
        signal?.removeEventListener("abort", giveUp);
        this.#remove(waiter);
      };
      const waiter: Waiter = {
        call,
        signature,
        arrival,
        // A repeat may find what its key was given before, whatever its kind finds.
        fresh: empty === undefined && (call.caller.idempotencyKey !== undefined || !this.#hasLike(signature)),
        looking: false,
        over: false,
        settle: (outcome) => {
          finish();
          resolve(signal?.aborted && isEmpty(outcome) ? goneEmpty(call, signal) : outcome);
        },
        fail: (fault) => {
          finish();
          reject(fault);
        },
      };
      // A look that is on its way may bring a grant, which then must be undone: its answer is waited for.
      const giveUp = () => {
        if (waiter.looking) waiter.over = true;
        else waiter.settle(EMPTY);
      };
      const deadline = setTimeout(() => this.#lastLook(waiter), this.#drained ? 0 : waitMs);
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#enter(waiter);
      if (this.#waiting.length === 1) this.onWatch(true);
      if (empty?.ok) this.#learn(signature, empty.emptyForMs ?? null);
      else this.lookSoon();
    });
  }

  #enter(waiter: Waiter): void {
    const after = this.#waiting.findLastIndex(({ arrival }) => arrival < waiter.arrival);
    this.#waiting.splice(after + 1, 0, waiter);
  }

  #lastLook(waiter: Waiter): void {
    waiter.over = true;
    waiter.fresh = true;
    this.lookSoon();
  }

  /** Something may have become claimable. */
  hint(): void {
    if (this.#waiting.length === 0) return;
    if (this.#looking > 0) this.#again = true;
    else this.#startRound();
    this.lookSoon();
  }

  /** Ends every wait, also those to come, with what a last look gives: the server stops. */
  drain(): void {
    this.#drained = true;
    for (const waiter of this.#waiting) this.#lastLook(waiter);
  }

  /** The calls that look at the head of the next transaction, at most `max`. */
  take(max: number): Queued[] {
    if (this.#looking > 0 || this.#waiting.length === 0) return [];
    if (!this.#round && performance.now() >= this.#nextLook()) this.#startRound();
    const due = this.#due().slice(0, Math.min(max, this.#round?.size ?? LOOK_MAX));
    this.#looking = due.length;
    for (const waiter of due) waiter.looking = true;
    return due.map((waiter) => ({
      call: waiter.call,
      resolve: (outcome) => this.#looked(waiter, outcome),
      reject: (fault) => {
        waiter.fail(fault);
        this.#oneDone();
      },
    }));
  }

  #startRound(): void {
    this.#round = { looked: new Set(), empty: new Set(), size: LOOK_FIRST };
  }

  #due(): Waiter[] {
    const round = this.#round;
    return this.#waiting.filter((waiter) => {
      if (waiter.fresh) return true;
      return round !== undefined && !round.looked.has(waiter) && !round.empty.has(waiter.signature);
    });
  }

  #looked(waiter: Waiter, outcome: Outcome): void {
    waiter.looking = false;
    waiter.fresh = false;
    this.#round?.looked.add(waiter);
    const empty = isEmpty(outcome);
    if (outcome.ok && empty) {
      this.#round?.empty.add(waiter.signature);
      this.#learn(waiter.signature, outcome.emptyForMs ?? null);
    }
    // Where one found something there may be more.
    if (!empty && !this.#round) this.#again = true;
    if (!empty || waiter.over) waiter.settle(outcome);
    this.#oneDone();
  }

  #oneDone(): void {
    this.#looking -= 1;
    if (this.#looking > 0) return;
    if (this.#again) this.#startRound();
    else if (this.#round) this.#round.size = Math.min(2 * this.#round.size, LOOK_MAX);
    this.#again = false;
    if (this.#due().length > 0) this.lookSoon();
    else this.#round = undefined;
  }

  /** Remembers when the clock alone may give this kind of request something. */
  #learn(signature: string, emptyForMs: number | null): void {
    if (!this.#hasLike(signature)) return;
    this.#wakeAt.set(signature, performance.now() + Math.min(emptyForMs ?? TIMER_MAX_MS, TIMER_MAX_MS));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.hint(), Math.max(1, this.#nextLook() - performance.now()));
  }

  /** When the clock alone may give one of them something. */
  #nextLook(): number {
    return Math.min(...this.#wakeAt.values());
  }

  #hasLike(signature: string): boolean {
    return this.#waiting.some((waiter) => waiter.signature === signature);
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

/** Whether a look found nothing to claim, and the call may go on waiting. */
export function isEmpty(outcome: Outcome): boolean {
  return outcome.ok && outcome.emptyForMs !== undefined;
}

const EMPTY: Outcome = {
  ok: true,
  status: 200,
  text: '{"task":null,"notices":[]}',
  notices: 0,
  nowMs: 0,
  emptyForMs: null,
};

/** What a call gets whose caller went away before there was anything for it: what only a look can say nobody knows. */
function goneEmpty(call: EngineCall, signal: AbortSignal): Promise<Outcome> {
  return call.name === "claim_next_task" ? Promise.resolve(EMPTY) : Promise.reject(signal.reason);
}
