import type { TaskRow } from "./rows.js";
import type { Awaitable, Page } from "./verbs.js";

export interface RecurrenceRow {
  seq: number;
  id: string;
  workspace_id: string;
  project_id: string;
  name: string;
  cron: string;
  time_zone: string;
  skip_if_open: number;
  enabled: number;
  /** What the tasks are made of, as JSON; who they are assigned to stands beside, where it can be looked up. */
  template: string;
  /** Agent id, or the empty text. */
  assigned_to: string;
  created_by: string;
  /** Null while it is disabled. */
  next_at: number | null;
  last_at: number | null;
  last_task_id: string | null;
  created_at: number;
  updated_at: number;
  version: number;
}

export interface RecurrenceVerbs {
  insert(row: Omit<RecurrenceRow, "seq">): Awaitable<void>;
  byId(workspaceId: string, id: string): Awaitable<RecurrenceRow | undefined>;
  byName(projectId: string, name: string): Awaitable<RecurrenceRow | undefined>;
  /** Oldest first; of one project, or with null of all. */
  list(workspaceId: string, projectId: string | null, page: Page): Awaitable<RecurrenceRow[]>;
  assignedTo(workspaceId: string, agentId: string): Awaitable<RecurrenceRow[]>;
  /** Whose next tick has come, oldest first. */
  due(nowMs: number, limit: number): Awaitable<RecurrenceRow[]>;
  /** Only while its next tick is the one that was read, checked in the statement itself; false when it isn't. */
  change(row: RecurrenceRow, change: RecurrenceChange): Awaitable<boolean>;
  remove(row: RecurrenceRow): Awaitable<void>;
  /** Whether there is a task of that tick. */
  hasTask(id: string, tickMs: number): Awaitable<boolean>;
  /** Tasks it made that aren't written down as closed, newest first; not locked. */
  unclosed(id: string, beforeSeq: number, limit: number): Awaitable<TaskRow[]>;
}

export type RecurrenceChange = Partial<
  Omit<RecurrenceRow, "seq" | "id" | "workspace_id" | "project_id" | "created_by" | "created_at">
>;
