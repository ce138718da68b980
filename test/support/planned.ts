import { openDriver, type SqlValue } from "../../src/store/driver.js";
import { migrate } from "../../src/store/migrate.js";
import { type Db, KeptTasks } from "../../src/store/sql/db.js";
import { SqliteDb } from "../../src/store/sqlite-db.js";

/** SQLite's plan for what a verb asks a database for, in place of the rows. */
export async function planned(ask: (db: Db) => unknown): Promise<string> {
  const driver = openDriver(":memory:");
  migrate(driver);
  const plan: string[] = [];
  const all = (sql: string, ...params: SqlValue[]) => {
    const steps = driver.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...params) as { detail: string }[];
    plan.push(...steps.map((step) => step.detail));
    return [];
  };
  const unused = () => {
    throw new Error("Only reads are planned.");
  };
  const get = (sql: string, ...params: SqlValue[]) => void all(sql, ...params);
  const { dialect, locks } = new SqliteDb(driver);
  await ask({
    dialect,
    locks,
    all,
    get,
    run: unused,
    insert: unused,
    append: unused,
    change: unused,
    kept: new KeptTasks(),
  });
  driver.close();
  return plan.join("\n");
}
