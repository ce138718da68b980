import { DibsError, invalidInput } from "../../contract/errors.js";
import { type StoredRow, TABLES, type Table } from "../port/dump-verbs.js";
import type { Store, Tx } from "../port/store.js";
import { retried } from "./retried.js";

const NO_EXPORT =
  'must be {"dibs_export":1}, as dibs export of this version writes it; what another tool wrote is imported with --from';

/** How an export begins: the form of its lines, which later versions of Dibs go on reading. */
const HEAD = { dibs_export: 1 } as const;

/**
 * Everything the store holds, as it is at one instant, a line of JSON at a time: a head, a line for each record, an end
 * that tells a whole export from one cut off. The same state gives the same lines, on whichever store. Keys are in it as
 * hashes only; `write` may be slow.
 */
export function exportStore(store: Store, write: (line: string) => Promise<void>): Promise<{ records: number }> {
  return store.transaction("read", async (tx) => {
    let records = 0;
    await write(JSON.stringify(HEAD));
    for (const table of TABLES) {
      for await (const row of rowsOf(tx, table)) {
        await write(JSON.stringify({ table: table.name, row: plain(row) }));
        records += 1;
      }
    }
    await write(JSON.stringify({ end: true, records }));
    return { records };
  });
}

async function* rowsOf(tx: Tx, table: Table): AsyncGenerator<StoredRow> {
  let behind = -1;
  for (;;) {
    const rows = await tx.dump.rows(table, behind);
    yield* rows;
    const last = rows.at(-1)?.[table.order[0]];
    if (!table.parts || typeof last !== "number") return;
    behind = last;
  }
}

/** In one order whatever the store's, and without what isn't there. */
function plain(row: StoredRow): StoredRow {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => value !== null)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Rows written by one statement, and their length. */
const ROWS_AT_ONCE = 500;
const TEXT_AT_ONCE = 4_000_000;

/**
 * Fills an unused store with an export, all or nothing. Throws `invalid_input` with the line that is wrong, and
 * `already_exists` when the store has been used. Leases go on where they were; the old store must not.
 */
export async function importStore(store: Store, lines: () => AsyncIterable<string>): Promise<{ records: number }> {
  const fill = async (tx: Tx) => {
    if (!(await tx.dump.isUnused())) {
      const message = "The store has been used; an export is brought into a new one: name it with --store.";
      throw new DibsError("already_exists", message, {});
    }
    await tx.dump.clearUnused();
    const filling = new Filling(tx);
    for await (const line of lines()) await filling.take(line);
    return filling.finish();
  };
  return retried(() => store.transaction("write", fill, { changesIdentities: true }));
}

/** An import under way: checks the lines, and writes rows of one kind together. */
class Filling {
  readonly #columns = new Map<string, ReadonlySet<string>>();
  #line = 0;
  #ended = false;
  #records = 0;
  #lastMs = 0;
  #gathered: StoredRow[] = [];
  #length = 0;
  #kind = "";
  #table: Table | undefined;

  constructor(private readonly tx: Tx) {}

  async take(text: string): Promise<void> {
    this.#line += 1;
    if (text.trim() === "") return;
    const line = this.#parsed(text);
    if (this.#line === 1) {
      if (line.dibs_export !== HEAD.dibs_export) throw this.#wrong(NO_EXPORT);
      return;
    }
    if (this.#ended) throw this.#wrong("comes after the end of the export");
    if (line.end === true) {
      if (line.records !== this.#records)
        throw this.#wrong(`says there are ${line.records} records, but ${this.#records} came: something is missing`);
      this.#ended = true;
      return;
    }
    await this.#row(line, text.length);
  }

  async finish(): Promise<{ records: number }> {
    if (!this.#ended) throw invalidInput(`line ${this.#line}`, "is the last, but no end: the export was cut off");
    await this.#flush();
    await this.tx.dump.goOnBehind(this.#lastMs);
    return { records: this.#records };
  }

  async #row(line: Readonly<Record<string, unknown>>, length: number): Promise<void> {
    const table = TABLES.find(({ name }) => name === line.table);
    const { row } = line;
    if (!table || typeof row !== "object" || row === null)
      throw this.#wrong("is no record that this Dibs knows; update Dibs");
    const known = this.#columns.get(table.name) ?? new Set(await this.tx.dump.columns(table));
    this.#columns.set(table.name, known);
    for (const [column, value] of Object.entries(row)) {
      if (!known.has(column)) throw this.#wrong(`has a field ${column} that this Dibs doesn't know; update Dibs`);
      if (typeof value !== "string" && typeof value !== "number")
        throw this.#wrong(`has a ${column} that is neither text nor a number`);
    }
    const kind = `${table.name}:${Object.keys(row).join()}`;
    if (kind !== this.#kind || this.#gathered.length >= ROWS_AT_ONCE || this.#length + length > TEXT_AT_ONCE)
      await this.#flush();
    this.#kind = kind;
    this.#table = table;
    this.#gathered.push(row as StoredRow);
    this.#length += length;
    this.#records += 1;
    const { at } = row as StoredRow;
    if (table.name === "events" && typeof at === "number") this.#lastMs = Math.max(this.#lastMs, at);
  }

  async #flush(): Promise<void> {
    const [table, rows] = [this.#table, this.#gathered];
    if (!table || rows.length === 0) return;
    try {
      await this.tx.dump.insert(table, rows);
    } catch (fault) {
      // Both stores say so; anything else is no fault of the export.
      if (!/constraint/i.test(String(fault))) throw fault;
      throw invalidInput(
        `before line ${this.#line + 1}`,
        `a record of ${table.name} fits no other: ${(fault as Error).message}`,
      );
    }
    this.#gathered = [];
    this.#length = 0;
  }

  #parsed(text: string): Readonly<Record<string, unknown>> {
    try {
      const value = JSON.parse(text);
      if (typeof value === "object" && value !== null) return value;
    } catch {
      // Told below.
    }
    throw this.#wrong(this.#line === 1 ? NO_EXPORT : "isn't a JSON object");
  }

  #wrong(what: string): DibsError<"invalid_input"> {
    return invalidInput(`line ${this.#line}`, what);
  }
}
