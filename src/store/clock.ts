import { readFileSync } from "node:fs";

const FORWARD_JUMP_MS = 60_000;

export interface TimeSource {
  /** Wall clock, ms since 1970. */
  wallMs(): number;
  /** Never goes back, stands still in suspend on some systems; ms. */
  monotonicMs(): number;
  /** Names what the monotonic clock counts from, where all processes of the machine share it. */
  boot?(): string;
}

let bootId: string | undefined;

export const systemTime: TimeSource = {
  wallMs: () => Date.now(),
  // The machine's, not the process's as `performance.now()`.
  monotonicMs: () => Number(process.hrtime.bigint()) / 1e6,
  boot() {
    bootId ??= readBootId();
    return bootId;
  },
};

function readBootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return ""; // Not Linux: processes then know of each other only what was written.
  }
}

/** The clock as the store keeps it. */
export interface KeptClock {
  readonly last_ms: number;
  readonly offset_ms: number;
  readonly boot: string;
  readonly uptime_ms: number;
}

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

  /** Reads the clock; `kept` comes from the store in the same transaction. */
  read(kept: KeptClock): number {
    const monotonic = this.source.monotonicMs();
    const wall = this.source.wallMs();
    const sinceMs = monotonic - this.#decidedAtMonotonic;
    if (this.#wallMs !== undefined) {
      const jumpMs = wall - this.#wallMs - sinceMs;
      if (jumpMs > FORWARD_JUMP_MS) this.onForwardJump(Math.round(jumpMs));
    }
    const floor = this.#decidedMs === 0 ? 0 : this.#decidedMs + sinceMs;
    const now = Math.floor(Math.max(wall + kept.offset_ms, floor, kept.last_ms + this.#passedSince(kept, monotonic)));
    this.#decidedMs = now;
    this.#decidedAtMonotonic = monotonic;
    this.#wallMs = wall;
    return now;
  }

  /** What is kept beside the time just decided. */
  mark(): Pick<KeptClock, "boot" | "uptime_ms"> {
    return { boot: this.source.boot?.() ?? "", uptime_ms: Math.ceil(this.#decidedAtMonotonic) };
  }

  /** Since the kept time was decided, as far as that is known: another boot, or another machine, counts from elsewhere. */
  #passedSince(kept: KeptClock, monotonic: number): number {
    const sameBoot = kept.boot !== "" && kept.boot === this.source.boot?.();
    return sameBoot ? Math.max(0, monotonic - kept.uptime_ms) : 0;
  }
}
