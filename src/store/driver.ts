import { createRequire } from "node:module";

export type SqlValue = string | number | null;

/** What both SQLite drivers can do alike. */
export interface SqliteStatement {
  all(...params: SqlValue[]): unknown[];
  run(...params: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
}
export interface SqliteDriver {
  readonly name: "node:sqlite" | "better-sqlite3";
  prepare(sql: string): SqliteStatement;
  exec(sql: string): void;
  close(): void;
}

interface NativeStatement extends SqliteStatement {
  /** better-sqlite3. */
  raw?(): NativeStatement;
  /** node:sqlite of Node 24 and later. */
  setReturnArrays?(on: boolean): void;
  columns(): { name: string }[];
}

interface NativeDatabase {
  prepare(sql: string): NativeStatement;
  exec(sql: string): unknown;
  close(): void;
}

/** SQLite 3.7.0 to 3.51.2 can corrupt a WAL file that two connections checkpoint and write at once. */
export const ENGINE_MIN = [3, 51, 3] as const;

export function isUnsafeEngine(version: string): boolean {
  const found = version.split(".").map(Number);
  return (ENGINE_MIN.map((part, at) => (found[at] ?? 0) - part).find((difference) => difference !== 0) ?? 0) < 0;
}

class DriverMissing extends Error {
  override readonly name = "DriverMissing";
}

const require = createRequire(import.meta.url);

/**
 * Opens the file with `node:sqlite` where Node has it unflagged (22.13 and later) with a safe engine, else with
 * better-sqlite3.
 * `prefer` picks one by name. Throws DriverMissing with what to do when neither can be loaded.
 */
export function openDriver(path: string, prefer?: SqliteDriver["name"]): SqliteDriver {
  if (prefer !== "better-sqlite3") {
    const node = tryRequire<{ DatabaseSync: new (path: string) => NativeDatabase }>("node:sqlite");
    const tooOld = prefer === undefined && isUnsafeEngine(process.versions.sqlite ?? "0");
    if (node && !(tooOld && tryRequire("better-sqlite3"))) return wrap("node:sqlite", new node.DatabaseSync(path));
  }
  if (prefer !== "node:sqlite") {
    const better = tryRequire<new (path: string) => NativeDatabase>("better-sqlite3");
    if (better) return wrap("better-sqlite3", new better(path));
  }
  throw new DriverMissing(
    `No SQLite driver can be loaded${prefer ? ` (${prefer} was asked for)` : ""}. Use Node 22.13 or later, which brings one, or run ` +
      "`npm rebuild better-sqlite3` in Dibs's folder; where no prebuilt binary fits it needs python3, make and a C++ compiler.",
  );
}

function wrap(name: SqliteDriver["name"], database: NativeDatabase): SqliteDriver {
  return {
    name,
    prepare: (sql) => readingArrays(database.prepare(sql), sql),
    exec: (sql) => void database.exec(sql),
    close: () => database.close(),
  };
}

/** Reads rows as arrays where the driver can, and names them here: objects of 46 columns cost 16 µs a row in the driver. */
function readingArrays(statement: NativeStatement, sql: string): SqliteStatement {
  const run = (...params: SqlValue[]) => statement.run(...params);
  const plain = { all: (...params: SqlValue[]) => statement.all(...params), run };
  if (!/^\s*(SELECT|WITH)\b/.test(sql)) return plain;
  if (statement.raw) statement.raw();
  else if (statement.setReturnArrays) statement.setReturnArrays(true);
  else return plain;
  const toRecord = recordMaker(statement.columns().map((column) => column.name));
  return { all: (...params) => (statement.all(...params) as unknown[][]).map(toRecord), run };
}

/**
 * A function from an array to a record with the columns' names, written as one object literal: all rows of a statement
 * share a hidden class from birth. Adding 46 properties one by one cost 10 µs a row, and moved the object each time.
 */
function recordMaker(columns: readonly string[]): (row: unknown[]) => object {
  if (!columns.every((column) => /^\w+$/.test(column)))
    throw new Error(`A column has no plain name: ${columns.join(", ")}`);
  const fields = columns.map((column, at) => `${column}: row[${at}]`).join(", ");
  return new Function("row", `return { ${fields} };`) as (row: unknown[]) => object;
}

function tryRequire<T>(name: string): T | undefined {
  try {
    return require(name) as T;
  } catch {
    // Absent, or its binary was not built: the next driver is tried, and the last failure says what to do.
    return undefined;
  }
}
