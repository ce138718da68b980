import { createRequire } from "node:module";
import { perSecond } from "./figures.js";

interface Statement {
  all(...params: unknown[]): unknown[];
  run(...params: unknown[]): unknown;
}
interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export function openDatabase(path: string): Database {
  const require = createRequire(import.meta.url);
  try {
    return new (require("better-sqlite3") as new (path: string) => Database)(path);
  } catch {
    const { DatabaseSync } = require("node:sqlite") as { DatabaseSync: new (path: string) => Database };
    return new DatabaseSync(path);
  }
}

/**
 * The floor under any queue on SQLite: two bare UPDATEs a cycle on a narrow table with one index, no key, session, event
 * or answer; `group` cycles share each of the two commits. What Dibs adds is told by the distance to it, in one run.
 */
export function rawCycles(path: string, group: number, seconds: number): number {
  const database = openDatabase(path);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, state INT, payload TEXT)");
  database.exec("CREATE INDEX ready ON t (id) WHERE state = 0");
  database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
    INSERT INTO t SELECT i, 0, hex(randomblob(100)) FROM n`);
  const claim = database.prepare(
    "UPDATE t SET state = 1 WHERE id = (SELECT id FROM t WHERE state = 0 ORDER BY id LIMIT 1) RETURNING id, payload",
  );
  const complete = database.prepare("UPDATE t SET state = 2 WHERE id = ?");
  let cycles = 0;
  const startedAt = performance.now();
  while (performance.now() - startedAt < seconds * 1000) {
    database.exec("BEGIN IMMEDIATE");
    const rows = Array.from({ length: group }, () => claim.all()[0] as { id: number });
    database.exec("COMMIT; BEGIN IMMEDIATE");
    for (const { id } of rows) complete.run(id);
    database.exec("COMMIT");
    cycles += group;
  }
  const rate = perSecond(cycles, performance.now() - startedAt);
  database.close();
  return rate;
}
