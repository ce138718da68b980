import type { Meter } from "./meter.js";

/** A way of using a queue: one row of the tables. */
export interface Mode {
  readonly name: string;
  readonly durability: string;
  /** Puts the store into this mode; modes of one subject share its store. */
  readonly prepare?: () => Promise<unknown> | undefined;
  /** Claims and completes until the meter is over, with so many workers at once. */
  readonly run: (workers: number, meter: Meter) => Promise<void>;
}

/** A queue with a store of its own, alive for the whole run. */
export interface Subject {
  readonly modes: readonly [Mode, ...Mode[]];
  /** Why it keeps no completed tasks, when it doesn't; "completed ones kept" would say nothing about it then. */
  readonly keepsNothing?: string;
  /** Puts so many tasks into the queue, by the fastest way its API has. */
  readonly seed: (count: number) => Promise<void>;
  readonly enqueueOne: () => Promise<unknown> | unknown;
  /** What a store does by itself some time after much was written, done now: not in the middle of a measurement. */
  readonly settle?: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** How a subject comes to be. When it can't, for want of a server, `open` throws and its rows say why. */
export interface Contestant {
  readonly name: string;
  readonly open: () => Promise<Subject>;
}

/** What every task carries: about 50 bytes of JSON. */
export const payload = (number: number) => ({ content: `task ${number} with a title of usual length` });

/** Calls `add` with payloads in groups of a thousand. */
export async function inThousands(
  count: number,
  add: (payloads: ReturnType<typeof payload>[]) => Promise<unknown> | unknown,
): Promise<void> {
  for (let made = 0; made < count; made += 1000) {
    const size = Math.min(1000, count - made);
    await add(Array.from({ length: size }, (_, at) => payload(made + at)));
  }
}
