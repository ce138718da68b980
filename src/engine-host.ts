import { Worker } from "node:worker_threads";
import { DibsError } from "./contract/errors.js";
import type { AdminAction, AdminResult } from "./core/engine/admin.js";
import type { BatchResult, EngineCall } from "./core/engine/outcome.js";
import type { FromThread, ThreadData, ToThread } from "./engine-thread.js";
import type { StoreOptions } from "./store/open.js";

export type EngineOptions = Omit<StoreOptions, "onHint">;

/** An engine as its owner sees it, in this thread or in one of its own. */
export interface EngineHost {
  run(calls: readonly EngineCall[]): Promise<BatchResult>;
  admin<A extends AdminAction>(action: A, input: object): Promise<AdminResult<A>>;
  /** While on, `onChanged` is told of other processes' writes within 100 ms. */
  watch(on: boolean): void;
  close(): Promise<void>;
}

/**
 * The engine in a worker thread; resolves once the store is open, rejects with why it can't be. `onFault` is told of
 * faults in what it does of its own accord.
 */
export async function threadedEngine(
  url: string,
  { tends, ...options }: EngineOptions & { tends: boolean },
  onChanged: () => void,
  onFault: ((work: string, cause: string) => void) | undefined,
): Promise<EngineHost> {
  const { onForwardJump, time: _, ...plain } = options;
  const workerData: ThreadData = { url, tends, options: plain };
  const worker = new Worker(new URL("./engine-thread.js", import.meta.url), { workerData });
  const pending = new Map<number, { resolve: (value: never) => void; reject: (fault: unknown) => void }>();
  let nextId = 0;
  let ended: DibsError<"store_unavailable"> | undefined;
  const failAll = (fault: unknown) => {
    for (const { reject } of pending.values()) reject(fault);
    pending.clear();
  };
  const gone = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    worker.on("message", (message: FromThread) => {
      if (message.kind === "ready") resolve();
      else if (message.kind === "changed") onChanged();
      else if (message.kind === "fault") onFault?.(message.work, message.cause);
      else if (message.kind === "jump") onForwardJump?.(message.jumpMs);
      else if (message.kind === "done") {
        pending.get(message.id)?.resolve(message.result as never);
        pending.delete(message.id);
      } else {
        const fault = message.problem ? DibsError.fromProblem(message.problem) : new Error(message.message);
        if (message.id === -1) reject(fault);
        pending.get(message.id)?.reject(fault);
        pending.delete(message.id);
      }
    });
    worker.on("error", (fault) => {
      reject(fault);
      failAll(fault);
    });
    worker.on("exit", () => {
      ended = new DibsError("store_unavailable", "The engine's thread has ended; restart the server.", {});
      reject(ended);
      failAll(ended);
    });
  });
  const post = (message: ToThread) => worker.postMessage(message);
  const ask = <T>(message: (id: number) => ToThread): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      // A thread that is gone takes messages without a word.
      if (ended) return reject(ended);
      nextId += 1;
      pending.set(nextId, { resolve: resolve as (value: never) => void, reject });
      post(message(nextId));
    });
  return {
    run: (calls) => ask((id) => ({ kind: "run", id, calls: JSON.stringify(calls) })),
    admin: (action, input) => ask((id) => ({ kind: "admin", id, action, input })),
    watch: (on) => post({ kind: "watch", on }),
    async close() {
      post({ kind: "close" });
      await gone;
    },
  };
}
