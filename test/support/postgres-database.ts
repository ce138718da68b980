import pg from "pg";
import { afterAll } from "vitest";
import type { AnyStore } from "./any-store.js";
import { brokenThrough, freshDatabase } from "./postgres.js";

// int8: all numbers here are below 2^53.
const types = {
  getTypeParser: (oid: number, format: never) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format)),
};

type Database = Awaited<ReturnType<typeof freshDatabase>>;

/** Emptied in this order, in which no row names one that is gone. */
const TABLES =
  `duties holds unlanded_scopes unlanded handoffs scope_capacities yields wait_scopes waits task_scopes scope_claims scope_fences dependencies comments links task_labels task_texts tasks notices remembered events sessions secrets keys agents
  repositories projects workspaces`.split(/\s+/);
const AS_NEW = `${TABLES.map((table) => `DELETE FROM ${table};`).join(" ")} UPDATE clock SET last_ms = 0, offset_ms = 0`;
const BIG = "SELECT pg_relation_size('tasks') + pg_relation_size('events') > 2000000 AS big";
/** Nodes remember who may do what until this is moved. */
const TELL_ALL = "UPDATE versions SET identities = identities + 1, notices = notices + 1";

/** Emptied and used again by the next test of this process: making, migrating and dropping one takes four times as long. */
const unused: Database[] = [];
afterAll(() => Promise.all(unused.splice(0).map((database) => database.drop())));

/** A PostgreSQL database as a test's own store. */
export class PostgresDatabase implements AnyStore {
  readonly url: string;
  #client: Promise<pg.Client> | undefined;

  private constructor(private readonly database: Database) {
    this.url = database.url;
  }

  static async fresh(serverUrl: string): Promise<PostgresDatabase> {
    return new PostgresDatabase(unused.pop() ?? (await freshDatabase(serverUrl)));
  }

  async rows<T>(sql: string): Promise<T[]> {
    return (await (await this.#connected()).query(sql)).rows as T[];
  }

  async exec(sql: string): Promise<void> {
    // Several statements in one message are one transaction.
    await (await this.#connected()).query(`${sql}; ${TELL_ALL}`);
  }

  async tables(): Promise<string[]> {
    const named = "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1";
    return (await this.rows<{ name: string }>(named)).map(({ name }) => name);
  }

  async contents(without: ReadonlySet<string> = new Set()): ReturnType<AnyStore["contents"]> {
    const contents: Awaited<ReturnType<AnyStore["contents"]>> = {};
    for (const table of await this.tables())
      if (!without.has(table)) contents[table] = await this.rows(`SELECT * FROM ${table}`);
    return contents;
  }

  async everything(): Promise<string> {
    return JSON.stringify(await this.contents());
  }

  async broken(): Promise<string[]> {
    return brokenThrough(await this.#connected());
  }

  async remove(): Promise<void> {
    try {
      // What was deleted of many thousands stays in the way of the next test until it is vacuumed: 36 s where 8 are usual.
      const [size] = await this.rows<{ big: boolean }>(BIG);
      if (size?.big) throw new Error("It has held too much to be used again.");
      await this.exec(AS_NEW);
      unused.push(this.database);
    } catch {
      // Never opened, so without tables, or still used by a test that failed.
      await this.database.drop();
    } finally {
      await this.#client?.then((client) => client.end());
    }
  }

  #connected(): Promise<pg.Client> {
    this.#client ??= (async () => {
      const options = "-c lock_timeout=2000 -c enable_seqscan=off";
      const client = new pg.Client({ connectionString: this.url, options, types: types as never });
      // A database that is dropped ends it.
      client.on("error", () => {});
      await client.connect();
      return client;
    })();
    return this.#client;
  }
}
