import { randomUUID } from "node:crypto";
import { DibsError } from "../../contract/errors.js";
import type { Store } from "../port/store.js";
import { type AdminAction, type AdminResult, runAdmin } from "./admin.js";
import { Engine } from "./engine.js";
import { Housekeeping } from "./housekeeping.js";
import type { BatchResult, EngineCall } from "./outcome.js";
import { type Beat, tend } from "./tending.js";

const STATISTICS_EVERY_BEATS = 5;

/**
 * The engines of one store: as many as it takes transactions at once. Batches start in the order they came in, each on
 * the engine that was freed last: that one remembers most of who calls.
 */
export class Engines {
  readonly #free: Engine[];
  readonly #queue: ((engine: Engine) => void)[] = [];
  readonly #count: number;
  #closed = false;
  #closing: Promise<void> | undefined;
  #watch: NodeJS.Timeout | undefined;
  #looking = false;
  #lookAnyway = false;
  #stopTending: (() => void) | undefined;

  constructor(
    private readonly store: Store,
    /** Told of changes by others, while `watch` is on. */
    private readonly onChanged: () => void,
  ) {
    this.#count = store.transactionsMax;
    this.#free = Array.from({ length: this.#count }, () => new Engine(store));
  }

  async run(calls: readonly EngineCall[]): Promise<BatchResult> {
    const result = await this.#onNext((engine) => engine.run(calls));
    if (result.woke) this.store.announce?.();
    return result;
  }

  admin<A extends AdminAction>(action: A, input: object): Promise<AdminResult<A>> {
    return this.#onNext(() => runAdmin(this.store, action, input));
  }

  async #onNext<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
    if (this.#closed) throw new DibsError("store_unavailable", "The store was closed; open it again.", {});
    const engine = this.#free.pop() ?? (await new Promise<Engine>((resolve) => this.#queue.push(resolve)));
    try {
      return await work(engine);
    } finally {
      const next = this.#queue.shift();
      if (next) next(engine);
      else this.#free.push(engine);
    }
  }

  /** While on, `onChanged` is told of other processes' writes, within 100 ms. */
  watch(on: boolean): void {
    clearInterval(this.#watch);
    if (!on) return;
    // What was committed between the waiter's look and the first answer is found by one more look.
    this.#lookAnyway = true;
    void this.#lookForOthers();
    this.#watch = setInterval(() => void this.#lookForOthers(), this.store.watchEveryMs);
  }

  /** One question at a time: over a slow network they would queue up, and take the connections from the calls. */
  async #lookForOthers(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const anyway = this.#lookAnyway;
    this.#lookAnyway = false;
    const changed = await this.store.changedElsewhere();
    this.#looking = false;
    if (changed || anyway) this.onChanged();
  }

  /** From now on does what is due also when nobody calls, as a server should; told of faults that nobody else is. */
  tend(onFault: (cause: string) => void, beat?: Beat): void {
    const housekeeping = new Housekeeping(this.store, randomUUID());
    let beats = 0;
    const look = async () => {
      if (await this.#onNext((engine) => engine.tend(housekeeping))) {
        this.onChanged();
        this.store.announce?.();
      }
      if (beats % STATISTICS_EVERY_BEATS === 0) await this.store.renewStatistics?.();
      beats += 1;
    };
    this.#stopTending = tend(look, onFault, beat);
  }

  /** Resolves when all that was asked for is done; nothing may be asked for after it. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#watch);
    this.#stopTending?.();
    this.#closed = true;
    const all: Promise<unknown>[] = [];
    for (let nth = 0; nth < this.#count; nth += 1) {
      all.push(
        this.#free.length > 0 ? (this.#free.pop() as never) : new Promise((resolve) => this.#queue.push(resolve)),
      );
    }
    await Promise.all(all);
    await this.store.close();
  }
}
