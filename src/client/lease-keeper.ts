import { isDibsError } from "../contract/errors.js";
import { type Clock, pause } from "./clock.js";
import { watchForWake } from "./wake-watch.js";

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
  /**
   * Tries once to hold the task again after `loss`, the server's word that the lease is over, and gives the new lease;
   * throws why not. Without it a lost lease stays lost.
   */
  readonly reclaim?: ((loss: unknown, signal: AbortSignal) => Promise<HeldLease>) | undefined;
}

/**
 * No heartbeat comes later than this after the last, however long the lease: a takeover, a cancel request or a coordinator's
 * grant to another is learnt by a heartbeat alone, and at a third of five minutes two worked on the same thing for 100 s.
 */
const BEAT_AT_LEAST_EVERY_MS = 10_000;
/** A timer later than this was not late by load: the process, or the machine, stood still. */
const STOOD_STILL_MS = 1_000;
/** What runs goes on so long without a lease while one is asked for; after a sleep a network needs some seconds. */
const RECLAIM_MS = 10_000;

/**
 * Keeps one lease alive and knows how long it is certain to be held: from the monotonic time at which a request
 * was SENT, for as long as its answer says, less a margin. A heartbeat that fails on the way proves nothing and is
 * tried again until that deadline; then the signal fires.
 *
 * With `reclaim`, a lease that the server says is over is tried to be had again before the signal fires: once, and
 * once more only after a heartbeat of the new lease got through. A deadline that passed while the process stood still
 * says nothing of the server; it is asked first.
 */
export class LeaseKeeper {
  readonly #options: KeeperOptions;
  readonly #stop = new AbortController();
  readonly #end = new AbortController();
  #deadlineMs = Number.NEGATIVE_INFINITY;
  #beatEveryMs = 0;
  #beatTimer: unknown;
  #deadlineTimer: unknown;
  #endWatch: (() => void) | undefined;
  #settling = false;
  /** Counts the grants; what is said of an earlier one is old news. */
  #grant = 1;
  #mayReclaim = false;
  #regaining: Promise<void> | undefined;

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
    this.#beatEveryMs = beatEveryMs(remainingMs);
    const giveUpMs = clock.nowMs() + remainingMs;
    if (clock.nowMs() < sentAtMs + this.#beatEveryMs) {
      this.#beaten(this.#grant, sentAtMs, held);
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
    const grant = this.#grant;
    const sentAtMs = this.#options.clock.nowMs();
    try {
      const held = await this.#options.beat(fields, this.#end.signal);
      this.#beaten(grant, sentAtMs, held);
      return held as H;
    } catch (error) {
      if (isLost(error) && (await this.#regained(grant, error))) return this.beat(fields);
      throw error;
    }
  }

  /**
   * Runs what ends the lease. Until it has succeeded the lease is kept, so that it may be tried again. `anew`: it is
   * worth a claim; when the lease is over and can be had again, it runs under the new one.
   */
  async settle<T>(run: () => Promise<T>, { anew = false } = {}): Promise<T> {
    if (this.#regaining) await this.#regaining;
    const grant = this.#grant;
    this.#settling = true;
    try {
      const value = await run();
      this.stop();
      return value;
    } catch (error) {
      this.#settling = false;
      if (anew && isLost(error) && (await this.#regained(grant, error))) return this.settle(run);
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
    this.#clearTimers();
    this.#endWatch?.();
    this.#end.abort(why);
    if (why) this.#stop.abort(why);
  }

  #clearTimers(): void {
    this.#options.clock.clearTimer(this.#beatTimer);
    this.#options.clock.clearTimer(this.#deadlineTimer);
  }

  #beaten(grant: number, sentAtMs: number, held: HeldLease): void {
    if (grant !== this.#grant) return;
    this.#mayReclaim = true;
    // An answer may come after the lease was settled.
    if (!this.#end.signal.aborted) this.#endWatch ??= watchForWake(this.#options.clock, () => this.#beatIn(0));
    this.#confirmed(sentAtMs, held);
  }

  #confirmed(sentAtMs: number, held: HeldLease): void {
    if (this.#end.signal.aborted) return;
    const { clock, marginMs } = this.#options;
    const remainingMs = held.lease_remaining_ms ?? 0;
    this.#beatEveryMs = beatEveryMs(remainingMs);
    // A lease's end never moves back, so the later of two lower bounds is the better one.
    this.#deadlineMs = Math.max(this.#deadlineMs, sentAtMs + remainingMs - marginMs(remainingMs));
    clock.clearTimer(this.#deadlineTimer);
    this.#deadlineTimer = clock.setTimer(() => this.#passed(), this.#deadlineMs - clock.nowMs());
    this.#beatIn(sentAtMs + this.#beatEveryMs - clock.nowMs());
    if (held.cancel_requested) this.abort("cancel_requested");
  }

  async #passed(): Promise<void> {
    const { clock, reclaim } = this.#options;
    if (reclaim && clock.nowMs() - this.#deadlineMs > STOOD_STILL_MS) {
      const outcome = await this.#tryBeat({}, RECLAIM_MS);
      // Another heartbeat, late as well, may have got through instead.
      if (outcome !== "unknown" || this.#regaining || clock.nowMs() < this.#deadlineMs) return;
    }
    if (!this.#end.signal.aborted) this.stop(new WorkStopped("lease_unknown"));
  }

  #beatIn(delayMs: number): void {
    const { clock } = this.#options;
    clock.clearTimer(this.#beatTimer);
    this.#beatTimer = clock.setTimer(async () => {
      if ((await this.#tryBeat({})) === "unknown" && !this.#end.signal.aborted) this.#beatIn(this.#retryMs());
    }, delayMs);
  }

  /** One heartbeat that may not hang: after its interval the next one is due anyway. */
  async #tryBeat(
    fields: Readonly<Record<string, unknown>>,
    limitMs = this.#beatEveryMs,
  ): Promise<"held" | "lost" | "unknown"> {
    const { clock } = this.#options;
    const grant = this.#grant;
    const sentAtMs = clock.nowMs();
    const limit = new AbortController();
    const timer = clock.setTimer(() => limit.abort(new Error("the heartbeat took too long")), limitMs);
    try {
      const held = await this.#options.beat(fields, AbortSignal.any([limit.signal, this.#end.signal]));
      this.#beaten(grant, sentAtMs, held);
      return "held";
    } catch (error) {
      // While the task is being settled a heartbeat may meet the lease already ended by that.
      if (!isLost(error) || this.#settling) return grant === this.#grant ? "unknown" : "held";
      return (await this.#regained(grant, error)) ? "held" : "lost";
    } finally {
      clock.clearTimer(timer);
    }
  }

  #retryMs(): number {
    return Math.min(5_000, this.#beatEveryMs / 4);
  }

  /** Whether a lease is held after all, though the server says that this grant is over. */
  async #regained(grant: number, loss: unknown): Promise<boolean> {
    if (grant === this.#grant) {
      this.#regaining ??= this.#regain(loss).finally(() => {
        this.#regaining = undefined;
      });
      await this.#regaining;
    }
    return grant !== this.#grant && !this.#end.signal.aborted;
  }

  async #regain(loss: unknown): Promise<void> {
    const { clock, reclaim } = this.#options;
    // Who was told to stop has no use for another lease.
    if (!reclaim || !this.#mayReclaim || this.#stop.signal.aborted) return this.#lose(loss);
    this.#mayReclaim = false;
    this.#clearTimers();
    const limit = new AbortController();
    const timer = clock.setTimer(() => limit.abort(loss), RECLAIM_MS);
    const sentAtMs = clock.nowMs();
    try {
      const held = await reclaim(loss, AbortSignal.any([limit.signal, this.#end.signal]));
      this.#grant += 1;
      this.#deadlineMs = Number.NEGATIVE_INFINITY;
      this.#confirmed(sentAtMs, held);
    } catch (refusal) {
      this.#lose(refusal);
    } finally {
      clock.clearTimer(timer);
    }
  }

  #lose(error: unknown): void {
    if (!this.#end.signal.aborted) this.stop(new WorkStopped("lease_lost", { cause: error }));
  }
}

function beatEveryMs(remainingMs: number): number {
  return Math.min(remainingMs / 3, BEAT_AT_LEAST_EVERY_MS);
}

/** The server's word that the lease is over; anything else proves nothing. */
export function isLost(error: unknown): boolean {
  return isDibsError(error) && ["lease_lost", "session_ended", "not_found"].includes(error.code);
}

/** How much before a lease's last known end its holder stops: what it asks for, but never so much that no heartbeat fits in. */
export function marginOf(askedMs = 1_000): (remainingMs: number) => number {
  return (remainingMs) => Math.min(askedMs, remainingMs / 5);
}
