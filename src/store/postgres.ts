import { isDibsError } from "../contract/errors.js";
import type { TaskRow } from "../core/port/rows.js";
import type { Store, TransactionMode, Tx, Wants } from "../core/port/store.js";
import { DecidingClock, systemTime, type TimeSource } from "./clock.js";
import type { SqlValue } from "./driver.js";
import { PostgresDb } from "./postgres-db.js";
import { isLost, isPlanOutdated, translatePostgresFault } from "./postgres-faults.js";
import { applicationName, migratePostgres } from "./postgres-migrate.js";
import { PostgresPool, type PostgresSettings } from "./postgres-pool.js";
import { SELECT_TASK } from "./sql/read-tasks.js";
import { verbsOf } from "./sql/verbs.js";

export interface PostgresOptions extends PostgresSettings {
  /** Tests inject time here, in place of the database's. */
  readonly time?: TimeSource;
  readonly onForwardJump?: (jumpMs: number) => void;
  /** Another node says that something became claimable. */
  readonly onHint?: () => void;
  /** Whether a schema that is too old is brought up to date, or refused. */
  readonly migrate?: boolean;
}

// Everybody who writes holds it together; who changes identities (agents, keys, sessions, settings) holds it alone, so
// that what nodes remember of them is exact for a whole transaction.
const IDENTITIES = 0x64696274;
const LOCK_SHARED = `SELECT pg_advisory_xact_lock_shared(${IDENTITIES})`;
const LOCK_ALONE = `SELECT pg_advisory_xact_lock(${IDENTITIES})`;

// The database's clock, read after the locks (R2), with what bounds it from below: what was persisted last.
const BEGIN = `SELECT w.wall_ms, c.offset_ms, greatest(c.last_ms, (SELECT at FROM events ORDER BY id DESC LIMIT 1)) AS last_ms,
  v.identities, v.notices,
  (SELECT min(wakes_at) FROM tasks WHERE wakes_at IS NOT NULL) AS task_wakes_at,
  (SELECT min(expires_at) FROM sessions WHERE state = 'open' AND expires_at IS NOT NULL) AS session_ends_at,
  (SELECT min(next_at) FROM recurrences WHERE next_at IS NOT NULL) AS tick_at,
  (SELECT min(lease_until) FROM scope_claims WHERE ended_at IS NULL AND lease_until IS NOT NULL) AS scope_ends_at,
  (SELECT min(expires_at) FROM holds WHERE ended_at IS NULL) AS hold_ends_at,
  (SELECT min(expires_at) FROM unlanded WHERE ended_at IS NULL) AS unlanded_ends_at,
  (SELECT min(offered_until) FROM waits WHERE ended_at IS NULL AND offered_until IS NOT NULL) AS offer_ends_at,
  (SELECT min(expires_at) FROM handoffs WHERE state = 'offered') AS handoff_ends_at,
  EXISTS (SELECT 1 FROM tasks WHERE parked_by IS NOT NULL) AS parked,
  EXISTS (SELECT 1 FROM waits WHERE ended_at IS NULL) AS waited
  FROM clock c, versions v, (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS wall_ms) w`;

/** So old may the persisted time get: renewals write no event that would tell it. */
const PERSIST_CLOCK_MS = 500;
// Whoever finds it locked leaves it to the other.
const PERSIST_CLOCK = `UPDATE clock SET last_ms = ? WHERE last_ms < ?
  AND id = (SELECT id FROM clock FOR UPDATE SKIP LOCKED)`;

/** Two, so that one is worked on while the other waits for the database. */
const TRANSACTIONS_MAX = 2;

interface Begun {
  readonly wall_ms: number;
  readonly offset_ms: number;
  readonly last_ms: number;
  readonly identities: number;
  readonly notices: number;
  readonly task_wakes_at: number | null;
  readonly session_ends_at: number | null;
  readonly tick_at: number | null;
  readonly scope_ends_at: number | null;
  /** When the first of the holds ends that nobody has recorded the end of. */
  readonly hold_ends_at: number | null;
  /** The same of unlanded work. */
  readonly unlanded_ends_at: number | null;
  readonly offer_ends_at: number | null;
  readonly handoff_ends_at: number | null;
  readonly parked: boolean;
  readonly waited: boolean;
}

const dueAt = (begun: Begun) => [
  begun.task_wakes_at,
  begun.session_ends_at,
  begun.tick_at,
  begun.scope_ends_at,
  begun.offer_ends_at,
  begun.handoff_ends_at,
  begun.hold_ends_at,
  begun.unlanded_ends_at,
];

/** Opens (and where needed migrates) the Postgres store: any number of nodes share one database, none special (R57). */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const pool = new PostgresPool({ applicationName: applicationName(), ...options });
  try {
    const client = await pool.connect();
    try {
      await migratePostgres(client, { apply: options.migrate ?? true });
    } finally {
      client.release();
    }
    await pool.listen(options.onHint);
    return new PostgresStore(pool, options);
  } catch (fault) {
    await pool.end();
    throw isDibsError(fault) ? fault : translatePostgresFault(fault, pool.where);
  }
}

class PostgresStore implements Store {
  readonly transactionsMax: number;
  readonly watchEveryMs: number;
  readonly #clock: DecidingClock;
  #wallMs = 0;
  #transactions = 0;
  #committed = -1;

  constructor(
    private readonly pool: PostgresPool,
    options: PostgresOptions,
  ) {
    // Hints come at once; without them, or should one be missed, this is how long others' work is not seen.
    this.watchEveryMs = pool.named ? 500 : 50;
    this.transactionsMax = Math.min(TRANSACTIONS_MAX, pool.connectionsMax);
    const { time } = options;
    const monotonicMs = (time ?? systemTime).monotonicMs;
    const source = { wallMs: time?.wallMs ?? (() => this.#wallMs), monotonicMs };
    this.#clock = new DecidingClock(source, options.onForwardJump ?? (() => {}));
  }

  async transaction<T>(mode: TransactionMode, body: (tx: Tx) => Promise<T>, wants: Wants = {}): Promise<T> {
    const reads = mode === "read";
    let lost = false;
    try {
      const client = await this.pool.connect();
      const db = new PostgresDb(client, !reads, this.pool.named);
      try {
        const { tx, begun, noticeWritesAtStart } = await this.#begin(db, reads, wants);
        const result = await body(tx);
        const changed = {
          identities: wants.changesIdentities === true,
          notices: tx.notes.noticeWrites - noticeWritesAtStart,
        };
        await db.commit(reads ? [] : closing(tx, begun, changed));
        return result;
      } catch (fault) {
        lost = isLost(fault) || isPlanOutdated(fault);
        if (!lost) await client.query("ROLLBACK").catch(() => (lost = true));
        throw fault;
      } finally {
        client.release(lost);
      }
    } catch (fault) {
      throw isDibsError(fault) ? fault : translatePostgresFault(fault, this.pool.where);
    }
  }

  /** Everything is sent at once: the begin, the locks (names before tasks), the tasks that will be read, and last the clock. */
  async #begin(db: PostgresDb, reads: boolean, wants: Wants) {
    const first = db.send(
      reads ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN ISOLATION LEVEL READ COMMITTED",
    );
    const locked = reads ? undefined : db.send(wants.changesIdentities ? LOCK_ALONE : LOCK_SHARED);
    const names =
      reads || !wants.taskIdsWithNames?.length ? undefined : verbsOf(db).scopes.aloneFor(wants.taskIdsWithNames);
    const wanted = reads || !wants.taskIds?.length ? undefined : this.#keep(db, wants.taskIds);
    const ahead = reads ? undefined : wants.ahead?.(verbsOf(db));
    const clock = db.send(BEGIN);
    const [{ rows }] = await Promise.all([clock, first, locked, names, wanted, ahead]);
    const begun = rows[0] as Begun;
    this.#wallMs = begun.wall_ms;
    const nowMs = this.#clock.read({ last_ms: begun.last_ms, offset_ms: begun.offset_ms, boot: "", uptime_ms: 0 });
    this.#transactions += 1;
    const verbs = verbsOf(db, begun.notices);
    // Read with the begin; a later call of the same transaction must know what an earlier one has put to sleep.
    let { parked } = begun;
    const { park } = verbs.scopes;
    const tx: Tx = {
      nowMs,
      othersVersion: begun.identities,
      othersQueueVersion: this.#transactions,
      shared: true,
      // Who may place one reads it again.
      frozen: begun.hold_ends_at !== null || wants.changesIdentities === true,
      unlandedKnown: begun.unlanded_ends_at !== null,
      mayBeDue: dueAt(begun).some((at) => at !== null && at <= nowMs),
      get parked() {
        return parked;
      },
      waited: begun.waited,
      freed: [],
      get writes() {
        return db.writes;
      },
      ...verbs,
      scopes: {
        ...verbs.scopes,
        park(...asked) {
          parked = true;
          return park(...asked);
        },
      },
    };
    return { tx, begun, noticeWritesAtStart: verbs.notes.noticeWrites };
  }

  /** Locks the tasks that calls name, in one order for everybody, and keeps their rows. */
  async #keep(db: PostgresDb, taskIds: readonly string[]): Promise<void> {
    const ids = [JSON.stringify(taskIds)];
    const locked = db.send(
      `SELECT q.seq FROM tasks q WHERE q.id IN (${db.dialect.textsOf}) ORDER BY q.seq FOR UPDATE`,
      ids,
    );
    // Behind the locks, and so after any wait for them; sent at once, as it needs no answer of theirs.
    const read = db.send(`${SELECT_TASK} WHERE t.id IN (${db.dialect.textsOf})`, ids);
    const [, { rows }] = await Promise.all([locked, read]);
    for (const row of rows as TaskRow[]) db.kept.set(row);
  }

  async changedElsewhere(): Promise<boolean> {
    let committed: number;
    try {
      committed = await this.pool.committed();
    } catch {
      // Nobody waits for this answer who could be told; who looks because of it learns what is wrong.
      return true;
    }
    const changed = committed !== this.#committed && this.#committed !== -1;
    this.#committed = committed;
    return changed;
  }

  async renewStatistics(): Promise<void> {
    try {
      await this.pool.renewStatistics();
    } catch (fault) {
      throw translatePostgresFault(fault, this.pool.where);
    }
  }

  announce(): void {
    this.pool.notify();
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

/** What a transaction writes of itself, at its end so that others wait for it as short as may be. */
function closing(
  tx: Tx,
  begun: Begun,
  changed: { identities: boolean; notices: number },
): [string, readonly SqlValue[]][] {
  const statements: [string, readonly SqlValue[]][] = [];
  if (tx.nowMs - begun.last_ms > PERSIST_CLOCK_MS) statements.push([PERSIST_CLOCK, [tx.nowMs, tx.nowMs]]);
  if (changed.identities) statements.push(["UPDATE versions SET identities = identities + 1", []]);
  // By as many as were written: the engine that wrote them goes on with its own count, if nobody else wrote any.
  if (changed.notices > 0) statements.push(["UPDATE versions SET notices = notices + ?", [changed.notices]]);
  return statements;
}
