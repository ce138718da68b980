import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, type RunnerTask, test } from "vitest";
import { openDriver } from "../src/store/driver.js";
import { openPostgres } from "../src/store/postgres.js";
import { openSqlite } from "../src/store/sqlite.js";
import { storeConformance } from "./store-conformance.js";
import { FakeTime } from "./support/fake-time.js";
import { freshDatabase } from "./support/postgres.js";
import { QUICK_DISK } from "./support/quick-disk.js";

const DRIVERS = (["better-sqlite3", "node:sqlite"] as const).filter((name) => {
  try {
    openDriver(":memory:", name).close();
    return true;
  } catch {
    return false;
  }
});

for (const driver of DRIVERS) {
  storeConformance(`SQLite through ${driver}`, () => {
    const folder = mkdtempSync(join(QUICK_DISK, "dibs-store-"));
    const time = new FakeTime();
    return {
      open: () => openSqlite({ path: join(folder, "dibs.db"), driver, time }),
      pass: (ms) => time.pass(ms),
      remove: () => rmSync(folder, { recursive: true, force: true }),
    };
  });
}

storeConformance("PostgreSQL", () => {
  const time = new FakeTime();
  const database = freshDatabase(inject("postgres"));
  return {
    open: async () => openPostgres({ url: (await database).url, time }),
    atOnce: true,
    pass: (ms) => time.pass(ms),
    remove: async () => (await database).drop(),
  };
});

test("every store is put through the same tests, as many and by the same names, none skipped for one alone", ({
  task,
}) => {
  const testsOf: Record<string, string[]> = {};
  const list = (store: string, within: string, tasks: readonly RunnerTask[]): void => {
    for (const each of tasks) {
      const name = `${within} > ${each.name}`;
      if (each.type === "suite") list(store, name, each.tasks);
      else testsOf[store] = [...(testsOf[store] ?? []), `${name} (${each.mode})`];
    }
  };
  for (const suite of task.file.tasks) {
    const [store = "", part] = suite.name.split(": ");
    if (suite.type === "suite" && part !== undefined) list(store, part, suite.tasks);
  }
  const { PostgreSQL: onPostgres, ...onSqlite } = testsOf;
  expect(onPostgres?.length).toBeGreaterThan(20);
  expect(Object.keys(onSqlite)).toEqual(DRIVERS.map((driver) => `SQLite through ${driver}`));
  for (const tests of Object.values(onSqlite)) expect(tests).toEqual(onPostgres);
});

test("the driver is tried that this Node has: its own SQLite from 24 on, better-sqlite3 before", () => {
  const own = Number(process.versions.node.split(".")[0]) >= 24;
  expect(DRIVERS).toContain(own ? "node:sqlite" : "better-sqlite3");
});
