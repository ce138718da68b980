import { isDibsError } from "../contract/errors.js";
import { type Clock, pause } from "./clock.js";

/** What a claim or heartbeat says about the lease. */
export interface HeldLease {
  readonly lease_remaining_ms: number | null;
  readonly cancel_requested: boolean;
}

export type WorkStoppedReason = "lease_lost" | "lease_unknown" | "cancel_requested" | "stopping";

const MEANING: Record<WorkStoppedReason, string> = {
  lease_lost: "The lease is lost: somebody else may hold the task. Stop working on it.",
  lease_unknown: "The lease can't be known to be held any more: no heartbeat got through in time. Stop working on it.",
  cancel_requested: "The task is to be cancelled. Stop working on it and release it.",
  stopping: "The worker is stopping. Wind up and release the task.",
};

/** Why a work item's signal fired; it is the signal's `reason`. */
export class WorkStopped extends Error {
  override readonly name = "WorkStopped";
  readonly reason: WorkStoppedReason;

  constructor(reason: WorkStoppedReason, options?: ErrorOptions) {
    super(MEANING[reason], options);
    this.reason = reason;
  }
}

interface KeeperOptions {
  readonly clock: Clock;
  /** One heartbeat; `fields` go with it. */
  readonly beat: (fields: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<HeldLease>;
  /** How much earlier than the lease's last known end the holder stops. */
  readonly marginMs: (remainingMs: number) => number;
}

/**
 * Keeps one lease alive and knows how long it is certain to be held: from the monotonic time at which a request
 * was SENT, for as long as its answer says, less a margin. A heartbeat that fails on the way proves nothing and is
 * tried again until that deadline; then the signal fires.
 */
export class LeaseKeeper {
  readonly #options: KeeperOptions;
  readonly #stop = new AbortController();
  readonly #end = new AbortController();
  #deadlineMs = Number.NEGATIVE_INFINITY;
  #beatEveryMs = 0;
  #beatTimer: unknown;
  #deadlineTimer: unknown;
  #settling = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /** Fires with a `WorkStopped` when the holder has to stop. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /**
   * Starts to keep a lease that was granted by a request sent at `sentAtMs`. When that was too long ago to tell
   * how much is left (the claim waited), a heartbeat asks first. False: the lease is gone already.
   */
  async start(sentAtMs: number, held: HeldLease): Promise<boolean> {
    const { clock } = this.#options;
    const remainingMs = held.lease_remaining_ms ?? 0;
    this.#beatEveryMs = remainingMs / 3;
    const giveUpMs = clock.nowMs() + remainingMs;
    if (clock.nowMs() < sentAtMs + this.#beatEveryMs) {
      this.#confirmed(sentAtMs, held);
      return true;
    }
    while (clock.nowMs() < giveUpMs) {
      const outcome = await this.#tryBeat({});
      if (outcome !== "unknown") return outcome === "held";
      await pause(clock, this.#retryMs());
    }
    return false;
  }

  /** A heartbeat now, with progress or a checkpoint. Throws what the call throws. */
  async beat<H extends HeldLease>(fields: Readonly<Record<string, unknown>>): Promise<H> {
    const sentAtMs = this.#options.clock.nowMs();
    try {
      const held = await this.#options.beat(fields, this.#end.signal);
      this.#confirmed(sentAtMs, held);
      return held as H;
    } catch (error) {
      if (isLost(error)) this.#lose(error);
      throw error;
    }
  }

  /** Runs what ends the lease. Until it has succeeded the lease is kept, so that it may be tried again. */
  async settle<T>(run: () => Promise<T>): Promise<T> {
    this.#settling = true;
    try {
      const value = await run();
      this.stop();
      return value;
    } catch (error) {
      this.#settling = false;
      if (isLost(error)) this.#lose(error);
      throw error;
    }
  }

  /** Tells the holder to stop; the lease is kept on until it is settled. */
  abort(reason: "cancel_requested" | "stopping"): void {
    this.#stop.abort(new WorkStopped(reason));
  }

  /** Keeps nothing any more; the signal fires only if there is a reason. */
  stop(why?: WorkStopped): void {
    this.#options.clock.clearTimer(this.#beatTimer);
    this.#options.clock.clearTimer(this.#deadlineTimer);
    this.#end.abort(why);
    if (why) this.#stop.abort(why);
  }

  #confirmed(sentAtMs: number, held: HeldLease): void {
    if (this.#end.signal.aborted) return;
    const { clock, marginMs } = this.#options;
    const remainingMs = held.lease_remaining_ms ?? 0;
    this.#beatEveryMs = remainingMs / 3;
    // A lease's end never moves back, so the later of two lower bounds is the better one.
    this.#deadlineMs = Math.max(this.#deadlineMs, sentAtMs + remainingMs - marginMs(remainingMs));
    clock.clearTimer(this.#deadlineTimer);
    this.#deadlineTimer = clock.setTimer(
      () => this.stop(new WorkStopped("lease_unknown")),
      this.#deadlineMs - clock.nowMs(),
    );
    this.#beatIn(sentAtMs + this.#beatEveryMs - clock.nowMs());
    if (held.cancel_requested) this.abort("cancel_requested");
  }

  #beatIn(delayMs: number): void {
    const { clock } = this.#options;
    clock.clearTimer(this.#beatTimer);
    this.#beatTimer = clock.setTimer(async () => {
      if ((await this.#tryBeat({})) === "unknown" && !this.#end.signal.aborted) this.#beatIn(this.#retryMs());
    }, delayMs);
  }

  /** One heartbeat that may not hang: after its interval the next one is due anyway. */
  async #tryBeat(fields: Readonly<Record<string, unknown>>): Promise<"held" | "lost" | "unknown"> {
    const { clock } = this.#options;
    const sentAtMs = clock.nowMs();
    const limit = new AbortController();
    const timer = clock.setTimer(() => limit.abort(new Error("the heartbeat took too long")), this.#beatEveryMs);
    try {
      const held = await this.#options.beat(fields, AbortSignal.any([limit.signal, this.#end.signal]));
      this.#confirmed(sentAtMs, held);
      return "held";
    } catch (error) {
      // While the task is being settled a heartbeat may meet the lease already ended by that.
      if (!isLost(error) || this.#settling) return "unknown";
      this.#lose(error);
      return "lost";
    } finally {
      clock.clearTimer(timer);
    }
  }

  #retryMs(): number {
    return Math.min(5_000, this.#beatEveryMs / 4);
  }

  #lose(error: unknown): void {
    if (!this.#end.signal.aborted) this.stop(new WorkStopped("lease_lost", { cause: error }));
  }
}

/** The server's word that the lease is over; anything else proves nothing. */
export function isLost(error: unknown): boolean {
  return isDibsError(error) && ["lease_lost", "session_ended", "not_found"].includes(error.code);
}
