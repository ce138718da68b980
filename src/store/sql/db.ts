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
