import type { ScopeKey } from "../../contract/scope.js";
import type { TaskRow } from "./rows.js";
import type { DeclaredRow, Near } from "./scope-rows.js";
import type { Awaitable, Page, QueueFilter } from "./verbs.js";

/** A freeze, as it is kept. */
export interface StoredHold {
  readonly seq: number;
  readonly id: string;
  readonly workspace_id: string;
  readonly project_id: string;
  /** Whose names the scope is one of; null, with the scope and its key, where the whole project is frozen. */
  readonly namespace: string | null;
  readonly scope: string | null;
  readonly key: ScopeKey | null;
  readonly reason: string;
  /** Ids of the agents that it lets pass, as JSON. */
  readonly allow: string;
  readonly placed_by: string;
  readonly placed_at: number;
  readonly expires_at: number;
  readonly ended_at: number | null;
  readonly ended_how: "lifted" | "expired" | null;
}

/** The same with the name of who placed it. */
export interface HoldRow extends StoredHold {
  readonly agent_name: string;
}

export interface HoldVerbs {
  insert(row: Omit<StoredHold, "seq">): Awaitable<void>;
  byId(workspaceId: string, id: string): Awaitable<HoldRow | undefined>;
  /** Those that nobody has recorded the end of, oldest first. */
  unended(workspaceId: string): Awaitable<HoldRow[]>;
  /** Live at the time, or over at the time, in the order they were placed; of one project, or with null of all. */
  list(
    workspaceId: string,
    filter: { readonly projectId: string | null; readonly ended: boolean; readonly nowMs: number },
    page: Page,
  ): Awaitable<HoldRow[]>;
  /** Unless its end is recorded already, checked in the statement itself. */
  end(seq: number, at: number, how: "lifted" | "expired"): Awaitable<boolean>;
  /** In all workspaces: the clock has ended them and nobody recorded it. */
  due(nowMs: number, limit: number): Awaitable<HoldRow[]>;
  /** What tasks that aren't closed declare that may overlap. */
  declaredNear(namespace: string, near: Near): Awaitable<DeclaredRow[]>;
  /** Lets all ready tasks of the project sleep behind the hold, until that time at the latest. */
  parkProject(projectId: string, holdSeq: number, untilMs: number): Awaitable<void>;
  /** The same for these tasks. */
  park(taskSeqs: readonly number[], holdSeq: number, untilMs: number): Awaitable<void>;
  /**
   * Brings the first task of the filter, in hand-out order and in front of `before`, that sleeps behind one of these holds
   * back into the queue; false where there is none.
   */
  wakeFirst(filter: QueueFilter, holdSeqs: readonly number[], before: TaskRow | undefined): Awaitable<boolean>;
}

/** Claims of names have the numbers below, who waits in line those below zero. */
const HOLDS_FROM = 2 ** 52;

/** What a task that sleeps behind a hold has as `parked_by`. */
export const behindHold = ({ seq }: Pick<StoredHold, "seq">): number => HOLDS_FROM + seq;
export const isBehindHold = (parkedBy: number): boolean => parkedBy > HOLDS_FROM;
