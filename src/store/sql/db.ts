import type { TaskRow } from "../../core/port/rows.js";
import type { Awaitable } from "../../core/port/verbs.js";
import type { SqlValue } from "../driver.js";

/** Where the dialects differ in words. */
export interface Dialect {
  /** A query of the texts in a JSON array that is bound as one parameter; its column is `text`. */
  readonly textsOf: string;
  /** The same for whole numbers. */
  readonly numbersOf: string;
  /** The same for pairs of whole numbers; its columns are `a` and `b`. */
  readonly pairsOf: string;
  /** Compares without regard to the case of ASCII letters. */
  readonly like: string;
  /** A join whose tables are read in the order they are written, where the planner left to itself takes a worse one. */
  readonly join: string;
  /** The text that a field of the JSON object in a column has; null where it has none. */
  field(column: string, name: string): string;
  /** A query of the columns (`name`) of the table that is bound. */
  readonly columnsOf: string;
  /** A query of the records in a JSON array that is bound, as the table's columns. */
  recordsOf(table: string, columns: readonly string[]): string;
  /** Orders texts by their bytes, whatever the database's language. */
  byBytes(column: string): string;
  /**
   * A join that asks a table anew, by an index, for each row so far. For graphs, and for many ranges: Postgres left to itself
   * walks all edges at each step (a chain of 50,000 took minutes, and 0.4 s like this), and all names for each range.
   */
  readonly perRow: (table: string, alias: string, on: string) => string;
  /** A query after which a column's own numbers go on behind its highest, where an explicit one doesn't do that. */
  goOnBehindLast?(table: string, column: string): string;
  /** Waits for a lock by a text and a number, which is held until the transaction ends; where nodes write at once. */
  lock?: (kind: number, text?: string) => string;
  /** Names the index to use, where the planner left to itself walks too much. */
  indexedBy(index: string): string;
}

/** What a statement further demands of the row it changes: SQL with `:name` for each of its values. */
export interface Guard {
  readonly sql: string;
  readonly values: Readonly<Record<string, SqlValue>>;
}

export type TaskTable = "tasks" | "task_texts" | "task_labels";

/**
 * The few things the verbs need of a database inside a transaction. Parameters are bound in the order of their `?`.
 * A limit that doesn't vary belongs in the text: with `LIMIT ?` SQLite plans the statement anew at each call (20 µs
 * instead of 4), and Postgres plans for a tenth of the table.
 */
export interface Db {
  readonly dialect: Dialect;
  /** Whether rows that are read to be changed must be locked: other nodes write at the same time. */
  readonly locks: boolean;
  all<T>(sql: string, ...params: SqlValue[]): Awaitable<T[]>;
  get<T>(sql: string, ...params: SqlValue[]): Awaitable<T | undefined>;
  /** Returns the number of rows changed. */
  run(sql: string, ...params: SqlValue[]): Awaitable<number>;
  /** Inserts one row and returns its sequence number. */
  insert(table: string, columns: readonly string[], row: object): Awaitable<number>;
  /**
   * Inserts one row, at the latest before the commit and before anything reads the table; `conflict` is the statement's
   * ON CONFLICT clause.
   */
  append(table: string, columns: readonly string[], row: object, conflict?: string): Awaitable<void>;
  /**
   * Changes a task's row in one of its tables, at the latest before the commit and before anything reads it. False when
   * the guard refused; a database that gathers changes fails its transaction then.
   */
  change(table: TaskTable, seq: number, set: Readonly<Record<string, SqlValue>>, guard?: Guard): Awaitable<boolean>;
  readonly kept: KeptTasks;
}

/** Goes on with a value, at once where it is there: SQLite's answers must not cost a turn of the event loop. */
export function after<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** The same for what only has to be over. */
export function done(value: Awaitable<unknown>): Awaitable<void> {
  return value instanceof Promise ? value.then(() => {}) : undefined;
}

/** Kept at once; a server's live claims are some thousands at most. */
const KEPT_MAX = 10_000;

/**
 * Task rows as this connection last wrote them: most tasks are completed by the process that granted them, and reading 46
 * columns costs 13 µs. A row goes with any write to it, all go when a session's end moves (it is part of the row), when
 * another process wrote, and with a rollback.
 */
export class KeptTasks {
  readonly #rows = new Map<string, TaskRow>();

  get(id: string): TaskRow | undefined {
    return this.#rows.get(id);
  }

  set(row: TaskRow): void {
    if (this.#rows.size >= KEPT_MAX) this.#rows.clear();
    this.#rows.set(row.id, row);
  }

  drop(id: string): void {
    this.#rows.delete(id);
  }

  clear(): void {
    this.#rows.clear();
  }
}

/** `SET a = ?, b = ?` for the columns named in `change`, restricted to `allowed`. */
export function assignments(change: object, allowed: ReadonlySet<string>): { set: string; values: SqlValue[] } {
  const columns = Object.keys(change).filter((column) => allowed.has(column));
  return {
    set: columns.map((column) => `${column} = ?`).join(", "),
    values: columns.map((column) => (change as Record<string, SqlValue>)[column] ?? null),
  };
}

/** `INSERT INTO table (columns) VALUES (?, …)` and the row's values in that order. */
export function insertInto(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
}

export function valuesOf(row: object, columns: readonly string[]): SqlValue[] {
  return columns.map((column) => (row as Record<string, SqlValue>)[column] ?? null);
}
