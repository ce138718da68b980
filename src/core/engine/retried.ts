import { StoreBusy, StoreConflict } from "../port/store.js";

/** Two transactions that meet again and again part by the random pause between their tries. */
const TRIES_MAX = 12;
const PAUSE_MS = 2;

/** Runs work again while its transaction was undone because it met another's: nobody is shown that it did (R57). */
export async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (fault) {
      if (!(fault instanceof StoreConflict) || tries === TRIES_MAX) throw fault;
      await pause(tries);
    }
  }
}

/** What a caller is told of: a conflict that no try resolved is a store that is too busy, not a fault of Dibs's. */
export function told(fault: unknown): unknown {
  if (!(fault instanceof StoreConflict)) return fault;
  const message = "Other calls change the same things all the time; repeat the call in a moment.";
  return new StoreBusy("store_unavailable", message, {}, { cause: fault });
}

/** Longer with every try, by chance. */
export function pause(tries: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.random() * PAUSE_MS * tries);
  });
}
