import { perSecond } from "../figures.js";

export interface Measured {
  readonly perSecond: number;
  /** Of each claim in the measured time; empty where a queue claims out of sight. */
  readonly claimMs: readonly number[];
  /** All cycles, the warm-up's too. */
  readonly total: number;
}

export interface Span {
  readonly seconds: number;
  /** The most that may be taken; the backlog keeps something, so that nobody is measured polling an empty queue. */
  readonly limit: number;
}

const WARM_UP_MS = 500;

/** Counts one measurement: a short warm-up, whose figures are dropped, then `seconds` or `limit` claims, what comes first. */
export class Meter {
  readonly #span: Span;
  readonly #warmUntil = performance.now() + WARM_UP_MS;
  #startedAt: number | undefined;
  #taken = 0;
  #total = 0;
  #halvesAtStart = 0;
  #claimMs: number[] = [];

  constructor(span: Span) {
    this.#span = span;
  }

  /** True when the workers shall stop. */
  get over(): boolean {
    if (this.#taken >= this.#span.limit) return true;
    return this.#startedAt !== undefined && performance.now() >= this.#startedAt + this.#span.seconds * 1000;
  }

  /** Says that `count` tasks were claimed. */
  took(count = 1): void {
    this.#taken += count;
  }

  /** Says how long a claim took. */
  waited(ms: number): void {
    this.#claimMs.push(ms);
  }

  /** Says that `count` tasks were completed. */
  completed(count = 1): void {
    this.#total += count;
    if (this.#startedAt !== undefined) return;
    const now = performance.now();
    if (now < this.#warmUntil && this.#total < this.#span.limit / 4) return;
    this.#startedAt = now;
    this.#halvesAtStart = this.#taken + this.#total;
    this.#claimMs = [];
  }

  /** Ends the measurement: call it when all that was counted is really done. */
  end(): Measured {
    const elapsedMs = performance.now() - (this.#startedAt ?? Number.NaN);
    // A claim is half a cycle and a completion the other. With 50 batches of 100 under way, 5,000 claims lie before the start
    // whose completions lie after it; counted by completions alone they made 34,000 cycles a second of 14,000.
    const cycles = (this.#taken + this.#total - this.#halvesAtStart) / 2;
    return { perSecond: perSecond(cycles, elapsedMs), claimMs: this.#claimMs, total: this.#total };
  }
}

/** `workers` loops in this process, each claiming (one or a batch, which counts as its length) and completing. */
export async function loops<T>(
  workers: number,
  meter: Meter,
  claim: (worker: number) => Promise<T | undefined> | T | undefined,
  complete: (claimed: T, worker: number) => Promise<unknown> | unknown,
  size: (claimed: T) => number = () => 1,
): Promise<void> {
  const loop = async (worker: number) => {
    while (!meter.over) {
      const askedAt = performance.now();
      const claimed = await claim(worker);
      if (claimed === undefined) return;
      meter.waited(performance.now() - askedAt);
      meter.took(size(claimed));
      await complete(claimed, worker);
      meter.completed(size(claimed));
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => loop(worker)));
}
