import type { SqliteDriver, SqliteStatement, SqlValue } from "./driver.js";
import { type Db, type Dialect, type Guard, insertInto, KeptTasks, type TaskTable, valuesOf } from "./sql/db.js";

const SQLITE: Dialect = {
  textsOf: "SELECT value AS text FROM json_each(?)",
  numbersOf: "SELECT value FROM json_each(?)",
  pairsOf: "SELECT json_extract(value, '$[0]') AS a, json_extract(value, '$[1]') AS b FROM json_each(?)",
  like: "LIKE",
  join: "CROSS JOIN",
  columnsOf: "SELECT name FROM pragma_table_info(?)",
  recordsOf: (_table, columns) =>
    `SELECT ${columns.map((column) => `json_extract(value, '$.${column}')`).join(", ")} FROM json_each(?)`,
  byBytes: (column) => column,
  field: (column, name) => `json_extract(${column}, '$.${name}')`,
  perRow: (table, alias, on) => `CROSS JOIN ${table} ${alias} ON ${on}`,
  indexedBy: (index) => `INDEXED BY ${index}`,
};

// Each is the first entry of an index.
const IS_DUE = `SELECT 1 FROM tasks WHERE wakes_at IS NOT NULL AND wakes_at <= ?
  UNION ALL SELECT 1 FROM sessions WHERE state = 'open' AND expires_at IS NOT NULL AND expires_at <= ?
  UNION ALL SELECT 1 FROM recurrences WHERE next_at IS NOT NULL AND next_at <= ?
  UNION ALL SELECT 1 FROM scope_claims WHERE ended_at IS NULL AND lease_until IS NOT NULL AND lease_until <= ?
  UNION ALL SELECT 1 FROM waits WHERE ended_at IS NULL AND offered_until IS NOT NULL AND offered_until <= ?
  UNION ALL SELECT 1 FROM handoffs WHERE state = 'offered' AND expires_at <= ?
  UNION ALL SELECT 1 FROM holds WHERE ended_at IS NULL AND expires_at <= ?
  UNION ALL SELECT 1 FROM unlanded WHERE ended_at IS NULL AND expires_at <= ? LIMIT 1`;

/** SQLite for the verbs: everything is done at once. Statements are prepared once and kept by their text; writes are counted. */
export class SqliteDb implements Db {
  readonly dialect = SQLITE;
  readonly locks = false;
  readonly kept = new KeptTasks();
  writes = 0;
  readonly #statements = new Map<string, SqliteStatement>();
  readonly #inserts = new Map<string, string>();

  constructor(private readonly driver: SqliteDriver) {}

  #prepared(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.driver.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  all<T>(sql: string, ...params: SqlValue[]): T[] {
    return this.#prepared(sql).all(...params) as T[];
  }

  get<T>(sql: string, ...params: SqlValue[]): T | undefined {
    return this.all<T>(sql, ...params)[0];
  }

  run(sql: string, ...params: SqlValue[]): number {
    this.writes += 1;
    return Number(this.#prepared(sql).run(...params).changes);
  }

  insert(table: string, columns: readonly string[], row: object, conflict = ""): number {
    this.writes += 1;
    let sql = this.#inserts.get(table);
    if (sql === undefined) {
      sql = `${insertInto(table, columns)} ${conflict}`;
      this.#inserts.set(table, sql);
    }
    return Number(this.#prepared(sql).run(...valuesOf(row, columns)).lastInsertRowid);
  }

  append(table: string, columns: readonly string[], row: object, conflict?: string): void {
    this.insert(table, columns, row, conflict);
  }

  change(table: TaskTable, seq: number, set: Readonly<Record<string, SqlValue>>, guard?: Guard): boolean {
    const columns = Object.keys(set)
      .map((column) => `${column} = ?`)
      .join(", ");
    const values: SqlValue[] = [...Object.values(set), seq];
    const demanded = guard?.sql.replace(/:(\w+)/g, (_, name: string) => {
      values.push(guard.values[name] ?? null);
      return "?";
    });
    const also = demanded === undefined ? "" : `AND ${demanded}`;
    const changed = this.run(`UPDATE ${table} SET ${columns} WHERE seq = ? ${also}`, ...values);
    return changed === 1 || guard === undefined;
  }

  isDue(nowMs: number): boolean {
    return this.get(IS_DUE, ...Array<number>(8).fill(nowMs)) !== undefined;
  }
}
