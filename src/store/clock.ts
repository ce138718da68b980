const FORWARD_JUMP_MS = 60_000;

export interface TimeSource {
  /** Wall clock, ms since 1970. */
  wallMs(): number;
  /** Never goes back, stands still in suspend on some systems; ms. */
  monotonicMs(): number;
}

export const systemTime: TimeSource = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/**
 * The one clock that decides on SQLite (R2): the wall clock, but never behind what was last persisted or decided plus
 * the monotonic time since. So a clock set back neither revives nor stretches a lease; a laptop's sleep, which only the
 * wall clock sees, counts.
 */
export class DecidingClock {
  #decidedMs = 0;
  #decidedAtMonotonic = 0;
  #wallMs: number | undefined;

  constructor(
    private readonly source: TimeSource,
    private readonly onForwardJump: (jumpMs: number) => void,
  ) {}

  /** Reads the clock; `persistedMs` and `offsetMs` come from the store in the same transaction. */
  read(persistedMs: number, offsetMs: number): number {
    const monotonic = this.source.monotonicMs();
    const wall = this.source.wallMs();
    const sinceMs = monotonic - this.#decidedAtMonotonic;
    if (this.#wallMs !== undefined) {
      const jumpMs = wall - this.#wallMs - sinceMs;
      if (jumpMs > FORWARD_JUMP_MS) this.onForwardJump(Math.round(jumpMs));
    }
    const floor = this.#decidedMs === 0 ? 0 : this.#decidedMs + sinceMs;
    const now = Math.floor(Math.max(wall + offsetMs, floor, persistedMs));
    this.#decidedMs = now;
    this.#decidedAtMonotonic = monotonic;
    this.#wallMs = wall;
    return now;
  }
}
