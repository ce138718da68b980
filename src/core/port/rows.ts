import type { Role } from "../../contract/operation.js";
import type { TaskStatus } from "../../contract/task.js";
import type { Settings } from "../../contract/workspace.js";

/** Records as the stores keep them: names as on the wire, times in integer ms, JSON as text. */

export interface WorkspaceRow {
  id: string;
  name: string;
  settings: Settings;
  created_at: number;
}

export interface ProjectRow {
  seq: number;
  id: string;
  workspace_id: string;
  key: string;
  name: string;
  case_insensitive: number;
  created_at: number;
}

export interface AgentRow {
  seq: number;
  id: string;
  workspace_id: string;
  name: string;
  role: Role;
  display_name: string | null;
  description: string | null;
  created_at: number;
  deleted_at: number | null;
}

export interface KeyRow {
  /** The public part. */
  id: string;
  hash: string;
  agent_id: string;
  created_at: number;
  /** The instant it stops working; null while it has none. */
  ends_at: number | null;
}

export interface SessionRow {
  seq: number;
  id: string;
  workspace_id: string;
  agent_id: string;
  agent_name: string;
  project_id: string | null;
  state: "open" | "ended" | "expired";
  implicit: number;
  client: string | null;
  harness_id: string | null;
  host: string | null;
  cwd: string | null;
  branch: string | null;
  worktree: string | null;
  ttl_seconds: number | null;
  started_at: number;
  seen_at: number;
  /** Null for implicit sessions, which never die of silence. Never later than the parent's (core/agents/session-life.ts). */
  expires_at: number | null;
  ended_at: number | null;
  parent_session_id: string | null;
  share_with_children: number;
  /** The parent, if it shares what it holds, and so on upward, with spaces between (core/sharing.ts); read with the row. */
  shared_by: string | null;
  /** What resumes it, hashed. */
  resume_hash: string | null;
  findings: string | null;
}

/** A session as it is written. */
export type NewSessionRow = Omit<SessionRow, "seq" | "agent_name" | "shared_by">;

export const QUEUE = {
  /** In the queue, ready as far as the clock is concerned. */
  ready: 1,
  /** Becomes ready by the clock alone, at `wakes_at`. */
  sleeping: 2,
  /** Open, and waits for other tasks; what completes the last of them moves it. */
  blocked: 3,
} as const;

export interface TaskRow {
  seq: number;
  id: string;
  workspace_id: string;
  project_id: string;
  priority: number;
  status: TaskStatus;
  /** Where it stands in the queue (QUEUE); null when it is not in it. */
  queue: number | null;
  wakes_at: number | null;
  /** Agent id, or the empty text for nobody: the queue's index needs a value. */
  assigned_to: string;
  created_by: string;
  attempts: number;
  max_attempts: number;
  version: number;
  created_at: number;
  updated_at: number;
  closed_at: number | null;
  closed_by: string | null;
  not_before: number | null;
  due_date: number | null;
  /** The recurrence that made it, and the tick it was made for. */
  recurrence_id: string | null;
  tick_at: number | null;
  cancel_requested: number;
  /** Tasks it depends on. */
  blockers: number;
  /** Those of them that aren't completed. */
  open_blockers: number;
  /** 1 when other tasks may depend on it; stays 1 when none does any more. */
  has_dependents: number;
  /** The slug of its plan in its project. */
  plan: string | null;
  /** Id of the task it is a part of. */
  parent_id: string | null;
  /** Agent id: who answers for it, and goes on with it when what was delegated of it is done. */
  accountable: string | null;
  /** 1 from the first time that a part of it was delegated. */
  delegated: number;
  requires_verdict: number;
  /** As it was last written; `contextVersionOf` knows of contexts that came with their task. */
  context_version: number;
  /** 1 when it declares scopes, or some are claimed for it. */
  scoped: number;
  /**
   * The claim of a name that it met, until which has ended it sleeps, by its sequence number; who waits in line, by
   * its below zero; or a hold (core/port/hold-rows.ts).
   */
  parked_by: number | null;
  /** When it first was passed over because of its scopes, since it was last held; ms. */
  passed_since: number | null;
  state: string | null;
  // The lease: written by the leases' verbs only.
  lease_id: string | null;
  fence: number;
  holder_agent: string | null;
  holder_session: string | null;
  claimed_at: number | null;
  lease_seconds: number | null;
  lease_until: number | null;
  lapsed: number;
  /** How often it changed hands since its holder was granted it from the queue, or reported progress (R39). */
  hops: number;
  // The texts, kept in a table of their own so that renewals stay small.
  content: string;
  description: string | null;
  labels: string;
  context: string | null;
  /** What it declares to touch, as JSON. */
  scopes: string | null;
  state_detail: string | null;
  progress: string | null;
  checkpoint: string | null;
  handoff_note: string | null;
  failure_reason: string | null;
  result: string | null;
  /** JSON: core/tasks/evidence.ts. */
  evidence: string | null;
  verdict: string | null;
  cancel_reason: string | null;
  /** The end of the holding session, which ends the lease too (R1). */
  session_expires_at: number | null;
}

/**
 * The row with some columns changed. Copying and assigning keeps one hidden class for all rows; a literal that spreads a
 * row and names columns after it makes V8 build a new one each time, 10 µs a row.
 */
export function withChange(row: TaskRow, change: Partial<TaskRow>): TaskRow {
  return Object.assign({ ...row }, change);
}

export type NewTaskRow = Pick<
  TaskRow,
  | "id"
  | "workspace_id"
  | "project_id"
  | "priority"
  | "queue"
  | "wakes_at"
  | "assigned_to"
  | "created_by"
  | "max_attempts"
  | "created_at"
  | "not_before"
  | "due_date"
  | "blockers"
  | "open_blockers"
  | "has_dependents"
  | "plan"
  | "parent_id"
  | "accountable"
  | "content"
  | "description"
  | "labels"
  | "context"
  | "scoped"
  | "scopes"
> &
  Partial<Pick<TaskRow, "recurrence_id" | "tick_at" | "requires_verdict">>;

/** What tells a task's state at an instant. */
export type StateColumns = Pick<
  TaskRow,
  | "status"
  | "not_before"
  | "open_blockers"
  | "delegated"
  | "cancel_requested"
  | "attempts"
  | "max_attempts"
  | "lease_until"
  | "lapsed"
  | "session_expires_at"
>;

/** A task as one that others depend on, or that depends on others. */
export type LinkedRow = StateColumns &
  Pick<TaskRow, "seq" | "id" | "workspace_id" | "project_id" | "blockers" | "has_dependents" | "holder_session">;

/** A blocker of the task `task_seq`. */
export type BlockerRow = LinkedRow & { readonly task_seq: number };

/** A task that waits for another, with what moving it takes. */
export type DependentRow = Pick<
  TaskRow,
  | "seq"
  | "id"
  | "workspace_id"
  | "project_id"
  | "status"
  | "queue"
  | "not_before"
  | "blockers"
  | "open_blockers"
  | "holder_session"
  | "passed_since"
>;

export interface ClaimRecord {
  seq: number;
  task_id: string;
  project_id: string;
  content: string;
  agent_id: string;
  agent_name: string;
  session_id: string;
  implicit: number;
  client: string | null;
  branch: string | null;
  fence: number;
  lease_id: string;
  claimed_at: number;
  lease_until: number;
  session_expires_at: number | null;
}

export interface NewEvent {
  workspace_id: string;
  type: string;
  at: number;
  /** Null when the clock acted. */
  agent_id: string | null;
  agent_name: string | null;
  session_id: string | null;
  project_id: string | null;
  task_id: string | null;
  data: string;
}
export interface EventRow extends NewEvent {
  id: number;
}
