import type { BatchResult, EngineCall, Outcome } from "./outcome.js";

/** Calls that go into one transaction at most: bounds how long the first of them waits for the last. */
const BATCH_MAX = 256;

export type RunBatch = (calls: readonly EngineCall[]) => Promise<BatchResult>;

export interface Queued {
  readonly call: EngineCall;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (fault: unknown) => void;
}

/**
 * Coalesces calls: while one batch is on its way to the disk, the next gathers, and then goes as one. A single call
 * waits for nobody. Measured on raw statements, 64 together give 7 times the cycles of one at a time.
 */
export class Lane {
  #queue: Queued[] = [];
  #underWay = 0;
  #scheduled = false;
  #kicked = false;

  constructor(
    private readonly run: RunBatch,
    /** Told after each batch in which something became claimable; the next batch goes when it has resolved. */
    private readonly onWoke: () => Promise<void> | undefined,
    /**
     * Batches that may be on their way at once. An engine in a thread of its own takes two: it works on one while the
     * answers of the other are handed out here.
     */
    private readonly underWayMax: () => number,
    /** Calls that go before all that are queued, asked for when a batch is put together. */
    private readonly first: (max: number) => readonly Queued[] = () => [],
  ) {}

  submit(call: EngineCall): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ call, resolve, reject });
      this.#schedule();
    });
  }

  /** Asks for a batch although nothing may be queued: there are calls that go first. */
  kick(): void {
    this.#kicked = true;
    this.#schedule();
  }

  /** Calls of one turn of the event loop go together: they came together. */
  #schedule(): void {
    if (this.#scheduled || this.#underWay >= this.underWayMax()) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#send();
    });
  }

  async #send(): Promise<void> {
    this.#kicked = false;
    const batch = [...this.first(BATCH_MAX)];
    batch.push(...this.#queue.splice(0, BATCH_MAX - batch.length));
    if (batch.length === 0) return;
    this.#underWay += 1;
    if (this.#queue.length > 0) this.#schedule();
    try {
      const { outcomes, woke } = await this.run(batch.map((each) => each.call));
      batch.forEach((each, at) => {
        each.resolve(outcomes[at] as Outcome);
      });
      if (woke) await this.onWoke();
    } catch (fault) {
      for (const each of batch) each.reject(fault);
    } finally {
      this.#underWay -= 1;
      if (this.#kicked || this.#queue.length > 0) this.#schedule();
    }
  }
}
