import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DibsError } from "../contract/errors.js";
import type { Store } from "../core/store.js";
import type { Awaitable } from "../core/verbs.js";
import { openSqlite, type SqliteOptions } from "./sqlite.js";

export interface StoreOptions extends Omit<SqliteOptions, "path"> {
  /** Told when another node says that something became claimable, where the store can pass that on. */
  readonly onHint?: () => void;
  /** Whether a schema that is too old is brought up to date (the default), or refused; SQLite's always is. */
  readonly migrate?: boolean;
}

/**
 * Opens the store a URL names: `sqlite:PATH`, whose folder is made, readable by its owner only, where it is missing; or
 * `postgres://…`.
 */
export function openStore(url: string, options: StoreOptions = {}): Awaitable<Store> {
  if (/^postgres(ql)?:\/\//.test(url)) return openPostgresAt(url, options);
  if (!url.startsWith("sqlite:")) {
    const kind = url.split(":")[0];
    throw new DibsError(
      "store_unavailable",
      `${kind}: is not a store Dibs knows; use sqlite:PATH or postgres://USER@HOST/DATABASE.`,
      {},
    );
  }
  const path = resolve(url.slice("sqlite:".length));
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault);
    throw new DibsError("store_unavailable", `The folder of ${path} can't be made: ${why}`, {}, { cause: fault });
  }
  return openSqlite({ ...options, path });
}

/** The driver is loaded by those who need it. */
async function openPostgresAt(url: string, options: StoreOptions): Promise<Store> {
  const { openPostgres } = await import("./postgres.js");
  const { driver: _, ...rest } = options;
  return openPostgres({ ...rest, url });
}
