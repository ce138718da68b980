import type { PoolClient, QueryResult } from "pg";
import type { SqlValue } from "./driver.js";
import { insertEvents, insertRows, updateRows } from "./postgres-sets.js";
import { type Db, type Dialect, type Guard, KeptTasks, type TaskTable, valuesOf } from "./sql/db.js";

const POSTGRES: Dialect = {
  textsOf: "SELECT json_array_elements_text(?::json) AS text",
  numbersOf: "SELECT json_array_elements_text(?::json)::bigint",
  pairsOf: "SELECT (pair->>0)::bigint AS a, (pair->>1)::bigint AS b FROM json_array_elements(?::json) AS pair",
  like: "ILIKE",
  join: "JOIN",
  perRow: (table, alias, on) => `CROSS JOIN LATERAL (SELECT * FROM ${table} ${alias} WHERE ${on} OFFSET 0) AS ${alias}`,
  goOnBehindLast: (table, column) =>
    `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), (SELECT max(${column}) FROM ${table}))`,
  lock: (kind, text = "?") => `SELECT pg_advisory_xact_lock(hashtextextended(${text}, ${kind}))`,
  columnsOf:
    "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ?",
  recordsOf: (table, columns) => `SELECT ${columns.join(", ")} FROM json_populate_recordset(NULL::${table}, ?::json)`,
  byBytes: (column) => `${column} COLLATE "C"`,
  field: (column, name) => `(${column}::json->>'${name}')`,
  indexedBy: () => "",
};

/** What waits to be written to these is written before anything reads them. */
const GATHERED =
  /\b(tasks|task_texts|task_labels|notices|comments|context_versions|links|remembered|plans|plan_steps|scope_claims|task_scopes|waits|wait_scopes|unlanded|unlanded_scopes)\b/;
/** Events wait for a statement that reads them, or for the commit: with them the workspace's commits are locked. */
const EVENTS = /\bevents\b/;

interface Statement {
  /** Absent where the plan depends on a value: with a limit that is bound Postgres would plan for a tenth of the table. */
  readonly name: string | undefined;
  readonly text: string;
  readonly readsGathered: boolean;
  readonly readsEvents: boolean;
}

/** Statements by their text with `?`, for all connections: Postgres numbers its parameters, and keeps plans by name. */
const statements = new Map<string, Statement>();

function statementOf(sql: string): Statement {
  let statement = statements.get(sql);
  if (!statement) {
    let nth = 0;
    const text = sql.replace(/\?/g, () => {
      nth += 1;
      return `$${nth}`;
    });
    statement = {
      name: /LIMIT \$/.test(text) ? undefined : `dibs_${statements.size}`,
      text,
      readsGathered: GATHERED.test(text),
      readsEvents: EVENTS.test(text),
    };
    statements.set(sql, statement);
  }
  return statement;
}

interface Changes {
  readonly table: TaskTable;
  readonly columns: readonly string[];
  readonly guard: Guard | undefined;
  readonly rows: Record<string, SqlValue>[];
}

interface Rows {
  readonly columns: readonly string[];
  readonly conflict: string;
  readonly rows: object[];
}

/**
 * Postgres for the verbs of one transaction. Writes are gathered and go as one statement for all rows of a kind, at the
 * commit or when something reads what they write; statements are sent without waiting for the answers of those before
 * (pipelining), so that a batch of sixty-four claims costs a handful of round trips, not hundreds.
 */
export class PostgresDb implements Db {
  readonly dialect = POSTGRES;
  readonly kept = new KeptTasks();
  writes = 0;
  /** Rows changed since the last flush: a second change of one goes into the next round. */
  readonly #changed = new Set<string>();
  #changes = new Map<string, Changes>();
  #rows = new Map<string, Rows>();
  readonly #sent: Promise<unknown>[] = [];
  #fault: unknown;
  readonly #seqs = new Map<string, number[]>();
  #seqBlock = 1;

  constructor(
    private readonly client: PoolClient,
    /** False in transactions that only read. */
    readonly locks: boolean,
    /** Whether plans may be kept by name; a pooler that hands transactions to changing connections can't. */
    private readonly named: boolean,
  ) {}

  /** Sends a statement behind those sent before. What fails first is what is told of the transaction. */
  async send(sql: string, params: readonly SqlValue[] = []): Promise<QueryResult> {
    const { name, text } = statementOf(sql);
    const values = [...params];
    try {
      return await this.client.query(this.named && name !== undefined ? { name, text, values } : { text, values });
    } catch (fault) {
      this.#fault ??= fault;
      throw this.#fault;
    }
  }

  #sendBehind(sql: string, params: readonly SqlValue[]): void {
    const sent = this.send(sql, params);
    // Whoever awaits the next answer, or the commit, learns of it.
    sent.catch(() => {});
    this.#sent.push(sent);
  }

  async all<T>(sql: string, ...params: SqlValue[]): Promise<T[]> {
    const { readsGathered, readsEvents } = statementOf(sql);
    if (readsGathered || readsEvents) this.flush(readsEvents);
    return (await this.send(sql, params)).rows as T[];
  }

  async get<T>(sql: string, ...params: SqlValue[]): Promise<T | undefined> {
    return (await this.all<T>(sql, ...params))[0];
  }

  async run(sql: string, ...params: SqlValue[]): Promise<number> {
    this.writes += 1;
    this.flush(false);
    return (await this.send(sql, params)).rowCount ?? 0;
  }

  async insert(table: string, columns: readonly string[], row: object): Promise<number> {
    const seq = await this.#nextSeq(table);
    this.append(table, ["seq", ...columns], { ...row, seq });
    return seq;
  }

  /** Numbers are drawn in growing blocks, so that a thousand new tasks cost a few round trips. */
  async #nextSeq(table: string): Promise<number> {
    let seqs = this.#seqs.get(table);
    if (!seqs || seqs.length === 0) {
      const drawn = `SELECT nextval('${table}_seq_seq') AS seq FROM generate_series(1, ?)`;
      seqs = ((await this.send(drawn, [this.#seqBlock])).rows as { seq: number }[]).map((row) => row.seq);
      this.#seqBlock = Math.min(this.#seqBlock * 8, 512);
      this.#seqs.set(table, seqs);
    }
    return seqs.shift() as number;
  }

  append(table: string, columns: readonly string[], row: object, conflict = ""): void {
    this.writes += 1;
    const gathered = this.#rows.get(table);
    if (gathered) gathered.rows.push(row);
    else this.#rows.set(table, { columns, conflict, rows: [row] });
  }

  change(table: TaskTable, seq: number, set: Readonly<Record<string, SqlValue>>, guard?: Guard): boolean {
    this.writes += 1;
    const row = `${table}:${seq}`;
    if (this.#changed.has(row)) this.flush(false);
    this.#changed.add(row);
    const columns = Object.keys(set);
    const kind = `${table}:${columns.join()}:${guard?.sql}`;
    let changes = this.#changes.get(kind);
    if (!changes) {
      changes = { table, columns, guard, rows: [] };
      this.#changes.set(kind, changes);
    }
    const values: Record<string, SqlValue> = { seq };
    for (const column of columns) values[`new_${column}`] = set[column] ?? null;
    for (const name in guard?.values) values[`is_${name}`] = guard.values[name] ?? null;
    changes.rows.push(values);
    return true;
  }

  /** Sends what was gathered: changes of rows, then new ones, in the order in which their tables came up. */
  flush(withEvents: boolean): void {
    if (this.#changed.size === 0 && this.#rows.size === 0) return;
    for (const { table, columns, guard, rows } of this.#changes.values()) {
      const params = [JSON.stringify(rows), ...(guard ? [rows.length] : [])];
      this.#sendBehind(updateRows(table, columns, guard), params);
    }
    const events = this.#rows.get("events");
    for (const [table, { columns, conflict, rows }] of this.#rows) {
      if (table === "events" && !withEvents) continue;
      const values = rows.map((row) => valuesOf(row, columns));
      const named = JSON.stringify(
        values.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]]))),
      );
      if (table === "events") {
        this.#sendBehind(insertEvents(columns), [JSON.stringify(rows.map(workspaceOf)), named]);
      } else {
        const counted = conflict === "" ? [] : [rows.length];
        this.#sendBehind(insertRows(table, columns, conflict), [named, ...counted]);
      }
    }
    this.#changed.clear();
    this.#changes = new Map();
    this.#rows = new Map(events && !withEvents ? [["events", events]] : []);
  }

  /** Sends everything and the commit behind it; a statement that fails turns the commit into a rollback. */
  async commit(before: readonly (readonly [string, readonly SqlValue[]])[]): Promise<void> {
    // Told first, the counters are locked in the same order as by everybody else: before the events.
    for (const [sql, params] of before) this.#sendBehind(sql, params);
    this.flush(true);
    this.#sendBehind("COMMIT", []);
    await Promise.all(this.#sent);
  }
}

const workspaceOf = (row: object) => (row as { workspace_id: string }).workspace_id;
