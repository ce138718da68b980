import type { Caller } from "../contract/operation.js";

/**
 * Who calls the tools, and what is remembered of it from one call to the next: nothing over HTTP, a session and its
 * leases in a bridge that lives as long as its agent.
 */
export interface Seat {
  readonly identity: Caller["identity"];
  /** Whether a call without a session belongs to one that the key has anyway (R13). */
  readonly implicit: boolean;
  /**
   * Aborts when whoever asked has gone without the answer; never after it was delivered, because a claim that reached
   * nobody is taken back. Without it the protocol's own signal says so.
   */
  readonly gone?: AbortSignal;
  /**
   * The session of a call that names none; `undefined` is the key's own. `open` says that the call needs one.
   * @throws DibsError when a session had to be opened and couldn't be.
   */
  session(open: boolean): Promise<string | undefined>;
  /** The lease of a task claimed from this seat, so that a holder's write is checked against its grant. */
  leaseOf?(taskId: unknown, sessionId: string | undefined): string | undefined;
  /** Told of each task claimed. */
  claimed?(taskId: string, leaseId: string, sessionId: string | undefined): void;
  /** Told that a session has ended. */
  ended?(sessionId: string | undefined): void;
}
