import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import type { SqlValue } from "../../src/store/driver.js";
import { PostgresDatabase } from "./postgres-database.js";
import { QUICK_DISK } from "./quick-disk.js";
import { brokenIn, StoreFile } from "./store-file.js";

declare module "vitest" {
  interface ProvidedContext {
    /** What the tests of this project keep their data in. */
    store: "sqlite" | "postgres";
  }
}

/** For tests that are about a file alone, each with its reason: `test.runIf(ON_SQLITE)`. */
export const ON_SQLITE = inject("store") === "sqlite";

/** A store of the test's own, whatever keeps it, and what no caller of Dibs can do: look into it and change it. */
export interface AnyStore {
  /** For `open` and DIBS_STORE. */
  readonly url: string;
  rows<T = Record<string, SqlValue>>(sql: string): Promise<T[]>;
  /** Statements that go together, and of which every process on the store learns. */
  exec(sql: string): Promise<void>;
  tables(): Promise<string[]>;
  /** Every row by table, but for those left out. */
  contents(without: ReadonlySet<string>): Promise<Record<string, Record<string, SqlValue>[]>>;
  /** All that is kept, as somebody finds it who steals the disk. */
  everything(): Promise<string>;
  /** What must hold of a store at any time and doesn't, one sentence each. */
  broken(): Promise<string[]>;
  remove(): Promise<void>;
}

/** A fresh store of the project's kind; `parent` is the folder for its file where it is one. */
export async function freshStore(parent = QUICK_DISK): Promise<AnyStore> {
  return ON_SQLITE ? new FreshFile(parent) : PostgresDatabase.fresh(inject("postgres"));
}

class FreshFile implements AnyStore {
  readonly #folder: string;
  readonly #file: StoreFile;
  readonly url: string;

  constructor(parent: string) {
    this.#folder = mkdtempSync(join(parent, "dibs-store-"));
    this.#file = new StoreFile(join(this.#folder, "dibs.db"));
    copyFileSync(inject("emptyFile"), this.#file.path);
    this.url = `sqlite:${this.#file.path}`;
  }

  async rows<T>(sql: string): Promise<T[]> {
    return this.#file.rows<T>(sql);
  }

  async exec(sql: string): Promise<void> {
    this.#file.exec(sql);
  }

  async tables(): Promise<string[]> {
    const named = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name";
    return this.#file.rows<{ name: string }>(named).map(({ name }) => name);
  }

  async contents(without: ReadonlySet<string>): Promise<Record<string, Record<string, SqlValue>[]>> {
    // Opened once: once a table made seventy times for each mistake that is to leave no trace.
    const tables = (await this.tables()).filter((name) => !without.has(name));
    return this.#file.snapshot((rows) =>
      Object.fromEntries(tables.map((name) => [name, rows<Record<string, SqlValue>>(`SELECT * FROM ${name}`)])),
    );
  }

  async everything(): Promise<string> {
    return readFileSync(this.#file.path).toString("latin1");
  }

  async broken(): Promise<string[]> {
    return brokenIn(this.#file);
  }

  async remove(): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
