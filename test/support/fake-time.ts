/** A machine's time that moves only when a test says so: its wall clock and its monotonic clock. */
export class FakeTime {
  static #boots = 0;
  readonly #boot: string;
  #wallMs: number;
  #monotonicMs = 5_000;

  constructor(startMs = Date.UTC(2026, 0, 1, 12)) {
    this.#wallMs = startMs;
    FakeTime.#boots += 1;
    this.#boot = `boot ${FakeTime.#boots}`;
  }

  boot = (): string => this.#boot;

  wallMs = (): number => this.#wallMs;
  monotonicMs = (): number => this.#monotonicMs;

  /** Time passes: both clocks move. */
  pass(ms: number): void {
    this.#wallMs += ms;
    this.#monotonicMs += ms;
  }

  /** Somebody sets the wall clock; no time passes. */
  setWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  /** The machine sleeps: time passes that the monotonic clock doesn't see. */
  sleep(ms: number): void {
    this.#wallMs += ms;
  }

  /** RFC 3339, `ms` from now. */
  iso(ms = 0): string {
    return new Date(this.#wallMs + ms).toISOString();
  }
}
