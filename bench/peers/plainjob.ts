import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { loops, type Meter } from "./meter.js";
import { load, versionOf } from "./packages.js";
import { type Contestant, inThousands, payload } from "./subject.js";

interface Database {
  pragma(text: string): unknown;
}
interface Queue {
  add(type: string, data: object): unknown;
  addMany(type: string, data: object[]): unknown;
  getAndMarkJobAsProcessing(type: string): { id: number } | undefined;
  getJobById(id: number): { id: number } | undefined;
  markJobAsDone(id: number): void;
  close(): void;
}
interface Plainjob {
  better(database: Database): object;
  defineQueue(options: object): Queue;
}

const TYPE = "bench";

/** plainjob by the calls that its worker makes, without the look for scheduled jobs and the sleep. It works in this thread. */
export function plainjob(path: string): Contestant {
  return {
    name: `plainjob ${versionOf("plainjob")}`,
    async open() {
      const { better, defineQueue } = await load<Plainjob>("plainjob");
      const { default: Database } = await load<{ default: new (path: string) => Database }>("better-sqlite3");
      mkdirSync(dirname(path), { recursive: true });
      const database = new Database(path);
      const silent = () => undefined;
      const logger = { debug: silent, info: silent, warn: silent, error: silent };
      const queue = defineQueue({ connection: better(database), logger });
      const claim = () => {
        const marked = queue.getAndMarkJobAsProcessing(TYPE);
        return marked && queue.getJobById(marked.id);
      };
      const run = (workers: number, meter: Meter) => loops(workers, meter, claim, ({ id }) => queue.markJobAsDone(id));
      const synchronous = (level: string) => async () => void database.pragma(`synchronous = ${level}`);
      return {
        modes: [
          { name: "with synchronous=FULL", durability: "yes: synchronous=FULL", prepare: synchronous("FULL"), run },
          {
            name: "as it is by default",
            durability: "no: synchronous=NORMAL, a power cut takes the last commits",
            prepare: synchronous("NORMAL"),
            run,
          },
        ],
        seed: (count) => inThousands(count, (payloads) => queue.addMany(TYPE, payloads)),
        enqueueOne: () => queue.add(TYPE, payload(1)),
        close: async () => queue.close(),
      };
    },
  };
}
