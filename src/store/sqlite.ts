import { existsSync } from "node:fs";
import { DibsError, isDibsError } from "../contract/errors.js";
import type { Store, TransactionMode, Tx } from "../core/port/store.js";
import { DecidingClock, type KeptClock, systemTime, type TimeSource } from "./clock.js";
import { openDriver, type SqliteDriver } from "./driver.js";
import { migrate, NO_SQLITE_SCHEMA, sqliteSchema } from "./migrate.js";
import { OpenedFile } from "./opened-file.js";
import type { Migrated, SchemaState } from "./schema.js";
import { type Verbs, verbsOf } from "./sql/verbs.js";
import { SqliteDb } from "./sqlite-db.js";
import { BusyRetry, refuseNetworkFileSystem, translateSqliteFault } from "./sqlite-faults.js";

export interface SqliteOptions {
  readonly path: string;
  /** Whether a schema that is too old is brought up to date (the default), or refused. */
  readonly migrate?: boolean;
  readonly driver?: SqliteDriver["name"];
  /** Tests inject time here; it is read once per transaction. */
  readonly time?: TimeSource;
  /** Told of a forward jump of the wall clock by more than 60 s. */
  readonly onForwardJump?: (jumpMs: number) => void;
}

// WAL + FULL: an acknowledged write is on the disk. The small cache is on purpose: with 256 MB one claim in fifty took
// 1 to 4 ms of CPU, with 16 MB none of 20,000 did. Checkpoints come at 4,000 pages, so that one stall is shared by many.
// SQLite's own waiting is kept short, as BusyRetry waits more fairly: with 100 ms a process that wanted the lock now and
// then waited three times as long beside one that always did.
const PRAGMAS = [
  "busy_timeout = 10",
  "journal_mode = WAL",
  "synchronous = FULL",
  "foreign_keys = ON",
  "trusted_schema = OFF",
  "cell_size_check = ON",
  "cache_size = -16384",
  "wal_autocheckpoint = 4000",
  "journal_size_limit = 67108864",
  "temp_store = MEMORY",
];

/** How long a write that may be left out waits for the lock. */
const BRIEFLY_MS = 100;

/** Opens (and where needed makes and migrates) the SQLite store. Several processes may have one file open (R56). */
export function openSqlite(options: SqliteOptions): Store {
  return opened(options, (driver) => {
    prepare(driver);
    migrate(driver, undefined, options.migrate);
    return new SqliteStore(driver, options, new OpenedFile(options.path));
  });
}

/** Brings the file's schema up to date, making the file where there is none. */
export function migrateSqlite(path: string): Migrated {
  return opened({ path }, (driver) => {
    prepare(driver);
    const migrated = migrate(driver);
    driver.close();
    return migrated;
  });
}

/** Looks at the file's schema and changes nothing. */
export function schemaOfSqlite(path: string): SchemaState {
  if (!existsSync(path)) return NO_SQLITE_SCHEMA;
  return opened({ path }, (driver) => {
    const state = sqliteSchema(driver);
    driver.close();
    return state;
  });
}

/** The work's result on the opened file; a fault closes the file and comes out as one of ours. */
function opened<T>(options: SqliteOptions, work: (driver: SqliteDriver) => T): T {
  refuseNetworkFileSystem(options.path);
  let driver: SqliteDriver | undefined;
  try {
    driver = openDriver(options.path, options.driver);
    return work(driver);
  } catch (fault) {
    driver?.close();
    throw translateSqliteFault(fault, options.path);
  }
}

function prepare(driver: SqliteDriver): void {
  new BusyRetry().run(() => {
    for (const pragma of PRAGMAS) driver.exec(`PRAGMA ${pragma}`);
  });
}

const FROZEN = "SELECT 1 FROM holds WHERE ended_at IS NULL LIMIT 1";
const UNLANDED = "SELECT 1 FROM unlanded WHERE ended_at IS NULL LIMIT 1";
/** So old may the persisted time get where nothing is written. */
const PERSIST_CLOCK_MS = 5_000;
const WAITED = "SELECT 1 FROM waits WHERE ended_at IS NULL LIMIT 1";
const PARKED = "SELECT 1 FROM tasks WHERE parked_by IS NOT NULL LIMIT 1";

class SqliteStore implements Store {
  readonly transactionsMax = 1;
  readonly watchEveryMs = 50;
  readonly #db: SqliteDb;
  readonly #clock: DecidingClock;
  readonly #busy = new BusyRetry();
  readonly #verbs: Verbs;
  /** The version of other processes' writes that the kept rows belong to. */
  #keptVersion = -1;
  #seenVersion = -1;
  #persistedMs = 0;

  constructor(
    private readonly driver: SqliteDriver,
    private readonly options: SqliteOptions,
    private readonly file: OpenedFile,
  ) {
    const db = new SqliteDb(driver);
    this.#db = db;
    this.#clock = new DecidingClock(options.time ?? systemTime, options.onForwardJump ?? (() => {}));
    this.#verbs = verbsOf(db);
  }

  async transaction<T>(mode: TransactionMode, body: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      this.file.requireSame();
      const begin = () => this.#begin(mode === "read" ? "read" : "write");
      const tx = (mode === "write_if_free" ? new BusyRetry(BRIEFLY_MS) : this.#busy).run(begin);
      const result = await body(tx);
      if (mode !== "read") this.#persistClock(tx.nowMs);
      this.driver.exec("COMMIT");
      return result;
    } catch (fault) {
      this.#rollback();
      throw isDibsError(fault) ? fault : translateSqliteFault(fault, this.options.path);
    }
  }

  /** Takes the locks and reads the clock. A read may find the file locked only now: a restart after a crash repairs it. */
  #begin(mode: "read" | "write"): Tx {
    this.driver.exec(mode === "write" ? "BEGIN IMMEDIATE" : "BEGIN");
    try {
      return this.#open();
    } catch (fault) {
      this.#rollback();
      throw fault;
    }
  }

  #open(): Tx {
    const db = this.#db;
    db.writes = 0;
    const row = db.get<KeptClock>("SELECT last_ms, offset_ms, boot, uptime_ms FROM clock WHERE id = 1");
    if (!row)
      throw new DibsError("store_unavailable", "The store has lost its clock row; restore it from a backup.", {});
    const nowMs = this.#clock.read(row);
    this.#persistedMs = row.last_ms;
    const othersVersion = this.#readDataVersion();
    if (othersVersion !== this.#keptVersion) {
      this.#keptVersion = othersVersion;
      db.kept.clear();
    }
    return {
      nowMs,
      othersVersion,
      othersQueueVersion: othersVersion,
      shared: false,
      mayBeDue: db.isDue(nowMs),
      get frozen() {
        return db.get(FROZEN) !== undefined;
      },
      get unlandedKnown() {
        return db.get(UNLANDED) !== undefined;
      },
      get parked() {
        return db.get(PARKED) !== undefined;
      },
      get writes() {
        return db.writes;
      },
      get waited() {
        return db.get(WAITED) !== undefined;
      },
      freed: [],
      ...this.#verbs,
    };
  }

  /**
   * With what was written, so that no later clock is behind it. A look that wrote nothing leaves the file as it was: calls
   * that wait in several processes would otherwise wake each other for ever.
   */
  #persistClock(nowMs: number): void {
    const db = this.#db;
    if (nowMs <= this.#persistedMs || (db.writes === 0 && nowMs - this.#persistedMs < PERSIST_CLOCK_MS)) return;
    const { boot, uptime_ms } = this.#clock.mark();
    db.run("UPDATE clock SET last_ms = ?, boot = ?, uptime_ms = ? WHERE id = 1", nowMs, boot, uptime_ms);
  }

  #rollback(): void {
    this.#db.kept.clear();
    try {
      this.driver.exec("ROLLBACK");
    } catch {
      // SQLite has rolled back by itself already (disk full, I/O error): the first fault is the one to tell.
    }
  }

  #readDataVersion(): number {
    return this.#db.get<{ data_version: number }>("PRAGMA data_version")?.data_version ?? -1;
  }

  changedElsewhere(): boolean {
    let version: number;
    try {
      this.file.requireSame();
      version = this.#readDataVersion();
    } catch {
      // Nobody waits for this answer who could be told; who looks because of it learns what is wrong.
      return true;
    }
    const changed = version !== this.#seenVersion && this.#seenVersion !== -1;
    this.#seenVersion = version;
    return changed;
  }

  close(): void {
    this.driver.close();
  }
}
