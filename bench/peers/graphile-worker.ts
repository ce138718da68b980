import { EventEmitter, once } from "node:events";
import type { Meter } from "./meter.js";
import { load, versionOf } from "./packages.js";
import type { PostgresServer } from "./postgres-server.js";
import { type Contestant, inThousands, payload } from "./subject.js";

interface Runner {
  /** Ends with the runner, also by a fault. */
  readonly promise: Promise<void>;
  stop(): Promise<void>;
}
interface Utils {
  migrate(): Promise<void>;
  addJob(identifier: string, payload: object): Promise<unknown>;
  addJobs(jobs: { identifier: string; payload: object }[]): Promise<unknown>;
  release(): Promise<void>;
}
interface GraphileWorker {
  Logger: new (factory: () => () => void) => object;
  makeWorkerUtils(options: object): Promise<Utils>;
  run(options: object): Promise<Runner>;
}
interface WorkerEvent {
  readonly worker: { readonly workerId: string };
}

const TASK = "bench";
/** As its documentation on performance has it, but completions wait for nothing: with K busy workers they meet anyway. */
const BATCHED = { localQueue: { size: 500 }, completeJobBatchDelay: 0 };

/** graphile-worker by its own runner, which is the one way it has; a task does nothing. */
export function graphileWorker(server: () => PostgresServer): Contestant {
  return {
    name: `graphile-worker ${versionOf("graphile-worker")}`,
    async open() {
      const { Logger, makeWorkerUtils, run } = await load<GraphileWorker>("graphile-worker");
      const { durability, database, settle } = server();
      const shared = { connectionString: await database("graphile_worker"), logger: new Logger(() => () => undefined) };
      const utils = await makeWorkerUtils(shared);
      await utils.migrate();
      const drive = (worker: object, claimsSeen: boolean) => async (workers: number, meter: Meter) => {
        const events = measuring(meter, claimsSeen);
        const options = { ...shared, events, concurrency: workers, noHandleSignals: true, preset: { worker } };
        const over = once(events, "over");
        const runner = await run({ ...options, taskList: { [TASK]: () => undefined } });
        await Promise.race([over, runner.promise]);
        // It sends a completion without waiting for it, and stop() doesn't wait for all either: of 1,633 counted with 50
        // workers in 1.5 s, 48 were still on their way. They are left in its favour.
        await runner.stop();
      };
      return {
        modes: [
          { name: "its worker", durability, run: drive({}, true) },
          { name: "batch: localQueue 500, completions batched", durability, run: drive(BATCHED, false) },
        ],
        keepsNothing: "it deletes completed jobs",
        seed: (count) =>
          inThousands(count, (payloads) =>
            utils.addJobs(payloads.map((payload) => ({ identifier: TASK, payload, maxAttempts: 25 }))),
          ),
        enqueueOne: () => utils.addJob(TASK, payload(1)),
        settle: () => settle("graphile_worker"),
        close: () => utils.release(),
      };
    },
  };
}

/** Tells the meter of claims and completions, and emits `over` when it is. */
function measuring(meter: Meter, claimsSeen: boolean): EventEmitter {
  const events = new EventEmitter();
  const askedAt = new Map<string, number>();
  events.on("worker:getJob:start", ({ worker }: WorkerEvent) => askedAt.set(worker.workerId, performance.now()));
  events.on("job:start", ({ worker }: WorkerEvent) => {
    if (claimsSeen) meter.waited(performance.now() - (askedAt.get(worker.workerId) ?? Number.NaN));
    meter.took();
  });
  events.on("job:complete", () => {
    meter.completed();
    if (meter.over) events.emit("over");
  });
  events.on("worker:getJob:empty", () => events.emit("over"));
  return events;
}
