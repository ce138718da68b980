import type { BlockerRow, DependentRow, LinkedRow, TaskRow } from "./rows.js";
import type { Awaitable, Page } from "./verbs.js";

/** Which task waits for which: edges from a task to its blockers, both by sequence number. */
export interface DependencyVerbs {
  /**
   * Holds off whoever else would do the same in the workspace until this transaction ends: look for a cycle and close
   * none, or move what waits for a blocker. Of use only where other nodes write too.
   */
  alone(workspaceId: string, work: "graph" | "readiness"): Awaitable<void>;
  /** The workspace's tasks of these ids, locked; those that aren't there are left out. */
  named(workspaceId: string, ids: readonly string[]): Awaitable<LinkedRow[]>;
  /** New edges, whose tasks' counts their caller writes; marks the blockers as having dependents. */
  add(edges: readonly (readonly [task: number, blocker: number])[], blockers: readonly LinkedRow[]): Awaitable<void>;
  /** Those of the tasks that the task waits for already. */
  present(taskSeq: number, blockerSeqs: readonly number[]): Awaitable<number[]>;
  remove(taskSeq: number, blockerSeqs: readonly number[]): Awaitable<void>;
  /** Frees everything of one blocker. */
  removeDependents(blockerSeq: number): Awaitable<void>;
  /** At most `limit` blockers of each task, those first that will never be completed, then those that aren't yet. */
  blockersOf(taskSeqs: readonly number[], nowMs: number, limit: number): Awaitable<BlockerRow[]>;
  /** What waits for the blocker or did, oldest first; locked where they are to be moved. */
  dependentsOf(blockerSeq: number, how: { lock: boolean }): Awaitable<DependentRow[]>;
  /** Adds to the counts of many tasks; with `queue` it also says where those stand from now on. */
  move(rows: readonly DependentRow[], by: MoveBy, queue: number | undefined): Awaitable<void>;
  /** Whether one of the tasks is the one meant or waits for it, over any number of others. */
  reaches(fromSeqs: readonly number[], toSeq: number): Awaitable<boolean>;
  /** All edges above the tasks: theirs, their blockers', and so on. */
  edgesAbove(fromSeqs: readonly number[]): Awaitable<{ task_seq: number; blocker_seq: number }[]>;
  /** Ids and titles by sequence number. */
  titles(seqs: readonly number[]): Awaitable<{ seq: number; id: string; content: string }[]>;
  /** One task's blockers, or its dependents, oldest first. */
  list(taskSeq: number, which: "blockers" | "dependents", page: Page): Awaitable<TaskRow[]>;
}

export interface MoveBy {
  readonly open_blockers: number;
  readonly blockers: number;
}
