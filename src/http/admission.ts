import { hash } from "node:crypto";
import { DibsError } from "../contract/errors.js";
import type { Credential, HttpSettings } from "./settings.js";

/** Holds up to `burst` tokens and gains `perSecond` of them; starts full. Times are monotonic milliseconds. */
export class TokenBucket {
  #tokens: number;
  #atMs: number;

  constructor(
    readonly perSecond: number,
    readonly burst: number,
    nowMs: number,
  ) {
    this.#tokens = burst;
    this.#atMs = nowMs;
  }

  /** Milliseconds until there is a token; 0 when there is one. Takes nothing. */
  waitMs(nowMs: number): number {
    this.#tokens = Math.min(this.burst, this.#tokens + ((nowMs - this.#atMs) / 1000) * this.perSecond);
    this.#atMs = nowMs;
    return this.#tokens >= 1 ? 0 : ((1 - this.#tokens) / this.perSecond) * 1000;
  }

  /** Takes a token if there is one (0), else says how long to wait. */
  takeMs(nowMs: number): number {
    const wait = this.waitMs(nowMs);
    if (wait === 0) this.#tokens -= 1;
    return wait;
  }
}

/** As much of a socket as the limits look at; a proxy's word for another address counts nothing. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
}

/** What the limits know of one credential, kept under its hash. */
export interface Visitor {
  standing: "unknown" | "good" | "bad";
  calls: TokenBucket;
  heartbeats: TokenBucket;
}

/** A refusal for coming too often, with the time after which it is worth trying again. */
export class TooMany extends DibsError<"rate_limited"> {
  constructor(
    message: string,
    details: { setting: string; limit: number },
    readonly retryAfterSeconds: number,
  ) {
    super("rate_limited", message, details);
  }
}

/** Wrong keys a second and address, and how many at once. 160-bit keys need no more; this keeps the noise down. */
const FAILURES_PER_SECOND = 10;
const FAILURES_BURST = 100;

/**
 * Decides whether a caller may come in now. Each credential has one bucket for its calls and one for its
 * heartbeats, so that a limit never makes leases lapse. Credentials that turn out wrong are counted by client
 * address; one wrong key that keeps coming is counted on its own, so that it locks out nobody beside it, and keys
 * known to be good never suffer from their neighbours' wrong ones. Memory is bounded: the longest unseen is
 * forgotten.
 */
export class Admission {
  readonly #visitors: RecentMap<Visitor>;
  readonly #failures: RecentMap<TokenBucket>;
  /** Gone with the connection, as the credential is that stands in its requests. */
  readonly #lastOn = new WeakMap<Connection, { credential: Credential; visitor: Visitor }>();

  constructor(
    readonly settings: Pick<HttpSettings, "rateLimitPerSecond" | "rateBurst">,
    readonly now: () => number = () => performance.now(),
    capacity = 10_000,
  ) {
    this.#visitors = new RecentMap(capacity);
    this.#failures = new RecentMap(capacity);
  }

  /**
   * Lets the caller in and remembers it, or throws `rate_limited`. Where only the body tells what the call counts as, it
   * comes in while either limit has room, and is counted (`count`) by whoever has read it.
   */
  enter(credential: Credential, connection: Connection, counts: "call" | "heartbeat" | "by body"): Visitor {
    const visitor = this.#seenOn(connection, credential) ?? this.#find(credential, connection);
    if (counts !== "by body") this.count(visitor, counts);
    else {
      const nowMs = this.now();
      this.#refuseAfter(Math.min(visitor.calls.waitMs(nowMs), visitor.heartbeats.waitMs(nowMs)), visitor);
    }
    return visitor;
  }

  /** Counts a call, or throws `rate_limited`. */
  count(visitor: Visitor, as: "call" | "heartbeat"): void {
    this.#refuseAfter((as === "heartbeat" ? visitor.heartbeats : visitor.calls).takeMs(this.now()), visitor);
  }

  #refuseAfter(waitMs: number, visitor: Visitor): void {
    if (waitMs > 0) throw visitor.standing === "bad" ? tooManyFailures(waitMs) : this.#tooManyCalls(waitMs);
  }

  /** Who called last on this connection, if it is the same and in good standing: spares the hash. */
  #seenOn(connection: Connection, credential: Credential): Visitor | undefined {
    const last = this.#lastOn.get(connection);
    if (last === undefined || last.visitor.standing !== "good" || last.credential.kind !== credential.kind) return;
    return secretOf(last.credential) === secretOf(credential) ? last.visitor : undefined;
  }

  #find(credential: Credential, connection: Connection): Visitor {
    const name = credential.kind + hash("sha256", secretOf(credential), "base64");
    const known = this.#visitors.get(name);
    if (known === undefined || known.standing === "unknown") this.check(connection);
    const visitor = known ?? this.#visitors.add(name, this.#newcomer());
    this.#lastOn.set(connection, { credential, visitor });
    return visitor;
  }

  /** The store knew the credential. */
  accepted(visitor: Visitor): void {
    if (visitor.standing === "good") return;
    if (visitor.standing === "bad") Object.assign(visitor, this.#newcomer());
    visitor.standing = "good";
  }

  /** The store did not know the credential (any more). */
  rejected(visitor: Visitor, connection: Connection): void {
    if (visitor.standing === "bad") return;
    visitor.standing = "bad";
    visitor.calls = visitor.heartbeats = new TokenBucket(FAILURES_PER_SECOND, FAILURES_BURST, this.now());
    this.failed(connection);
  }

  /** Throws `rate_limited` while too many unknown credentials came from the connection's address. */
  check(connection: Connection): void {
    const waitMs = this.#failures.get(addressOf(connection))?.waitMs(this.now()) ?? 0;
    if (waitMs > 0) throw tooManyFailures(waitMs);
  }

  /** Counts a wrong credential (or sign-in code) against the address. */
  failed(connection: Connection): void {
    const address = addressOf(connection);
    const nowMs = this.now();
    const bucket =
      this.#failures.get(address) ??
      this.#failures.add(address, new TokenBucket(FAILURES_PER_SECOND, FAILURES_BURST, nowMs));
    bucket.takeMs(nowMs);
  }

  #newcomer(): Visitor {
    const nowMs = this.now();
    const { rateLimitPerSecond, rateBurst } = this.settings;
    return {
      standing: "unknown",
      calls: new TokenBucket(rateLimitPerSecond, rateBurst, nowMs),
      heartbeats: new TokenBucket(rateLimitPerSecond, rateBurst, nowMs),
    };
  }

  #tooManyCalls(waitMs: number): TooMany {
    const { rateLimitPerSecond: limit, rateBurst } = this.settings;
    const seconds = Math.ceil(waitMs / 1000);
    return new TooMany(
      `This key made more than ${limit} calls a second (with bursts of ${rateBurst}). Wait ${seconds} s, or have the server started with a higher DIBS_RATE_LIMIT.`,
      { setting: "DIBS_RATE_LIMIT", limit },
      seconds,
    );
  }
}

function secretOf(credential: Credential): string {
  return credential.kind === "key" ? credential.key : credential.token;
}

function addressOf(connection: Connection): string {
  return connection.remoteAddress ?? "";
}

function tooManyFailures(waitMs: number): TooMany {
  const seconds = Math.ceil(waitMs / 1000);
  return new TooMany(
    `Too many calls from this address with keys or codes that are not valid (${FAILURES_PER_SECOND} a second). Check the key, wait ${seconds} s, then try again.`,
    { setting: "failed_authentications", limit: FAILURES_PER_SECOND },
    seconds,
  );
}

/**
 * A map of at most `capacity` entries that forgets what was unseen for longest, by halves: what is looked up moves
 * to the young half, and when that is full the old one is dropped. Looking up the same entry again changes nothing.
 */
class RecentMap<V> {
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(readonly capacity: number) {}

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    return old === undefined ? undefined : this.add(key, old);
  }

  add(key: string, value: V): V {
    if (this.#young.size >= this.capacity / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
    return value;
  }
}
