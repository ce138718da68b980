import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DibsError } from "../contract/errors.js";
import type { Store } from "../core/port/store.js";
import type { Awaitable } from "../core/port/verbs.js";
import type { Migrated, SchemaState } from "./schema.js";
import { migrateSqlite, openSqlite, type SqliteOptions, schemaOfSqlite } from "./sqlite.js";

export interface StoreOptions extends Omit<SqliteOptions, "path"> {
  /** Told when another node says that something became claimable, where the store can pass that on. */
  readonly onHint?: () => void;
  /** Connections to a Postgres store, at most. */
  readonly connectionsMax?: number;
}

/**
 * Opens the store a URL names: `sqlite:PATH`, whose folder is made, readable by its owner only, where it is missing; or
 * `postgres://…`.
 */
export function openStore(url: string, options: StoreOptions = {}): Awaitable<Store> {
  if (isPostgres(url)) return openPostgresAt(url, options);
  return openSqlite({ ...options, path: pathIn(url) });
}

/** Brings the schema of the store that a URL names up to date, whatever DIBS_MIGRATE says; from which version to which. */
export async function migrateStore(url: string): Promise<Migrated> {
  if (!isPostgres(url)) return migrateSqlite(pathIn(url));
  const { migrateDatabase } = await import("./postgres-migrate.js");
  return migrateDatabase(url);
}

/** The version of the store's schema, and the one this code needs; changes nothing. */
export async function schemaOf(url: string): Promise<SchemaState> {
  if (!isPostgres(url)) return schemaOfSqlite(pathIn(url, { make: false }));
  const { schemaOfDatabase } = await import("./postgres-migrate.js");
  return schemaOfDatabase(url);
}

const isPostgres = (url: string) => /^postgres(ql)?:\/\//.test(url);

/** The file of a `sqlite:` URL; its folder is made. */
function pathIn(url: string, { make = true } = {}): string {
  if (!url.startsWith("sqlite:")) {
    const kind = url.split(":")[0];
    throw new DibsError(
      "store_unavailable",
      `${kind}: is not a store Dibs knows; use sqlite:PATH or postgres://USER@HOST/DATABASE.`,
      {},
    );
  }
  const path = resolve(url.slice("sqlite:".length));
  if (!make) return path;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault);
    throw new DibsError("store_unavailable", `The folder of ${path} can't be made: ${why}`, {}, { cause: fault });
  }
  return path;
}

/** The driver is loaded by those who need it. */
async function openPostgresAt(url: string, options: StoreOptions): Promise<Store> {
  const { openPostgres } = await import("./postgres.js");
  const { driver: _, ...rest } = options;
  return openPostgres({ ...rest, url });
}
