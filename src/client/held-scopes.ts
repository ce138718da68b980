import { DibsError } from "../contract/errors.js";
import { type Clock, systemClock } from "./clock.js";
import type { Dibs, DibsSession, Input, Output } from "./dibs.js";
import { type HeldLease, isLost, LeaseKeeper, marginOf, WorkStopped } from "./lease-keeper.js";

type Claims = Output<"claim_scopes">["claims"];

/**
 * Scopes that are held while something runs: claimed together in a session of their own, kept by heartbeats, and given back
 * at the end. `signal` fires when one of them is lost or can't be known to be held any more.
 */
export class HeldScopes {
  readonly #session: DibsSession;
  readonly #keeper: LeaseKeeper;

  private constructor(
    session: DibsSession,
    readonly claims: Claims,
    clock: Clock,
    marginMs: number | undefined,
  ) {
    this.#session = session;
    this.#keeper = new LeaseKeeper({
      clock,
      beat: (_fields, signal) => this.#beat(signal),
      marginMs: marginOf(marginMs),
    });
  }

  /**
   * Waits in line for `waitSeconds`, at once refused without. Throws `scope_conflict` with who is in the way,
   * `would_deadlock`, `invalid_scope`; the `signal`'s reason.
   */
  static async claim(
    dibs: Dibs,
    wanted: Input<"claim_scopes">,
    how: {
      readonly session?: Input<"open_session">;
      readonly marginMs?: number;
      readonly clock?: Clock;
      readonly waitSeconds?: number;
      readonly signal?: AbortSignal;
      /** Told the place in line whenever it is another. */
      readonly onPlace?: (position: number) => void;
    } = {},
  ): Promise<HeldScopes> {
    const { clock = systemClock, marginMs } = how;
    // A lease never outlives its session, so the session must be able to stay silent for a whole lease.
    const ttlSeconds = Math.max(900, wanted.ttl_seconds ?? 0);
    const session = await dibs.session({ client: "dibs-client", ttl_seconds: ttlSeconds, ...how.session });
    try {
      const { claims, sentAtMs } = await claimInTurn(session, wanted, { ...how, clock });
      const held = new HeldScopes(session, claims, clock, marginMs);
      const remaining = Math.min(...claims.map(({ remaining_ms }) => remaining_ms));
      const kept = await held.#keeper.start(sentAtMs, { lease_remaining_ms: remaining, cancel_requested: false });
      if (!kept) throw new WorkStopped("lease_lost");
      return held;
    } catch (error) {
      await session.end().catch(() => undefined);
      throw error;
    }
  }

  get sessionId(): string {
    return this.#session.record.id;
  }

  /** Its reason is a `WorkStopped`. */
  get signal(): AbortSignal {
    return this.#keeper.signal;
  }

  /**
   * Gives all back by ending the session. Throws what a heartbeat does (`lease_lost`, `session_ended`) when some of it was
   * held no more: whoever used it must know, and the end of the session alone wouldn't say.
   */
  async release(): Promise<void> {
    await this.#keeper.settle(async () => {
      const loss = await this.#lossSoFar();
      await this.#session.end().catch((error) => {
        if (loss === undefined || !isLost(error)) throw error;
      });
      if (loss !== undefined) throw loss;
    });
  }

  /** What of it is over by now, as a heartbeat says it; undefined: all of it was held without a break. */
  async #lossSoFar(): Promise<unknown> {
    try {
      await this.#beat();
    } catch (error) {
      if (isLost(error)) return error;
      throw error;
    }
  }

  async #beat(signal?: AbortSignal): Promise<HeldLease> {
    const input = { claim_ids: this.claims.map(({ id }) => id) };
    const { items } = await this.#session.heartbeatScopes(input, signal ? { signal } : {});
    const lost = items.filter(({ outcome }) => outcome === "lost");
    if (lost.length > 0) {
      const names = lost.map(({ scope, reason }) => `${scope ?? "a scope"} (${reason})`).join(", ");
      throw new DibsError("lease_lost", `Held no more: ${names}.`, {
        reason: ENDS.find((how) => how === lost[0]?.reason) ?? "expired",
        next: ["Stop: somebody else may hold it."],
      });
    }
    const left = items.flatMap(({ remaining_ms }) => remaining_ms ?? []);
    return { lease_remaining_ms: Math.min(...left), cancel_requested: false };
  }
}

const ENDS = ["released", "revoked", "transferred"] as const;

/** One call waits no longer than this; then it is asked again, which keeps the place. */
const WAIT_MAX_SECONDS = 60;

async function claimInTurn(
  session: DibsSession,
  wanted: Input<"claim_scopes">,
  how: {
    readonly clock: Clock;
    readonly waitSeconds?: number;
    readonly signal?: AbortSignal;
    readonly onPlace?: (position: number) => void;
  },
): Promise<{ claims: Claims; sentAtMs: number }> {
  const { clock, waitSeconds = 0, signal } = how;
  const untilMs = clock.nowMs() + waitSeconds * 1000;
  const options = signal ? { signal } : {};
  let place: number | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const sentAtMs = clock.nowMs();
    const leftSeconds = Math.ceil((untilMs - sentAtMs) / 1000);
    // The last look doesn't wait, so that what it says is who is in the way.
    if (leftSeconds <= 0) return { ...(await session.claimScopes(wanted, options)), sentAtMs };
    // The first says the place at once.
    const wait_seconds = place === undefined ? 0 : Math.min(leftSeconds, WAIT_MAX_SECONDS);
    const { claims, position } = await session.claimScopes({ ...wanted, wait: true, wait_seconds }, options);
    if (claims.length > 0) return { claims, sentAtMs };
    if (position !== undefined && position !== place) how.onPlace?.(position);
    place = position ?? place;
  }
}
