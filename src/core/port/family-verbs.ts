import type { TaskRow } from "./rows.js";
import type { Awaitable } from "./verbs.js";

/** Where a task stands in the tree of those that are parts of others. */
export interface MemberRow {
  readonly seq: number;
  /** 0: the root. */
  readonly depth: number;
  /** 1: its parent waits for it. */
  readonly delegated: number;
}

export interface FamilyVerbs {
  /** Id of the task's ancestor that is a part of none; its own where it is. */
  root(id: string): Awaitable<string>;
  /** At most `limit` tasks of the tree, those nearest to the root first. */
  members(rootId: string, limit: number): Awaitable<MemberRow[]>;
  /** Tasks by sequence number, oldest first. */
  rows(seqs: readonly number[]): Awaitable<TaskRow[]>;
}
