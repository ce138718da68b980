import type { ScopeKey } from "../../contract/scope.js";
import type { TaskRow } from "./rows.js";
import type { Awaitable, Page, QueueFilter } from "./verbs.js";

export type ScopeMode = "exclusive" | "shared";

/** A lease on a name, as it is kept. */
export interface StoredScopeClaim {
  readonly seq: number;
  /** Names this one grant. */
  readonly id: string;
  readonly workspace_id: string;
  readonly project_id: string;
  /** The project, or the workspace for kinds that its projects share. */
  readonly namespace: string;
  /** As given; for people. */
  readonly scope: string;
  readonly kind: string;
  readonly key: ScopeKey;
  /** Where it is found by what may overlap it. */
  readonly index_key: ScopeKey;
  readonly mode: ScopeMode;
  /** The task whose lease it lives by, and that lease; null for one of its own. */
  readonly task_id: string | null;
  readonly task_lease: string | null;
  readonly holder_agent: string;
  readonly holder_session: string;
  readonly intent: string;
  /** How often its session claimed it; it is free when it was released as often. */
  readonly nested: number;
  /** How often it changed hands since its holder claimed it, or reported progress (R39). */
  readonly hops: number;
  readonly fence: number;
  readonly claimed_at: number;
  readonly lease_seconds: number | null;
  readonly lease_until: number | null;
  readonly ended_at: number | null;
  readonly ended_how: ScopeEnd | null;
}

/** How a claim ended, in the words of `lease_lost`. */
export type ScopeEnd = "expired" | "released" | "revoked" | "transferred";

/** The same with what it lives by, and what the claims table shows of its holder. */
export interface ScopeClaimRow extends StoredScopeClaim {
  /** The end of the lease it lives by: its own, or its task's; 0 where its task is held no more under that lease. */
  readonly until: number;
  readonly session_expires_at: number | null;
  readonly agent_name: string;
  readonly implicit: number;
  readonly client: string | null;
  readonly branch: string | null;
}

/** A claim just granted: what its place in the store is, nobody needs to know. */
export type GrantedScope = Omit<ScopeClaimRow, "seq">;

/** Where in the index all stands that may overlap a name: at one of these keys, or from one key up to another. */
export interface Near {
  readonly at: readonly string[];
  readonly from: string;
  readonly below: string;
}

/** What a task declares, where it is found by its name. */
export interface DeclaredRow {
  readonly task_seq: number;
  readonly place: number;
  readonly namespace: string;
  readonly scope: string;
  readonly kind: string;
  readonly key: ScopeKey;
  readonly index_key: ScopeKey;
  readonly mode: ScopeMode;
}

/** The same with what decides when the task has its turn. */
export interface DeclaringRow extends DeclaredRow {
  readonly priority: number;
  readonly passed_since: number | null;
}

/** A name that several may hold at once, each for itself. */
export interface CapacityRow {
  readonly workspace_id: string;
  readonly project_id: string;
  readonly namespace: string;
  readonly scope: string;
  readonly kind: string;
  readonly key: ScopeKey;
  /** 1 is no more than any name has. */
  readonly capacity: number;
}

export interface ScopeFilter {
  readonly agentId?: string;
  readonly sessionId?: string;
  readonly projectId?: string;
  readonly kind?: string;
  /** What stands at these places of the index, in a namespace. */
  readonly near?: Near & { readonly namespace: string };
}

/** Reading what is held of names. */
export interface ScopeVerbs {
  /**
   * Holds off whoever else would grant names of the workspace, or get into line for them, until this transaction ends; of use
   * only where nodes write at once. One lock, not one a project: those who met two of them in turn waited for each other,
   * a second each time.
   *
   * Taken before rows are locked: names, then tasks, then sessions, then claims. Whoever ends a claim holds the names and
   * locks the tasks that sleep behind it; of 60 releases beside claims of such tasks 56 met in a deadlock of a second, while
   * a claim took its task first.
   */
  alone(workspaceId: string): Awaitable<void>;
  /** The same for the workspaces of those of the tasks that declare names. */
  aloneFor(taskIds: readonly string[]): Awaitable<void>;
  /** The same for the first tasks that the clock will wake. */
  aloneForDue(nowMs: number, limit: number): Awaitable<void>;
  /**
   * Waits for whoever is renewing one of these, its task or its session: what looks dead is to be read again behind it. Of
   * use only where nodes write at once.
   */
  settle(rows: readonly ScopeClaimRow[]): Awaitable<void>;
  /** These as they are now, locked until the transaction ends. */
  locked(seqs: readonly number[]): Awaitable<ScopeClaimRow[]>;
  /** Whether names of the project are held, waited for, frozen, given places, or declared: by tasks that aren't closed or for unlanded work. */
  inUse(projectId: string): Awaitable<boolean>;
  /** Claims that nobody has recorded the end of and that may overlap, in order of their grants. */
  near(namespace: string, near: Near): Awaitable<ScopeClaimRow[]>;
  /** The same of any of several names, each claim once. */
  nearAny(namespace: string, near: readonly Near[]): Awaitable<ScopeClaimRow[]>;
  /** Live or ended ones, newest first, that may have overlapped. */
  past(namespace: string, near: Near, page: Page): Awaitable<ScopeClaimRow[]>;
  byIds(workspaceId: string, ids: readonly string[]): Awaitable<ScopeClaimRow[]>;
  bySeqs(seqs: readonly number[]): Awaitable<ScopeClaimRow[]>;
  /** Those of a session's own that nobody has recorded the end of. */
  ofSession(sessionId: string): Awaitable<ScopeClaimRow[]>;
  /** All that the sessions hold, with their tasks' too, that nobody has recorded the end of. */
  heldBySessions(sessionIds: readonly string[]): Awaitable<ScopeClaimRow[]>;
  ofAgent(agentId: string): Awaitable<ScopeClaimRow[]>;
  /** In all workspaces, those with a lease of their own that nobody has recorded the end of. */
  all(limit: number): Awaitable<ScopeClaimRow[]>;
  ofTask(task: TaskRow): Awaitable<ScopeClaimRow[]>;
  /** The last one of the session's under that key that has ended. */
  lastEnded(sessionId: string, namespace: string, key: string): Awaitable<ScopeClaimRow | undefined>;
  /** Those of the names that have more than one place. */
  capacities(names: readonly Pick<CapacityRow, "namespace" | "key">[]): Awaitable<CapacityRow[]>;
  setCapacity(row: CapacityRow): Awaitable<void>;
  /** Oldest first; of one project with what the workspace's projects share, or with null of all. */
  listCapacities(
    workspaceId: string,
    projectId: string | null,
    page: Page,
  ): Awaitable<(CapacityRow & { readonly seq: number })[]>;
  /** Those of the kinds of whose names the same is true, or that tasks declare which are closed. */
  kindsInUse(workspaceId: string, kinds: readonly string[]): Awaitable<string[]>;
  /** What is held now, in order of the grants. */
  list(workspaceId: string, filter: ScopeFilter, nowMs: number, page: Page): Awaitable<ScopeClaimRow[]>;
  /** Those whose own lease the clock has ended and nobody recorded. */
  due(nowMs: number, limit: number): Awaitable<ScopeClaimRow[]>;
  /** The task declares these from now on. */
  declare(taskSeq: number, rows: readonly DeclaredRow[]): Awaitable<void>;
  /** What tasks in the queue declare that may overlap; of those that nobody else has in hand. */
  declaredNear(namespace: string, near: Near): Awaitable<DeclaringRow[]>;
  /**
   * Lets ready tasks sleep until the claim (of a negative number: the ticket) has ended, or until that time at the latest;
   * false where it has ended already.
   */
  park(
    taskSeqs: readonly number[],
    holderSeq: number,
    at: { readonly nowMs: number; readonly untilMs: number; readonly patienceMs: number },
  ): Awaitable<boolean>;
  /** Wakes what sleeps because of claims that the task had. */
  unparkBehind(taskId: string): Awaitable<number>;
  /** Wakes what sleeps because of these claims; how many tasks. */
  unpark(claimSeqs: readonly number[]): Awaitable<number>;
  /** Tasks of the filter that sleep so, in front of `before`: the first in hand-out order, and how many up to `counted`. */
  passedOver(
    filter: QueueFilter,
    before: TaskRow | undefined,
    most: { readonly shown: number; readonly counted: number },
  ): Awaitable<{ readonly rows: readonly PassedOver[]; readonly count: number }>;
}

export interface PassedOver {
  readonly id: string;
  readonly content: string;
  readonly parked_by: number;
}

/** What a renewal changes. */
export type ScopeRenewal = Pick<
  StoredScopeClaim,
  "mode" | "nested" | "hops" | "intent" | "fence" | "lease_seconds" | "lease_until"
>;

/** Part of the leases' port (R44): what is written is core's; the store checks in the statement what must still hold. */
export interface ScopeLeaseVerbs {
  /** Draws so many fences of the namespace, and returns the last. */
  drawScopeFences(namespace: string, count: number): Awaitable<number>;
  grantScope(row: Omit<StoredScopeClaim, "seq">): Awaitable<void>;
  /** Only while it lives. */
  renewScope(row: StoredScopeClaim, nowMs: number, becomes: ScopeRenewal): Awaitable<boolean>;
  /** All that lives by the lease of a task. */
  endScopesOf(taskId: string, at: number, how: ScopeEnd): Awaitable<void>;
  /** Those that have not ended yet; how many that were. */
  endScopes(seqs: readonly number[], at: number, how: ScopeEnd): Awaitable<number>;
}
