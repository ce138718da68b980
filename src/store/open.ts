import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DibsError } from "../contract/errors.js";
import type { Store } from "../core/store.js";
import { openSqlite, type SqliteOptions } from "./sqlite.js";

/** Opens the store a URL names: `sqlite:PATH`. The folder is made, readable by its owner only, where it is missing. */
export function openStore(url: string, options: Omit<SqliteOptions, "path"> = {}): Store {
  if (!url.startsWith("sqlite:")) {
    throw new DibsError("store_unavailable", `${url.split(":")[0]}: is not a store Dibs knows; use sqlite:PATH.`, {});
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
