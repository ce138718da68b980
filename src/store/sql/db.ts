import type { TaskRow } from "../../core/rows.js";
import type { SqlValue } from "../driver.js";

/** The few things the verbs need of a database inside a transaction. Parameters are bound in the order of their `?`. */
/**
 * A limit that doesn't vary belongs in the text: with `LIMIT ?` SQLite plans the statement anew at each call (20 µs instead of 4).
 */
export interface Db {
  all<T>(sql: string, ...params: SqlValue[]): T[];
  get<T>(sql: string, ...params: SqlValue[]): T | undefined;
  /** Returns the number of rows changed. */
  run(sql: string, ...params: SqlValue[]): number;
  /** Inserts one row and returns its sequence number. */
  insert(sql: string, ...params: SqlValue[]): number;
  readonly kept: KeptTasks;
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
export function assignments(
  change: object,
  allowed: ReadonlySet<string>,
): { set: string; values: SqlValue[]; columns: string[] } {
  const columns = Object.keys(change).filter((column) => allowed.has(column));
  return {
    set: columns.map((column) => `${column} = ?`).join(", "),
    values: columns.map((column) => (change as Record<string, SqlValue>)[column] ?? null),
    columns,
  };
}

/** `INSERT INTO table (columns) VALUES (?, …)` and the row's values in that order. */
export function insertInto(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
}

export function valuesOf(row: object, columns: readonly string[]): SqlValue[] {
  return columns.map((column) => (row as Record<string, SqlValue>)[column] ?? null);
}
