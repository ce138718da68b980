import type { Clock } from "../../src/client/clock.js";

/** A clock that moves only when a test says so. */
export class ManualClock implements Clock {
  #nowMs = 1_000_000;
  readonly #timers = new Map<object, { atMs: number; run: () => void }>();

  nowMs(): number {
    return this.#nowMs;
  }

  setTimer(run: () => void, delayMs: number): object {
    const timer = {};
    this.#timers.set(timer, { atMs: this.#nowMs + Math.max(0, delayMs), run });
    return timer;
  }

  clearTimer(timer: unknown): void {
    this.#timers.delete(timer as object);
  }

  get timersSet(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer is due; undefined when none is set. */
  get nextInMs(): number | undefined {
    const due = [...this.#timers.values()].map((timer) => timer.atMs);
    return due.length === 0 ? undefined : Math.min(...due) - this.#nowMs;
  }

  /** Moves the time, runs what became due on the way in order, and lets what that started go on. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs;
    for (;;) {
      const due = [...this.#timers]
        .filter(([, timer]) => timer.atMs <= untilMs)
        .sort(([, a], [, b]) => a.atMs - b.atMs);
      const first = due[0];
      if (!first) break;
      this.#timers.delete(first[0]);
      this.#nowMs = Math.max(this.#nowMs, first[1].atMs);
      first[1].run();
      await settled();
    }
    this.#nowMs = untilMs;
    await settled();
  }

  /** Time that passes while the process is stopped: nothing runs, whatever became due. */
  jump(byMs: number): void {
    this.#nowMs += byMs;
  }
}

/** Lets every promise that is ready go on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
