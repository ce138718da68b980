import { exportStore as exported, importStore as imported } from "../core/engine/dump.js";
import { told } from "../core/engine/retried.js";
import type { Store } from "../core/port/store.js";
import { openStore } from "./open.js";

/** Everything the store holds, as lines of JSON (`core/engine/dump.ts`). */
export function exportStore(url: string, write: (line: string) => Promise<void>): Promise<{ records: number }> {
  return opened(url, (store) => exported(store, write));
}

/** Fills a new store with such lines, all or nothing; they are asked for again when the transaction has to run again. */
export function importStore(url: string, lines: () => AsyncIterable<string>): Promise<{ records: number }> {
  return opened(url, (store) => imported(store, lines));
}

async function opened<T>(url: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url);
  try {
    return await work(store);
  } catch (fault) {
    throw told(fault);
  } finally {
    await store.close();
  }
}
