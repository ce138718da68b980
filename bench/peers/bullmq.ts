import type { EventEmitter } from "node:events";
import { once } from "node:events";
import { loops, type Meter } from "./meter.js";
import { load, versionOf } from "./packages.js";
import { startRedis } from "./redis-server.js";
import { type Contestant, inThousands, type Mode, payload } from "./subject.js";

interface Job {
  moveToCompleted(result: object, token: string, fetchNext: boolean): Promise<unknown>;
}
interface Queue extends EventEmitter {
  add(name: string, data: object): Promise<unknown>;
  addBulk(jobs: { name: string; data: object }[]): Promise<unknown>;
  close(): Promise<void>;
}
interface Worker extends EventEmitter {
  getNextJob(token: string, options: { block: boolean }): Promise<Job | undefined>;
  close(): Promise<void>;
}
interface BullMq {
  Queue: new (name: string, options: object) => Queue;
  Worker: new (name: string, processor: (() => Promise<object>) | null, options: object) => Worker;
}
interface Redis {
  config(verb: "SET", name: string, value: string): Promise<unknown>;
  quit(): Promise<unknown>;
}

const QUEUE = "bench";
const LEVELS = [
  ["always", "yes: appendfsync always"],
  ["everysec", "no: appendfsync everysec, a power cut takes the last second"],
] as const;

/** BullMQ on a Redis of its own: jobs fetched by hand, which is claim one and complete one, and its own worker. */
export function bullmq(folder: string): Contestant {
  return {
    name: `BullMQ ${versionOf("bullmq")}`,
    async open() {
      const server = await startRedis(folder);
      const { Queue, Worker } = await load<BullMq>("bullmq");
      const { Redis } = await load<{ Redis: new (options: object) => Redis }>("ioredis");
      const connection = { host: "127.0.0.1", port: server.port };
      const redis = new Redis(connection);
      const queue = new Queue(QUEUE, { connection });
      // The worker that hands out jobs by hand has no processor; one object serves all loops over one connection.
      const hand = new Worker(QUEUE, null, { connection });
      const byHand = (workers: number, meter: Meter) =>
        loops(
          workers,
          meter,
          (worker) => hand.getNextJob(`token-${worker}`, { block: false }),
          (job, worker) => job.moveToCompleted({ ok: true }, `token-${worker}`, false),
        );
      const byWorker = async (workers: number, meter: Meter) => {
        const worker = new Worker(QUEUE, async () => ({ ok: true }), { connection, concurrency: workers });
        worker.on("error", () => undefined);
        worker.on("completed", () => {
          meter.took();
          meter.completed();
          if (meter.over) worker.emit("over");
        });
        await once(worker, "over");
        await worker.close();
      };
      const modes = LEVELS.flatMap(([level, durability]): Mode[] => {
        const prepare = () => redis.config("SET", "appendfsync", level);
        return [
          { name: `job by job (${level})`, durability, prepare, run: byHand },
          { name: `its worker (${level})`, durability, prepare, run: byWorker },
        ];
      }) as [Mode, ...Mode[]];
      return {
        modes,
        async seed(count) {
          await redis.config("SET", "appendfsync", "no");
          await inThousands(count, (payloads) => queue.addBulk(payloads.map((data) => ({ name: "job", data }))));
        },
        enqueueOne: () => queue.add("job", payload(1)),
        async close() {
          await hand.close();
          await queue.close();
          await redis.quit();
          await server.stop();
        },
      };
    },
  };
}
