import { DibsError } from "../../contract/errors.js";
import type { ContextVerbs } from "./context-verbs.js";
import type { DependencyVerbs } from "./dependency-verbs.js";
import type { DumpVerbs } from "./dump-verbs.js";
import type { FamilyVerbs } from "./family-verbs.js";
import type { HandoffVerbs } from "./handoff-verbs.js";
import type { HeadVerbs } from "./head-verbs.js";
import type { HoldVerbs } from "./hold-rows.js";
import type { PlanVerbs } from "./plan-verbs.js";
import type { RecurrenceVerbs } from "./recurrence-verbs.js";
import type { RepositoryVerbs } from "./repository-verbs.js";
import type { ScopeVerbs } from "./scope-rows.js";
import type { SessionVerbs } from "./session-verbs.js";
import type { UnlandedVerbs } from "./unlanded-rows.js";
import type {
  AgentVerbs,
  Awaitable,
  ClaimVerbs,
  EventVerbs,
  LeaseVerbs,
  NoteVerbs,
  TaskVerbs,
  WorkspaceVerbs,
} from "./verbs.js";
import type { FreedName, WaitVerbs } from "./wait-rows.js";

/**
 * The store can't be used now, or was lost while the transaction ran, perhaps after its commit. No call of a batch is at
 * fault, and none may be tried again here: it may have been done.
 */
export class StoreBusy extends DibsError<"store_unavailable"> {}

/** The transaction met another node's and was undone: tried again, it may do as well as any. */
export class StoreConflict extends Error {
  override readonly name = "StoreConflict";
}

/** The port every store implements; an internal seam, not an API. */
export interface Store {
  /**
   * Runs `body` in one transaction and commits; anything thrown rolls all of it back. A write transaction holds
   * off every other writer of the file, and is durable once the promise resolves. Driver faults come out as
   * `store_unavailable` or `storage_full`, a lock that stays for 30 s as `StoreBusy`; `write_if_free` waits a tenth of
   * a second for the lock. A store that several nodes write to throws StoreConflict where the body should run again.
   */
  transaction<T>(mode: TransactionMode, body: (tx: Tx) => Promise<T>, wants?: Wants): Promise<T>;
  /** Whether another process has committed since this was last asked. Cheap: asked every 50 ms while calls wait. */
  changedElsewhere(): Awaitable<boolean>;
  /** Transactions it takes at once. */
  readonly transactionsMax: number;
  /** How often `changedElsewhere` is asked while calls wait, ms. */
  readonly watchEveryMs: number;
  /** Tells other nodes that something became claimable; what they miss of it they find by polling. */
  announce?(): void;
  /** Puts right what it believes of the sizes of its tables, for stores that plan by it; servers ask every few seconds. */
  renewStatistics?(): Promise<void>;
  close(): Awaitable<void>;
}

export type TransactionMode = "read" | "write" | "write_if_free";

/** What a transaction will need, for stores where it is cheaper, or safer, to have it from the beginning. */
export interface Wants {
  /** Tasks it will read by id. */
  readonly taskIds?: readonly string[];
  /** Those of them that may come to hold names, or let go of them. */
  readonly taskIdsWithNames?: readonly string[];
  /** It changes who may do what (agents, keys, sessions, settings): nobody else writes meanwhile. */
  readonly changesIdentities?: boolean;
  /** Reads to be sent with the begin, behind the tasks' locks and before the clock; a store that answers at once has no use for it. */
  ahead?(reads: Pick<Tx, "tasks" | "claims">): Promise<void>;
}

/** One transaction: the clock it decides by, and the verbs, one noun a member. */
export interface Tx {
  /** The deciding clock in ms, read once, after the locks (R2). */
  readonly nowMs: number;
  /** Another number whenever another process may have changed who may do what, or notices. */
  readonly othersVersion: number;
  /** Another number whenever another process may have changed tasks. */
  readonly othersQueueVersion: number;
  /** Whether other nodes may write while this transaction runs. */
  readonly shared: boolean;
  /** False when nothing is due by the clock; else it has to be looked up. */
  readonly mayBeDue: boolean;
  /** Whether there may be a hold that nobody has recorded the end of. */
  readonly frozen: boolean;
  /** Whether unlanded work was declared before the transaction that may not have ended. */
  readonly unlandedKnown: boolean;
  /** Whether any task sleeps because of a claim of a name, or a hold. */
  readonly parked: boolean;
  /** Whether anybody waited for names when it began. */
  readonly waited: boolean;
  /** Rows written so far; a refusal must not have moved it. */
  readonly writes: number;
  readonly workspaces: WorkspaceVerbs;
  readonly agents: AgentVerbs;
  readonly sessions: SessionVerbs;
  readonly tasks: TaskVerbs;
  readonly dependencies: DependencyVerbs;
  readonly families: FamilyVerbs;
  readonly scopes: ScopeVerbs;
  readonly holds: HoldVerbs;
  readonly unlanded: UnlandedVerbs;
  readonly plans: PlanVerbs;
  readonly contexts: ContextVerbs;
  readonly heads: HeadVerbs;
  readonly dump: DumpVerbs;
  readonly leases: LeaseVerbs;
  readonly claims: ClaimVerbs;
  readonly notes: NoteVerbs;
  readonly events: EventVerbs;
  readonly recurrences: RecurrenceVerbs;
  readonly handoffs: HandoffVerbs;
  readonly repositories: RepositoryVerbs;
  readonly waits: WaitVerbs;
  /** Names that became free in this transaction and whose lines nobody has looked at yet (core/line/line.ts). */
  readonly freed: FreedName[];
}
