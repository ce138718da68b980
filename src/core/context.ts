import type { z } from "zod";
import type { DibsError } from "../contract/errors.js";
import type { Role } from "../contract/operation.js";
import type { Operations } from "../contract/operations.js";
import type { Settings } from "../contract/workspace.js";
import type { Prefetched } from "./engine/prefetch.js";
import type { ClaimsMade, QueueHeads } from "./engine/read-ahead.js";
import type { Hold } from "./holds/known-holds.js";
import type { AgentRow, ProjectRow, SessionRow, TaskRow } from "./port/rows.js";
import type { ScopeClaimRow } from "./port/scope-rows.js";
import type { Tx } from "./port/store.js";

/** Everything a handler may use: the transaction, who asks, and what the call changes for others. */
export interface Context {
  readonly tx: Tx;
  readonly nowMs: number;
  readonly workspaceId: string;
  readonly settings: Settings;
  readonly agent: AgentRow;
  /** What the agent may do here; on the bare file the file's permission is the right (R45). */
  readonly role: Role;
  /** The session the call names, or the agent's implicit one if it has one open; null else, until `holder` opens it. */
  readonly session: SessionRow | null;
  /** The version the record must still have. */
  readonly ifVersion: number | undefined;
  /** How many notices wait for the session: the caller's, or another of its agent's. */
  noticeCount(session: SessionRow | null): Promise<number>;
  /** The session that holds: as `session`, but an implicit one is opened where there is none (R13). */
  holder(): Promise<SessionRow>;
  /** The head of the queue, read ahead for all claims of this transaction. */
  readonly heads: QueueHeads;
  /** How many claims agents have at most, so that most claims need not count. */
  readonly claimsMade: ClaimsMade;
  /** Whether more tasks are due by the clock than were woken in this transaction. */
  readonly due: { more: boolean };
  /** What was read for all calls of this transaction together. */
  readonly prefetched: Prefetched;
  /** A project of the caller's workspace, by id or key. */
  project(idOrKey: string): Promise<ProjectRow | undefined>;
  /** The workspace's live holds, whomever they let pass, oldest first. */
  holds(): Promise<readonly Hold[]>;
  /** Claims of names that the call's looks found ended by the clock and not on record, by seq (leases/scope-leases.ts). */
  readonly dead: Map<number, ScopeClaimRow>;
  /** False in a read beside writes: what looks dead there may be renewed by one that began before and commits after. */
  readonly settled: boolean;
  /** Whether the call may still ask again. */
  readonly patient: boolean;
  /** Something became claimable: waiting calls look again after the commit. */
  woke(): void;
}

/** What a handler answers. */
export interface Reply {
  readonly body: unknown;
  /** It has the operation's other status, for the reason that stands there. */
  readonly otherwise?: true;
  readonly nextCursor?: string;
  /** A refusal that keeps what the handler wrote (a late result, a refused write's event). */
  readonly refusal?: DibsError;
  /** No task now: when the clock alone may change that, ms; null when it can't. The call may wait for it. */
  readonly emptyUntilMs?: number | null;
  /** Tasks granted by this call, to be undone if the answer can't be delivered. */
  readonly granted?: readonly TaskRow[];
  /** Ids of claims of names that this call made or renewed: a repeat reads them anew. */
  readonly scopes?: readonly string[];
  /** The handoff that this call accepted: a repeat reads anew what it gave. */
  readonly handoff?: string;
  /** The ticket that this call is about: a repeat reads anew what it was granted. */
  readonly wait?: string;
  /** What this heartbeat kept alive, as a repeat finds it: that renews nothing, and says what is over by then. */
  readonly beat?: Beat;
  /** Tasks this claim found held by its own session: a repeat reads them anew, as it does the granted ones. */
  readonly renewed?: readonly TaskRow[];
}

/** A heartbeat of a task under a lease, of a session, or of claims, with what it answered of each. */
export type Beat =
  | { readonly taskId: string; readonly leaseId: string }
  | { readonly sessionId: string }
  | { readonly items: readonly z.output<Operations["heartbeat_scopes"]["output"]>["items"][number][] };

/** Thrown by a handler that has written nothing: another node is about to give work out, or back. */
export class AskAgain extends Error {}

/** Thrown by a read that is not settled, of a task whose lease looks dead: to be asked again behind the writes. */
export class LooksDead extends Error {}

export type Handler<I> = (context: Context, input: I) => Promise<Reply>;
