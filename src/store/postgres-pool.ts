import pg from "pg";
import { analyze, TABLES_BELIEVED_SMALL } from "./postgres-statistics.js";

export interface PostgresSettings {
  /** `postgres://user:password@host:port/database?…`; what pg understands, and `pooler=transaction`. */
  readonly url: string;
  /** Connections for transactions, at most; one more listens. */
  readonly connectionsMax?: number;
  /** How connections name themselves to whoever looks at them. */
  readonly applicationName?: string;
}

/** A connection for each core of the database's machine is best, more only wait there for each other. */
const CONNECTIONS_MAX = 4;
const CONNECT_MS = 5_000;
/** A query that takes longer is lost with its connection; the longest wait is for another's transaction. */
const QUERY_MS = 30_000;
/** A node that was stopped in the middle of a transaction holds its locks for so long. */
const IDLE_IN_TRANSACTION_MS = 10_000;
/** A new connection costs six round trips; agents that think for a minute between two calls should not pay for it. */
const IDLE_MS = 300_000;
const LISTEN_AGAIN_MS = 1_000;
const CHANNEL = "dibs";
/** Hints of one node are this far apart at least: one wakes everybody who waits. */
const NOTIFY_EVERY_MS = 5;

// int8: all numbers here are below 2^53.
const types = {
  getTypeParser: (oid: number, format: never) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format)),
};

// The planner's guesses follow statistics that a queue outruns: a table that was empty a minute ago has 100,000 rows.
// Without sequential scans it can't fall for them, and need not plan what has a name more than once (0.1 ms each time).
const OPTIONS = `-c jit=off -c enable_seqscan=off -c plan_cache_mode=force_generic_plan -c statement_timeout=${QUERY_MS} -c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`;

// The sequence alone would tell of numbers whose transactions have not committed: who looks then finds nothing, and isn't
// told again. Of each workspace the last event, as commits keep their order there; in the words that only
// events_workspace answers.
const COMMITTED = `SELECT coalesce(sum(last.id), 0)::bigint AS committed FROM workspaces w CROSS JOIN LATERAL (
  SELECT id FROM events WHERE (workspace_id, id) <= (w.id, ${Number.MAX_SAFE_INTEGER})
  ORDER BY workspace_id DESC, id DESC LIMIT 1) AS last`;

/** The node's connections: a pool with a limit, and one that listens for other nodes' hints. */
export class PostgresPool {
  readonly #pool: pg.Pool;
  readonly #url: URL;
  readonly #applicationName: string;
  /** Behind a pooler that hands transactions to changing connections nothing may outlive a transaction: no named plans, no LISTEN. */
  readonly named: boolean;
  readonly connectionsMax: number;
  #listener: pg.Client | undefined;
  #ended = false;
  #notifyDue: NodeJS.Timeout | undefined;
  readonly #node = Math.random().toString(36).slice(2);

  constructor(settings: PostgresSettings) {
    this.#applicationName = settings.applicationName ?? "dibs";
    this.#url = new URL(settings.url);
    this.named = this.#url.searchParams.get("pooler") !== "transaction";
    this.#url.searchParams.delete("pooler");
    this.connectionsMax = settings.connectionsMax ?? CONNECTIONS_MAX;
    this.#pool = new pg.Pool({ ...this.#config(), max: this.connectionsMax, idleTimeoutMillis: IDLE_MS });
    // An idle connection that breaks is replaced by the next call that needs one. While one is in use nobody else hears
    // of it, and an error that nobody hears ends the thread.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  #config(): pg.PoolConfig {
    return {
      connectionString: this.#url.href,
      application_name: this.#applicationName,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: QUERY_MS + 5_000,
      keepAlive: true,
      types: types as never,
      pipeline: true,
      ...(this.named ? { options: OPTIONS } : {}),
    } as pg.PoolConfig;
  }

  /** The server, without its secrets. */
  get where(): string {
    return `PostgreSQL at ${this.#url.host}${this.#url.pathname}`;
  }

  async connect(): Promise<pg.PoolClient> {
    return this.#pool.connect();
  }

  /** A number that grows with every commit that wrote events. */
  async committed(): Promise<number> {
    const { rows } = await this.#pool.query(COMMITTED);
    return rows[0].committed;
  }

  /** Puts right what the planner believes of tables where that is far from what is there. */
  async renewStatistics(): Promise<void> {
    const { rows } = await this.#pool.query<{ name: string }>(TABLES_BELIEVED_SMALL);
    if (rows.length > 0) await this.#pool.query(analyze(rows.map(({ name }) => name)));
  }

  /** Calls `onHint` whenever another node notifies, and after a time in which that might have been missed. */
  async listen(onHint: (() => void) | undefined): Promise<void> {
    if (!onHint || !this.named || this.#ended) return;
    const client = new pg.Client(this.#config());
    const again = () => {
      if (this.#ended || this.#listener !== client) return;
      this.#listener = undefined;
      setTimeout(() => void this.listen(onHint), LISTEN_AGAIN_MS).unref();
    };
    this.#listener = client;
    client.on("error", again);
    client.on("end", again);
    client.on("notification", ({ payload }) => {
      if (payload !== this.#node) onHint();
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      onHint();
    } catch {
      // A hint only (polling is the truth): it is tried again.
      await client.end().catch(() => {});
      again();
    }
  }

  /** Tells the other nodes that something became claimable; after the commit, as a NOTIFY inside one serializes all commits. */
  notify(): void {
    if (!this.named || this.#notifyDue) return;
    this.#notifyDue = setTimeout(() => {
      this.#notifyDue = undefined;
      void this.#sendHint();
    }, NOTIFY_EVERY_MS);
    this.#notifyDue.unref();
  }

  async #sendHint(): Promise<void> {
    await this.#listener?.query("SELECT pg_notify($1, $2)", [CHANNEL, this.#node]).catch(() => {});
  }

  async end(): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#notifyDue);
    // A command is over before its hint is due.
    if (this.#notifyDue) await this.#sendHint();
    await Promise.allSettled([this.#pool.end(), this.#listener?.end()]);
  }
}
