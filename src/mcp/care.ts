import { createHash } from "node:crypto";
import type { Call, Caller } from "../contract/operation.js";
import { operations } from "../contract/operations.js";

/** A session that held nothing when last looked at may hold a lease soon; the shortest one's third is no longer. */
const LOOK_AGAIN_MS = 10_000;
const KNOWN_MAX = 10_000;

export interface Notice {
  readonly id: string;
  readonly type: string;
  readonly task_id: string | null;
  readonly message: string;
}

/** What is known of the call that was answered. */
interface Answered {
  /** The session it turned out to belong to. */
  readonly sessionId?: string | undefined;
  /** The length of the lease it was given, in ms. */
  readonly leaseMs?: number | undefined;
  /** How many notices wait. */
  readonly notices: number;
}

/**
 * What every call that works does for its session: renews the leases once past a third of their length (R61), and
 * brings the notices (R54). Keeps only times and ids, all of which may be lost: a session it doesn't know is renewed
 * at once, which harms nothing.
 */
export class Care {
  readonly #call: Call;
  readonly #nowMs: () => number;
  /** When each session's leases are due, by session. */
  readonly #due = new Map<string, number>();
  /** The session that a key has without naming one, by the key's hash; null: it had none at the time. */
  readonly #own = new Map<string, { readonly sessionId: string | null; readonly askedAtMs: number }>();

  constructor(call: Call, nowMs: () => number = () => performance.now()) {
    this.#call = call;
    this.#nowMs = nowMs;
  }

  /** Renews if due and returns the notices. Never throws: the call it follows has worked. */
  async after(caller: Caller, answered: Answered): Promise<readonly Notice[]> {
    try {
      const sessionId = caller.sessionId ?? (await this.#ownSession(caller, answered.sessionId));
      if (sessionId === undefined) return [];
      const inSession = { identity: caller.identity, sessionId };
      const dueMs = this.#due.get(sessionId);
      if (dueMs === undefined || this.#nowMs() >= dueMs) return await this.#renew(inSession);
      if (answered.leaseMs !== undefined) {
        keep(this.#due, sessionId, Math.min(dueMs, this.#nowMs() + answered.leaseMs / 3));
      }
      return answered.notices > 0 ? await this.notices(inSession) : [];
    } catch {
      return [];
    }
  }

  /** The notices of the session named; none when they can't be read. */
  async notices(caller: Caller): Promise<readonly Notice[]> {
    if (caller.sessionId === undefined) return [];
    try {
      return (await this.#call(operations.get_session, { session_id: caller.sessionId }, caller)).body.notices;
    } catch {
      return [];
    }
  }

  /** The open session that the key has without naming one, if any. */
  async implicitSession(caller: Caller): Promise<string | undefined> {
    const me = (await this.#call(operations.get_me, {}, caller)).body.id;
    let cursor: string | undefined;
    do {
      const page = await this.#call(operations.list_sessions, { agent_id: me, limit: 1000, cursor }, caller);
      const found = page.body.find((session) => session.implicit);
      if (found) return found.id;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return undefined;
  }

  forget(sessionId: string): void {
    this.#due.delete(sessionId);
    for (const [key, own] of this.#own) if (own.sessionId === sessionId) this.#own.delete(key);
  }

  async #renew(caller: Caller & { readonly sessionId: string }): Promise<readonly Notice[]> {
    // Set first: calls that come together renew once.
    keep(this.#due, caller.sessionId, this.#nowMs() + LOOK_AGAIN_MS);
    try {
      const input = { session_id: caller.sessionId };
      const { items, notices } = (await this.#call(operations.heartbeat_session, input, caller)).body;
      const thirds = items.map((item) => (item.lease_remaining_ms ?? Infinity) / 3);
      const next = items.length > 0 ? Math.min(...thirds) : Infinity;
      keep(this.#due, caller.sessionId, this.#nowMs() + (Number.isFinite(next) ? next : LOOK_AGAIN_MS));
      return notices;
    } catch {
      this.forget(caller.sessionId);
      return [];
    }
  }

  async #ownSession(caller: Caller, seen: string | undefined): Promise<string | undefined> {
    const key = createHash("sha256").update(JSON.stringify(caller.identity)).digest("base64");
    if (seen !== undefined) keep(this.#own, key, { sessionId: seen, askedAtMs: this.#nowMs() });
    const known = this.#own.get(key);
    if (known?.sessionId) return known.sessionId;
    if (known && this.#nowMs() - known.askedAtMs < LOOK_AGAIN_MS) return undefined;
    const sessionId = (await this.implicitSession(caller)) ?? null;
    keep(this.#own, key, { sessionId, askedAtMs: this.#nowMs() });
    return sessionId ?? undefined;
  }
}

function keep<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > KNOWN_MAX) for (const oldest of map.keys()) return void map.delete(oldest);
}
