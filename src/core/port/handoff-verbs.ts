import type { HandoffState } from "../../contract/handoff.js";
import type { Awaitable, Page } from "./verbs.js";

/** An offer of a lease, as it is kept. */
export interface StoredHandoff {
  readonly seq: number;
  readonly id: string;
  readonly workspace_id: string;
  readonly project_id: string;
  /** What is offered: a task, or a claim of a name. */
  readonly task_id: string | null;
  readonly claim_id: string | null;
  /** The lease that is offered; with any other the offer has ended. */
  readonly lease_id: string;
  readonly from_agent: string;
  readonly from_session: string;
  readonly to_agent: string;
  /** Null where any session of the agent may have it. */
  readonly to_session: string | null;
  readonly note: string | null;
  readonly offered_at: number;
  readonly expires_at: number;
  /** As it was last written; what the clock has ended may still read `offered` here. */
  readonly state: HandoffState;
  readonly ended_at: number | null;
  /** Who accepted it, and the lease that this was granted. */
  readonly by_session: string | null;
  readonly granted_lease: string | null;
  readonly granted_fence: number | null;
}

/** The same with what it lives by. */
export interface HandoffRow extends StoredHandoff {
  readonly from_name: string;
  readonly to_name: string;
  readonly content: string | null;
  readonly scope: string | null;
  readonly intent: string | null;
  /** The end of the lease that is offered; 0 where it is nobody's any more, or is to be cancelled. */
  readonly lease_ends_at: number;
  /** The ends of the sessions; null where silence ends none, 0 where it has ended. */
  readonly giver_ends_at: number | null;
  readonly receiver_ends_at: number | null;
}

export interface HandoffFilter {
  readonly toAgent?: string | undefined;
  readonly fromAgent?: string | undefined;
  /** Both at once where an agent stands at either end. */
  readonly either?: string | undefined;
  readonly projectId?: string | undefined;
  readonly taskId?: string | undefined;
  /** Those that have ended, too. */
  readonly ended: boolean;
}

export type HandoffEnd = Pick<StoredHandoff, "state" | "ended_at"> &
  Partial<Pick<StoredHandoff, "by_session" | "granted_lease" | "granted_fence">>;

export interface HandoffVerbs {
  insert(row: Omit<StoredHandoff, "seq">): Awaitable<void>;
  byId(workspaceId: string, id: string): Awaitable<HandoffRow | undefined>;
  /** The offer of a lease that nobody has recorded the end of. */
  openOf(leaseId: string): Awaitable<HandoffRow | undefined>;
  list(workspaceId: string, filter: HandoffFilter, nowMs: number, page: Page): Awaitable<HandoffRow[]>;
  /** Whose time is over and whose end nobody has recorded, oldest first. */
  due(nowMs: number, limit: number): Awaitable<HandoffRow[]>;
  /** Only while nobody has recorded its end, checked in the statement itself: what is accepted is accepted once. */
  end(row: StoredHandoff, end: HandoffEnd): Awaitable<boolean>;
}
