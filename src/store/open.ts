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
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return openSqlite({ ...options, path });
}
