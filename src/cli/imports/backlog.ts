/** What another tool's backlog holds, in Dibs' terms. `row` is a line of the file, from 1. */
export interface Backlog {
  /** In the order of the file, each with dependencies on other items alone; no cycles. */
  readonly items: readonly BacklogItem[];
  /** Done in the source: not imported, dependencies on them are satisfied. */
  readonly closed: readonly { readonly key: string; readonly row: number }[];
  /** Neither work nor wrong: what the file also holds, each with what it is. */
  readonly skipped: readonly Remark[];
  /** What can't be imported, each with the reason and what to do. */
  readonly bad: readonly BadRow[];
}

export interface BacklogItem {
  /** A plan's step key: the source's own id, or one made of where the item stands. */
  readonly key: string;
  readonly content: string;
  readonly description?: string;
  readonly labels: readonly string[];
  readonly priority: Priority;
  readonly dependsOn: readonly string[];
  readonly dueDate?: string;
  readonly notBefore?: string;
  readonly row: number;
}

/** 4 urgent, 3 high, 2 normal, 1 low. */
export type Priority = 1 | 2 | 3 | 4;
export const NORMAL: Priority = 2;

export interface Remark {
  readonly row: number;
  readonly key?: string;
  readonly message: string;
}

export interface BadRow extends Remark {
  readonly column?: number;
}

export interface ImportOptions {
  /** Which of task-master's tags; its `master`, or the only one, where none is named. */
  readonly tag?: string;
}

/** Where something begins in a file, both from 1. */
export interface Place {
  readonly row: number;
  readonly column?: number;
}

/** What the source has put on ice: still work, but after everything else, and to be filtered. */
export const DEFERRED_LABEL = "deferred";
