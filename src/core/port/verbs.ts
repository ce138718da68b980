import type { Settings } from "../../contract/workspace.js";
import type { CommentRow, LinkRow, NoticeRow, NoticeSubject } from "./note-rows.js";
import type {
  AgentRow,
  ClaimRecord,
  EventRow,
  KeyRow,
  NewEvent,
  NewTaskRow,
  ProjectRow,
  TaskRow,
  WorkspaceRow,
} from "./rows.js";
import type { ScopeLeaseVerbs } from "./scope-rows.js";

/** SQLite answers at once, Postgres later; core awaits both. */
export type Awaitable<T> = T | Promise<T>;

export interface Page {
  readonly limit: number;
  /** Rows after this position of the list's order; null from the start. */
  readonly after: readonly number[] | null;
}

export interface WorkspaceVerbs {
  insert(row: WorkspaceRow): Awaitable<void>;
  byId(id: string): Awaitable<WorkspaceRow | undefined>;
  byName(name: string): Awaitable<WorkspaceRow | undefined>;
  all(): Awaitable<WorkspaceRow[]>;
  update(id: string, change: { name?: string; settings?: Settings }): Awaitable<void>;
  insertProject(row: Omit<ProjectRow, "seq">): Awaitable<void>;
  /** By id or by key. */
  project(workspaceId: string, idOrKey: string): Awaitable<ProjectRow | undefined>;
  projects(workspaceId: string, page: Page): Awaitable<ProjectRow[]>;
  updateProject(id: string, change: Partial<Pick<ProjectRow, "key" | "name" | "case_insensitive">>): Awaitable<void>;
}

export interface AgentVerbs {
  insert(row: Omit<AgentRow, "seq">): Awaitable<void>;
  byId(workspaceId: string, id: string): Awaitable<AgentRow | undefined>;
  /** Of any workspace: for the credential's agent only. */
  byAnyId(id: string): Awaitable<AgentRow | undefined>;
  /** Live agents only; names are unique after case folding. */
  byName(workspaceId: string, name: string): Awaitable<AgentRow | undefined>;
  list(workspaceId: string, page: Page): Awaitable<AgentRow[]>;
  update(
    id: string,
    change: Partial<Pick<AgentRow, "name" | "role" | "display_name" | "description" | "deleted_at">>,
  ): Awaitable<void>;
  insertKey(row: KeyRow): Awaitable<void>;
  /** The key is as the row says from now on, whatever it was. */
  putKey(row: KeyRow): Awaitable<void>;
  keyByHash(hash: string): Awaitable<KeyRow | undefined>;
  /** Keys not revoked and not past their end, oldest first: those that a rotation has given an end before the last. */
  liveKeys(agentId: string, nowMs: number): Awaitable<KeyRow[]>;
  endKey(id: string, endsAtMs: number): Awaitable<void>;
  /** Secrets of the page's sign-in: one-time codes and cookies, by their hash. */
  insertSecret(hash: string, kind: "code" | "cookie", agentId: string, expiresAtMs: number): Awaitable<void>;
  secret(hash: string, kind: "code" | "cookie"): Awaitable<{ agent_id: string; expires_at: number } | undefined>;
  dropSecret(hash: string): Awaitable<void>;
  dropSecretsBefore(nowMs: number): Awaitable<void>;
}

/** How far a claim looks ahead: alone it needs one task, in company as many as are asked for together. */
export const READY_LIMITS = [1, 4, 8, 16, 24, 32, 48, 64] as const;
export type ReadyLimit = (typeof READY_LIMITS)[number];

/** Whose queue a claim looks into. */
export interface QueueFilter {
  readonly workspaceId: string;
  readonly projectId: string | null;
  readonly agentId: string;
  readonly labels: readonly string[];
  /** Of the project, which then is given. */
  readonly plan: string | null;
}

export interface TaskFilter {
  readonly projectId?: string;
  readonly status?: string;
  readonly ready?: boolean;
  /** What isn't ready because it is frozen for who asks. */
  readonly frozen?: { readonly projectIds: readonly string[]; readonly taskSeqs: readonly number[] };
  readonly blocked?: boolean;
  readonly stalled?: boolean;
  readonly lapsed?: boolean;
  readonly claimed?: boolean;
  readonly label?: string;
  readonly plan?: string;
  readonly assignedTo?: string;
  readonly verdict?: "pass" | "fail" | "stale" | "none";
  readonly search?: string;
  readonly sort: "handout" | "created" | "-created";
}

export interface TaskVerbs {
  insert(row: NewTaskRow, labels: readonly string[]): Awaitable<number>;
  byId(workspaceId: string, id: string): Awaitable<TaskRow | undefined>;
  bySeq(seq: number): Awaitable<TaskRow | undefined>;
  list(workspaceId: string, filter: TaskFilter, page: Page, nowMs: number): Awaitable<TaskRow[]>;
  /** Changes columns that are no part of a lease. */
  update(row: TaskRow, change: TaskChange): Awaitable<void>;
  setLabels(row: TaskRow, labels: readonly string[]): Awaitable<void>;
  remove(row: TaskRow): Awaitable<void>;
  /** The row as this transaction left it: a store may answer the next read with it, until anything touches it. */
  keep(row: TaskRow): void;
  /**
   * The first tasks in the queue that are assigned to the agent (empty: to nobody), in hand-out order; those that another
   * node's transaction has locked are left out, or waited for.
   */
  ready(filter: QueueFilter, assignedTo: string, limit: ReadyLimit, wait: boolean): Awaitable<TaskRow[]>;
  /** Where `ready` found nothing: whether there is something after all, which another node's transaction has locked. */
  readyElsewhere(filter: QueueFilter): Awaitable<boolean>;
  /**
   * The best of those that became ready by the clock and were not yet woken, where it comes before `before` in hand-out
   * order; `unknown` when more than a bounded number of tasks would have to be looked at.
   */
  nextLapsed(
    filter: QueueFilter,
    nowMs: number,
    before: { seq: number; priority: number } | undefined,
  ): Awaitable<{ seq: number; priority: number } | "none" | "unknown">;
  /** Tasks whose time to wake has come: dead leases and `not_before`, oldest first. */
  due(nowMs: number, limit: number): Awaitable<TaskRow[]>;
  /** When the clock may next bring the workspace a task: one that wakes, a session's end, a tick; null when it can't. */
  nextWake(workspaceId: string, nowMs: number): Awaitable<number | null>;
  /** Those of the agents to whom ready tasks are assigned. */
  assignees(workspaceId: string, agentIds: readonly string[]): Awaitable<string[]>;
  /** What the sessions hold that ends before a third of its lease's length has passed; not locked. */
  expiring(sessionIds: readonly string[], nowMs: number): Awaitable<TaskRow[]>;
  /** What is not closed and assigned to the agent, oldest first, behind that sequence number. */
  assignedTo(workspaceId: string, agentId: string, afterSeq: number, limit: number): Awaitable<TaskRow[]>;
  heldBySession(agentId: string, sessionId: string): Awaitable<TaskRow[]>;
  heldByAgent(agentId: string): Awaitable<TaskRow[]>;
  /** In all workspaces. */
  heldByAnybody(limit: number): Awaitable<TaskRow[]>;
}

export type TaskChange = Partial<
  Pick<
    TaskRow,
    | "project_id"
    | "priority"
    | "assigned_to"
    | "max_attempts"
    | "version"
    | "updated_at"
    | "not_before"
    | "due_date"
    | "queue"
    | "wakes_at"
    | "status"
    | "closed_at"
    | "closed_by"
    | "blockers"
    | "open_blockers"
    | "accountable"
    | "delegated"
    | "scoped"
    | "scopes"
    | "parked_by"
    | "passed_since"
    | "cancel_requested"
    | "state"
    | "content"
    | "description"
    | "labels"
    | "context"
    | "state_detail"
    | "progress"
    | "checkpoint"
    | "handoff_note"
    | "failure_reason"
    | "result"
    | "cancel_reason"
    | "attempts"
    | "requires_verdict"
    | "context_version"
    | "evidence"
    | "verdict"
  >
>;

/** The columns of a task that are its lease. */
export type LeaseColumns = Pick<
  TaskRow,
  | "lease_id"
  | "fence"
  | "holder_agent"
  | "holder_session"
  | "claimed_at"
  | "lease_seconds"
  | "lease_until"
  | "lapsed"
  | "attempts"
  | "hops"
>;

/** What a task is from now on, with its lease: made by core/leases/leases.ts alone, written as it is. */
export type LeaseChange = TaskChange & Partial<LeaseColumns>;

/**
 * Called by core/leases/leases.ts alone (R44). What is written is the caller's; the store adds what the row must still be, in
 * the statement itself, and answers whether it was.
 */
export interface LeaseVerbs extends ScopeLeaseVerbs {
  /** Unless the task was taken or its fence moved since the row was read. */
  grant(row: TaskRow, becomes: LeaseChange & LeaseColumns): Awaitable<boolean>;
  duty(name: string): Awaitable<Duty | undefined>;
  /** Unless another has it now, checked in the statement itself. */
  takeDuty(name: string, holder: string, untilMs: number, nowMs: number): Awaitable<boolean>;
  /** To another session, and only while the lease lives: in one statement, so that the task is free at no instant (R39). */
  transfer(row: TaskRow, nowMs: number, becomes: LeaseChange & LeaseColumns): Awaitable<boolean>;
  /** Only while the lease lives (R3). */
  renew(row: TaskRow, nowMs: number, becomes: LeaseChange): Awaitable<boolean>;
  /**
   * `live: true` demands that the lease still lives (a holder's own write); `false` that it is still this lease (force,
   * takeover, lapse).
   */
  end(
    row: TaskRow,
    how: { live: boolean; nowMs: number },
    becomes: LeaseChange & { status: TaskRow["status"] },
  ): Awaitable<boolean>;
  /** Adds to the fence of every task there is; returns how many there are. */
  liftFences(by: number): Awaitable<number>;
}

/** Work that one node does at a time: who has it, until when; the fence grows with every other holder. */
export interface Duty {
  readonly name: string;
  readonly holder: string;
  readonly fence: number;
  readonly until_ms: number;
}

/** Reading what is held. */
export interface ClaimVerbs {
  /** Live leases of an agent, counted up to `limit`. */
  countLive(agentId: string, nowMs: number, limit: number): Awaitable<number>;
  /** Live leases of each of the agents that has any. */
  countLiveOf(agentIds: readonly string[], nowMs: number): Awaitable<{ agent_id: string; n: number }[]>;
  /** Everything held now, as the claims table shows it. */
  list(
    workspaceId: string,
    filter: { agentId?: string; sessionId?: string; projectId?: string; taskId?: string },
    nowMs: number,
    page: Page,
  ): Awaitable<ClaimRecord[]>;
}

export interface Remembered {
  readonly scope: string;
  readonly body_hash: string;
  readonly answer: string;
}

export interface NoteVerbs {
  addComment(row: Omit<CommentRow, "seq" | "agent_name">): Awaitable<void>;
  comments(taskSeq: number, page: Page): Awaitable<CommentRow[]>;
  /** Whether a late result was already kept for this lease. */
  hasLateResult(leaseId: string): Awaitable<boolean>;
  addLink(row: Omit<LinkRow, "seq">): Awaitable<void>;
  links(taskSeq: number, page: Page): Awaitable<LinkRow[]>;
  /** Grows with every change of notices through this store: what was counted before it moved is stale. */
  readonly noticeWrites: number;
  addNotice(row: Omit<NoticeRow, "seq">): Awaitable<void>;
  notices(sessionId: string, limit: number): Awaitable<NoticeRow[]>;
  /** Counted up to 100. */
  noticeCount(sessionId: string): Awaitable<number>;
  dropNotices(sessionIds: readonly string[], type: string, about: NoticeSubject): Awaitable<void>;
  ackNotices(sessionId: string, ids: readonly string[]): Awaitable<number>;
  /** The first answer to an idempotency key, if it is young enough. */
  remembered(scope: string, sinceMs: number): Awaitable<Remembered | undefined>;
  /** The same for many. */
  rememberedOf(scopes: readonly string[], sinceMs: number): Awaitable<Remembered[]>;
  remember(scope: string, bodyHash: string, answer: string, nowMs: number): Awaitable<void>;
  forgetBefore(sinceMs: number, limit: number): Awaitable<void>;
}

export interface EventVerbs {
  append(event: NewEvent): Awaitable<void>;
  /** Appends it with an id that is higher by so much than the last one's; the next ones follow it. */
  appendAhead(event: NewEvent, by: number): Awaitable<void>;
  list(
    workspaceId: string,
    filter: {
      types?: readonly string[];
      projectId?: string;
      taskId?: string;
      afterId: number;
      newest: boolean;
      limit: number;
    },
  ): Awaitable<EventRow[]>;
  /** A task's events, newest first, of the given types. */
  lastOf(taskId: string, types: readonly string[], limit: number): Awaitable<EventRow[]>;
}
