import type { Awaitable } from "./verbs.js";

/** One kind of record as the store keeps it; what an export says of it. */
export interface Table {
  readonly name: string;
  /** Columns that order its rows, the same on every store; by the first, when it is a number, they are read in parts. */
  readonly order: readonly [first: string, ...others: string[]];
  readonly parts: boolean;
}

/** Everything that is the store's state, in an order in which it can be written: what is referred to comes first. */
export const TABLES: readonly Table[] = [
  { name: "workspaces", order: ["id"], parts: false },
  { name: "projects", order: ["seq"], parts: true },
  { name: "repositories", order: ["seq"], parts: true },
  { name: "agents", order: ["seq"], parts: true },
  { name: "keys", order: ["id"], parts: false },
  { name: "sessions", order: ["seq"], parts: true },
  { name: "recurrences", order: ["seq"], parts: true },
  { name: "branch_heads", order: ["seq"], parts: true },
  { name: "tasks", order: ["seq"], parts: true },
  { name: "task_texts", order: ["seq"], parts: true },
  { name: "task_labels", order: ["seq", "label"], parts: true },
  { name: "dependencies", order: ["task_seq", "blocker_seq"], parts: true },
  { name: "plans", order: ["seq"], parts: true },
  { name: "plan_steps", order: ["plan_seq", "key"], parts: true },
  { name: "context_versions", order: ["seq"], parts: true },
  { name: "task_scopes", order: ["task_seq", "place"], parts: true },
  { name: "scope_claims", order: ["seq"], parts: true },
  { name: "scope_capacities", order: ["seq"], parts: true },
  { name: "handoffs", order: ["seq"], parts: true },
  { name: "holds", order: ["seq"], parts: true },
  { name: "unlanded", order: ["seq"], parts: true },
  { name: "unlanded_scopes", order: ["unlanded_seq", "place"], parts: true },
  { name: "waits", order: ["seq"], parts: true },
  { name: "wait_scopes", order: ["wait_seq", "place"], parts: true },
  { name: "yields", order: ["seq"], parts: true },
  { name: "scope_fences", order: ["namespace"], parts: false },
  { name: "comments", order: ["seq"], parts: true },
  { name: "links", order: ["seq"], parts: true },
  { name: "notices", order: ["seq"], parts: true },
  { name: "remembered", order: ["at", "scope"], parts: true },
  { name: "events", order: ["id"], parts: true },
];

/** What stays behind: the page's sign-ins, and what a store says of itself (its clock, its nodes, its schema). */
export const NOT_EXPORTED: readonly string[] = ["secrets", "duties", "clock", "versions", "dibs_schema"];

export type StoredRow = Readonly<Record<string, string | number | null>>;

/** The store's state as records, whatever they mean: for moving it. Nothing else writes past the rules. */
export interface DumpVerbs {
  columns(table: Table): Awaitable<string[]>;
  /** Rows behind `after` in the first column of the order, some hundreds; all where the table isn't read in parts. */
  rows(table: Table, after: number): Awaitable<StoredRow[]>;
  /** Rows that have the same columns. */
  insert(table: Table, rows: readonly StoredRow[]): Awaitable<void>;
  /** Whether there is nothing but what every store is opened with: a workspace and its project. */
  isUnused(): Awaitable<boolean>;
  /** Drops that. */
  clearUnused(): Awaitable<void>;
  /** What comes next gets numbers above those that were inserted, and the clock never goes behind `lastMs`. */
  goOnBehind(lastMs: number): Awaitable<void>;
}
