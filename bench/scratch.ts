import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "./raw.js";

/** A folder for one run, removed at its end. DIBS_BENCH_DIR puts it on the disk to be measured. */
export function scratchFolder(): { path: (name: string) => string; remove: () => void } {
  const folder = mkdtempSync(join(process.env.DIBS_BENCH_DIR ?? tmpdir(), "dibs-bench-"));
  return { path: (name) => join(folder, name), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Runs SQL on a store's file, to put a million rows there in seconds; what is measured goes through Dibs. */
export function seed(path: string, sql: string): void {
  const database = openDatabase(path);
  database.exec("PRAGMA synchronous = OFF");
  database.exec(`BEGIN; ${sql}; COMMIT`);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}
