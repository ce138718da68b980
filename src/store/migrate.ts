import { DibsError } from "../contract/errors.js";
import { ENGINE_MIN, isUnsafeEngine, type SqliteDriver } from "./driver.js";
import { queueTables } from "./migrations/sqlite/001-queue.js";
import { clockUptime } from "./migrations/sqlite/002-clock.js";
import { duties } from "./migrations/sqlite/003-duties.js";
import { dependencies } from "./migrations/sqlite/004-dependencies.js";
import { sessionFamilies } from "./migrations/sqlite/005-session-families.js";
import { recurrences } from "./migrations/sqlite/006-recurrences.js";
import { plans } from "./migrations/sqlite/007-plans.js";
import { delegation } from "./migrations/sqlite/008-delegation.js";
import { evidence } from "./migrations/sqlite/009-evidence.js";
import { scopes } from "./migrations/sqlite/010-scopes.js";
import { repositories } from "./migrations/sqlite/011-repositories.js";
import { waits } from "./migrations/sqlite/012-waits.js";
import { handoffs } from "./migrations/sqlite/013-handoffs.js";
import { scopeCapacities } from "./migrations/sqlite/014-scope-capacities.js";
import { holds } from "./migrations/sqlite/015-holds.js";
import { unlanded } from "./migrations/sqlite/016-unlanded.js";
import { whatIsOver } from "./migrations/sqlite/017-what-is-over.js";
import { type Migrated, type SchemaState, schemaTooNew, schemaTooOld } from "./schema.js";
import { BusyRetry } from "./sqlite-faults.js";

/** In order; a step once released is never changed. */
const MIGRATIONS: readonly string[] = [
  queueTables,
  clockUptime,
  duties,
  dependencies,
  sessionFamilies,
  recurrences,
  plans,
  delegation,
  evidence,
  scopes,
  repositories,
  waits,
  handoffs,
  scopeCapacities,
  holds,
  unlanded,
  whatIsOver,
];

/**
 * Brings the file to this code's schema, once, whoever comes first; refuses a newer schema, an unsafe engine, and
 * without `apply` an older schema.
 */
export function migrate(driver: SqliteDriver, migrations: readonly string[] = MIGRATIONS, apply = true): Migrated {
  const { version: before, known } = sqliteSchema(driver, migrations);
  if (before === known) return { from: before, to: before };
  if (!apply) throw schemaTooOld(before, known);
  new BusyRetry().run(() => driver.exec("BEGIN IMMEDIATE"));
  try {
    const version = schemaVersion(driver);
    if (version > known) throw schemaTooNew(version, known);
    for (const step of migrations.slice(version)) driver.exec(step);
    driver.exec(`PRAGMA user_version = ${known}`);
    driver.exec("COMMIT");
    return { from: version, to: known };
  } catch (fault) {
    driver.exec("ROLLBACK");
    throw fault;
  }
}

/** What a file that isn't there would need. */
export const NO_SQLITE_SCHEMA: SchemaState = { version: 0, known: MIGRATIONS.length };

/** The file's version and this code's; refuses a newer schema and an unsafe engine. */
export function sqliteSchema(driver: SqliteDriver, migrations: readonly string[] = MIGRATIONS): SchemaState {
  refuseOldEngine(driver);
  const version = new BusyRetry().run(() => schemaVersion(driver));
  if (version > migrations.length) throw schemaTooNew(version, migrations.length);
  return { version, known: migrations.length };
}

function schemaVersion(driver: SqliteDriver): number {
  const [row] = driver.prepare("PRAGMA user_version").all() as { user_version: number }[];
  return row?.user_version ?? 0;
}

function refuseOldEngine(driver: SqliteDriver): void {
  const [row] = driver.prepare("SELECT sqlite_version() AS version").all() as { version: string }[];
  if (isUnsafeEngine(row?.version ?? "0")) {
    throw new DibsError(
      "store_unavailable",
      `${driver.name} brings SQLite ${row?.version}, which can corrupt shared files; Dibs needs ${ENGINE_MIN.join(".")} or later. ` +
        "Install better-sqlite3 12 or a newer Node.",
      {},
    );
  }
}
