import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { loops, type Meter } from "./meter.js";
import type { Contestant } from "./subject.js";

/**
 * The floor under every durable queue that commits one by one: a cycle is two appends of 4 KiB, each synced. In a noisy hour
 * one and the same queue made 140 durable cycles a second and 2,000 three measurements later; this row tells such hours.
 */
export function diskAlone(path: string): Contestant {
  return {
    name: "the disk alone",
    async open() {
      const file = openSync(path, "a");
      const page = Buffer.alloc(4096, 1);
      const commit = () => {
        writeSync(file, page);
        fdatasyncSync(file);
        return true;
      };
      const run = (workers: number, meter: Meter) => loops(workers, meter, commit, commit);
      return {
        modes: [{ name: "4 KiB appended and synced, twice a cycle", durability: "yes: fdatasync", run }],
        keepsNothing: "it knows no tasks",
        seed: async () => undefined,
        enqueueOne: commit,
        close: async () => closeSync(file),
      };
    },
  };
}
