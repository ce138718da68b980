import { DibsError } from "../contract/errors.js";
import { type Clock, systemClock } from "./clock.js";
import type { Dibs, DibsSession, Input, Output } from "./dibs.js";
import { type HeldLease, isLost, LeaseKeeper, marginOf, WorkStopped } from "./lease-keeper.js";

type Claims = Output<"claim_scopes">["claims"];

interface Waiting {
  readonly clock?: Clock;
  readonly waitSeconds?: number;
  /** Ends the waiting; a call that doesn't wait is let finish, so that what it granted is known. */
  readonly signal?: AbortSignal;
  /** Told the place in line whenever it is another. */
  readonly onPlace?: (position: number) => void;
}

interface Keeping {
  readonly clock?: Clock;
  readonly marginMs?: number;
  /** Told what is held still, where a holder that was asked to yield kept a part. */
  readonly onNarrowed?: (scopes: readonly string[]) => void;
}

/**
 * Scopes that are held while something runs: claimed together, in a session of their own or in one that is there, kept by
 * heartbeats, and given back at the end. `signal` fires when one of them is lost or can't be known to be held any more. Of one
 * that its holder narrows, the part that it keeps is held on.
 */
export class HeldScopes {
  readonly #session: Dibs;
  readonly #giveBack: (ids: readonly string[]) => Promise<unknown>;
  readonly #onNarrowed: Keeping["onNarrowed"];
  readonly #keeper: LeaseKeeper;
  /** What is held now; an id stands here as often as it is to be given back. */
  #ids: readonly string[];

  private constructor(
    session: Dibs,
    readonly claims: Claims,
    giveBack: (ids: readonly string[]) => Promise<unknown>,
    { clock = systemClock, marginMs, onNarrowed }: Keeping,
  ) {
    this.#session = session;
    this.#giveBack = giveBack;
    this.#onNarrowed = onNarrowed;
    this.#ids = claims.map(({ id }) => id);
    this.#keeper = new LeaseKeeper({
      clock,
      beat: (_fields, signal) => this.#beat(signal),
      marginMs: marginOf(marginMs),
    });
  }

  /**
   * Waits in line for `waitSeconds`, at once refused without. `within`: an open session, whose claims they then are, counted
   * (R33), and which goes on; without it one is opened as `session` says, and ended with them. Throws `scope_conflict` with
   * who is in the way, `would_deadlock`, `invalid_scope`; the `signal`'s reason.
   */
  static async claim(
    dibs: Dibs,
    wanted: Input<"claim_scopes">,
    how: Waiting & Keeping & { readonly within?: string | undefined; readonly session?: Input<"open_session"> } = {},
  ): Promise<HeldScopes> {
    const { session, giveBack } =
      how.within === undefined ? await own(dibs, wanted, how.session) : within(dibs, how.within);
    let claims: Claims = [];
    try {
      const turn = await claimInTurn(session, wanted, how);
      claims = turn.claims;
      const held = new HeldScopes(session, claims, giveBack, how);
      const remaining = Math.min(...claims.map(({ remaining_ms }) => remaining_ms));
      const kept = await held.#keeper.start(turn.sentAtMs, { lease_remaining_ms: remaining, cancel_requested: false });
      if (!kept) throw new WorkStopped("lease_lost");
      return held;
    } catch (error) {
      await giveBack(claims.map(({ id }) => id)).catch(() => undefined);
      throw error;
    }
  }

  get sessionId(): string {
    return this.#session.sessionId ?? "";
  }

  /** Its reason is a `WorkStopped`. */
  get signal(): AbortSignal {
    return this.#keeper.signal;
  }

  /**
   * Gives all back. Throws what a heartbeat does (`lease_lost`, `session_ended`) when some of it was
   * held no more: whoever used it must know, and an answer to giving back wouldn't say of all of it.
   */
  async release(): Promise<void> {
    await this.#keeper.settle(async () => {
      const loss = await this.#lossSoFar();
      await this.#giveBack(this.#ids).catch((error) => {
        if (loss === undefined || !isLost(error)) throw error;
      });
      if (loss !== undefined) throw loss;
    });
  }

  /** Keeps nothing any more, so that what could not be given back ends by the clock. */
  letLapse(): void {
    this.#keeper.stop();
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
    for (let narrowed = false; ; narrowed = true) {
      const claim_ids = [...new Set(this.#ids)];
      const { items } = await this.#session.heartbeatScopes({ claim_ids }, signal ? { signal } : {});
      const parts = new Map(items.map(({ claim_id, now }) => [claim_id, now]));
      if (!items.some(({ now }) => now)) {
        refuseLost(items);
        if (narrowed) this.#onNarrowed?.(items.flatMap(({ scope }) => scope ?? []));
        const left = items.flatMap(({ remaining_ms }) => remaining_ms ?? []);
        return { lease_remaining_ms: Math.min(...left), cancel_requested: false };
      }
      // What is held of it may have been lost, or narrowed, too.
      this.#ids = this.#ids.flatMap((id) => parts.get(id) ?? [id]);
    }
  }
}

/** Throws `lease_lost` where any is. */
function refuseLost(items: Output<"heartbeat_scopes">["items"]): void {
  const lost = items.filter(({ outcome }) => outcome === "lost");
  if (lost.length === 0) return;
  const names = lost.map(({ scope, reason }) => `${scope ?? "a scope"} (${reason})`).join(", ");
  throw new DibsError("lease_lost", `Held no more: ${names}.`, {
    reason: ENDS.find((how) => how === lost[0]?.reason) ?? "expired",
    next: ["Stop: somebody else may hold it."],
  });
}

const ENDS = ["released", "revoked", "transferred"] as const;

async function own(dibs: Dibs, wanted: Input<"claim_scopes">, said: Input<"open_session"> = {}) {
  // A lease never outlives its session, so the session must be able to stay silent for a whole lease.
  const ttlSeconds = Math.max(900, wanted.ttl_seconds ?? 0);
  const session: DibsSession = await dibs.session({ client: "dibs-client", ttl_seconds: ttlSeconds, ...said });
  return { session, giveBack: () => session.end() };
}

function within(dibs: Dibs, id: string) {
  const session = dibs.inSession(id);
  const giveBack = async (ids: readonly string[]) => {
    const left = [...ids];
    while (left.length > 0) {
      const claim_ids = [...new Set(left)];
      await session.releaseScopes({ claim_ids });
      for (const id of claim_ids) left.splice(left.indexOf(id), 1);
    }
  };
  return { session, giveBack };
}

/** One call waits no longer than this; then it is asked again, which keeps the place. */
const WAIT_MAX_SECONDS = 60;

async function claimInTurn(session: Dibs, wanted: Input<"claim_scopes">, how: Waiting): Promise<Turn> {
  const { clock = systemClock, waitSeconds = 0, signal } = how;
  const untilMs = clock.nowMs() + waitSeconds * 1000;
  let place: number | undefined;
  let ticket: string | undefined;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const sentAtMs = clock.nowMs();
      const leftSeconds = Math.ceil((untilMs - sentAtMs) / 1000);
      // The last look doesn't wait, so that what it says is who is in the way.
      if (leftSeconds <= 0) return { ...(await session.claimScopes(wanted)), sentAtMs };
      // The first says the place at once.
      const wait_seconds = place === undefined ? 0 : Math.min(leftSeconds, WAIT_MAX_SECONDS);
      const options = signal && wait_seconds > 0 ? { signal } : {};
      const answer = await session.claimScopes({ ...wanted, wait: true, wait_seconds }, options);
      if (answer.claims.length > 0) return { claims: answer.claims, sentAtMs };
      ticket = answer.ticket;
      if (answer.position !== undefined && answer.position !== place) how.onPlace?.(answer.position);
      place = answer.position ?? place;
    }
  } catch (error) {
    if (ticket !== undefined) await leaveLine(session, ticket).catch(() => undefined);
    throw error;
  }
}

interface Turn {
  readonly claims: Claims;
  readonly sentAtMs: number;
}

/** A session that goes on would keep its place, and what was granted while nobody listened any more. */
async function leaveLine(session: Dibs, ticket: string): Promise<void> {
  const { state, claims } = await session.getWait({ ticket });
  if (state !== "granted") await session.cancelWait({ ticket });
  else await session.releaseScopes({ claim_ids: claims.map(({ id }) => id) });
}
