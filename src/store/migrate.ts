import { DibsError } from "../contract/errors.js";
import { ENGINE_MIN, isUnsafeEngine, type SqliteDriver } from "./driver.js";
import { queueTables } from "./migrations/sqlite/001-queue.js";
import { clockUptime } from "./migrations/sqlite/002-clock.js";
import { duties } from "./migrations/sqlite/003-duties.js";
import { BusyRetry } from "./sqlite-faults.js";

/** In order; a step once released is never changed. */
const MIGRATIONS: readonly string[] = [queueTables, clockUptime, duties];

/** Brings the file to this code's schema, once, whoever comes first; refuses a newer schema and an unsafe engine. */
export function migrate(driver: SqliteDriver, migrations: readonly string[] = MIGRATIONS): void {
  refuseOldEngine(driver);
  if (new BusyRetry().run(() => schemaVersion(driver)) === migrations.length) return;
  new BusyRetry().run(() => driver.exec("BEGIN IMMEDIATE"));
  try {
    const version = schemaVersion(driver);
    if (version > migrations.length) {
      throw new DibsError(
        "store_unavailable",
        `The store's schema is version ${version}, made by a newer Dibs; this one knows ${migrations.length}. Update Dibs.`,
        {},
      );
    }
    for (const step of migrations.slice(version)) driver.exec(step);
    driver.exec(`PRAGMA user_version = ${migrations.length}`);
    driver.exec("COMMIT");
  } catch (fault) {
    driver.exec("ROLLBACK");
    throw fault;
  }
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
