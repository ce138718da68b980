import { DibsError } from "../contract/errors.js";
import { type Clock, systemClock } from "./clock.js";
import type { Dibs, DibsSession, Input, Output } from "./dibs.js";
import { type HeldLease, LeaseKeeper, marginOf } from "./lease-keeper.js";

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

  /** Throws `scope_conflict` with who is in the way, `invalid_scope`. */
  static async claim(
    dibs: Dibs,
    wanted: Input<"claim_scopes">,
    how: { readonly session?: Input<"open_session">; readonly marginMs?: number; readonly clock?: Clock } = {},
  ): Promise<HeldScopes> {
    const { clock = systemClock, marginMs } = how;
    // A lease never outlives its session, so the session must be able to stay silent for a whole lease.
    const ttlSeconds = Math.max(900, wanted.ttl_seconds ?? 0);
    const session = await dibs.session({ client: "dibs-client", ttl_seconds: ttlSeconds, ...how.session });
    try {
      const sentAtMs = clock.nowMs();
      const { claims } = await session.claimScopes(wanted);
      const held = new HeldScopes(session, claims, clock, marginMs);
      const remaining = Math.min(...claims.map(({ remaining_ms }) => remaining_ms));
      await held.#keeper.start(sentAtMs, { lease_remaining_ms: remaining, cancel_requested: false });
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

  /** Gives all back by ending the session. */
  async release(): Promise<void> {
    await this.#keeper.settle(() => this.#session.end());
  }

  async #beat(signal: AbortSignal): Promise<HeldLease> {
    const { items } = await this.#session.heartbeatScopes({ claim_ids: this.claims.map(({ id }) => id) }, { signal });
    const lost = items.find(({ outcome }) => outcome === "lost");
    if (lost) {
      const reason = lost.reason === "revoked" || lost.reason === "transferred" ? lost.reason : "expired";
      throw new DibsError("lease_lost", `${lost.scope ?? "A scope"} is held no more (${lost.reason}).`, {
        reason,
        next: ["Stop: somebody else may hold it."],
      });
    }
    const left = items.flatMap(({ remaining_ms }) => remaining_ms ?? []);
    return { lease_remaining_ms: Math.min(...left), cancel_requested: false };
  }
}
