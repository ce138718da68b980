import type { Call, Caller } from "../contract/operation.js";
import { operations } from "../contract/operations.js";
import type { Seat } from "./seat.js";

const CLIENT = "mcp";

/**
 * The seat of an agent whose bridge lives as long as it: a session given from outside, or one of its own, opened at
 * the first call that needs it and again after it has died.
 */
export class BridgeSeat implements Seat {
  readonly identity: Caller["identity"];
  readonly implicit = false;
  readonly #call: Call;
  readonly #given: string | undefined;
  #own: string | undefined;
  #opening: Promise<string> | undefined;
  /** The lease of each task that was claimed here and not seen to end. */
  readonly #leases = new Map<unknown, { readonly leaseId: string; readonly sessionId: string | undefined }>();

  constructor(call: Call, identity: Caller["identity"], given: string | undefined) {
    this.#call = call;
    this.identity = identity;
    this.#given = given;
  }

  async session(open: boolean): Promise<string | undefined> {
    const known = this.#given ?? this.#own;
    if (known !== undefined || !open) return known;
    // Calls that come together share one session.
    this.#opening ??= this.#open();
    try {
      return await this.#opening;
    } finally {
      this.#opening = undefined;
    }
  }

  leaseOf(taskId: unknown, sessionId: string | undefined): string | undefined {
    const lease = this.#leases.get(taskId);
    return lease?.sessionId === sessionId ? lease?.leaseId : undefined;
  }

  claimed(taskId: string, leaseId: string, sessionId: string | undefined): void {
    this.#leases.set(taskId, { leaseId, sessionId });
  }

  ended(sessionId: string | undefined): void {
    if (sessionId === this.#own) this.#own = undefined;
    for (const [taskId, lease] of this.#leases) if (lease.sessionId === sessionId) this.#leases.delete(taskId);
  }

  /** A sign of life that renews no lease: the session lasts as long as the bridge, what it holds only while used. */
  async stayAlive(): Promise<void> {
    const sessionId = this.#own;
    if (sessionId === undefined) return;
    const caller = { identity: this.identity, sessionId };
    await this.#call(operations.get_session, { session_id: sessionId }, caller).catch(() => {});
  }

  /** Ends the session that was opened here, and so frees what it holds. Never throws. */
  async leave(): Promise<void> {
    const sessionId = this.#own ?? (await this.#opening?.catch(() => undefined));
    if (sessionId === undefined) return;
    this.ended(sessionId);
    const caller = { identity: this.identity, sessionId };
    await this.#call(operations.end_session, { session_id: sessionId }, caller).catch(() => {});
  }

  async #open(): Promise<string> {
    const opened = await this.#call(operations.open_session, { client: CLIENT }, { identity: this.identity });
    this.#own = opened.body.id;
    return opened.body.id;
  }
}
