const TICK_MS = 10;

/**
 * How long this process was kept from running while it should have: a busy or frozen machine does that to everybody,
 * so a test that measures latencies takes it off before it blames the server.
 */
export class StallWatch {
  lostMs = 0;
  readonly #timer: NodeJS.Timeout;

  constructor() {
    let lastMs = performance.now();
    this.#timer = setInterval(() => {
      const nowMs = performance.now();
      this.lostMs += Math.max(0, nowMs - lastMs - 5 * TICK_MS);
      lastMs = nowMs;
    }, TICK_MS);
  }

  /** Ends the watch and gives the time lost since it began, ms. */
  stop(): number {
    clearInterval(this.#timer);
    return this.lostMs;
  }
}
