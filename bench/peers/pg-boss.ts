import { loops, type Meter } from "./meter.js";
import { load, versionOf } from "./packages.js";
import type { PostgresServer } from "./postgres-server.js";
import { type Contestant, inThousands, payload } from "./subject.js";

interface Boss {
  start(): Promise<unknown>;
  on(event: "error", listener: () => void): void;
  createQueue(name: string): Promise<void>;
  send(name: string, data: object): Promise<unknown>;
  insert(name: string, jobs: { data: object }[]): Promise<unknown>;
  fetch(name: string, options?: { batchSize: number }): Promise<{ id: string }[]>;
  complete(name: string, id: string | string[], data?: object): Promise<unknown>;
  stop(options: { graceful: boolean }): Promise<void>;
}

const QUEUE = "bench";
const BATCH = 100;

/** pg-boss by `fetch` and `complete`, the documented way for a worker with a loop of its own: `work` polls twice a second at most. */
export function pgBoss(server: () => PostgresServer): Contestant {
  return {
    name: `pg-boss ${versionOf("pg-boss")}`,
    async open() {
      const { PgBoss } = await load<{ PgBoss: new (url: string) => Boss }>("pg-boss");
      const { durability, database, settle } = server();
      const boss = new PgBoss(await database("pg_boss"));
      boss.on("error", () => undefined);
      await boss.start();
      await boss.createQueue(QUEUE);
      const single = (workers: number, meter: Meter) =>
        loops(
          workers,
          meter,
          async () => (await boss.fetch(QUEUE))[0],
          ({ id }) => boss.complete(QUEUE, id, { ok: true }),
        );
      const fetchBatch = async () => {
        const jobs = await boss.fetch(QUEUE, { batchSize: BATCH });
        return jobs.length > 0 ? jobs : undefined;
      };
      const completeBatch = (jobs: { id: string }[]) =>
        boss.complete(
          QUEUE,
          jobs.map(({ id }) => id),
        );
      const batch = (workers: number, meter: Meter) =>
        loops(workers, meter, fetchBatch, completeBatch, (jobs) => jobs.length);
      return {
        modes: [
          { name: "fetch one, complete one", durability, run: single },
          { name: `batch: fetch ${BATCH}, complete ${BATCH}`, durability, run: batch },
        ],
        seed: (count) =>
          inThousands(count, (payloads) =>
            boss.insert(
              QUEUE,
              payloads.map((data) => ({ data })),
            ),
          ),
        enqueueOne: () => boss.send(QUEUE, payload(1)),
        settle: () => settle("pg_boss"),
        close: () => boss.stop({ graceful: false }),
      };
    },
  };
}
