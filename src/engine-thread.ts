import { parentPort, workerData } from "node:worker_threads";
import { isDibsError } from "./contract/errors.js";
import type { AdminAction } from "./core/engine/admin.js";
import { Engines } from "./core/engine/engines.js";
import { causeOf, type EngineCall } from "./core/engine/outcome.js";
import { openStore, type StoreOptions } from "./store/open.js";

/** The engine in a thread of its own, so that a busy or checkpointing file never stops a server's event loop (R56). */

export type ToThread =
  | { readonly kind: "run"; readonly id: number; readonly calls: string }
  | { readonly kind: "admin"; readonly id: number; readonly action: AdminAction; readonly input: object }
  | { readonly kind: "watch"; readonly on: boolean }
  | { readonly kind: "close" };

export type FromThread =
  | { readonly kind: "done"; readonly id: number; readonly result: unknown }
  | { readonly kind: "failed"; readonly id: number; readonly problem: object | null; readonly message: string }
  | { readonly kind: "ready" }
  | { readonly kind: "changed" }
  /** Of work that nobody asked for, and nobody else is told of. */
  | { readonly kind: "fault"; readonly work: string; readonly cause: string }
  | { readonly kind: "jump"; readonly jumpMs: number };

/** What the thread is given to open the store; what can't cross threads stays behind. */
export interface ThreadData {
  readonly url: string;
  /** Whether it also does what is due when nobody calls. */
  readonly tends: boolean;
  readonly options: Omit<StoreOptions, "onHint" | "onForwardJump" | "time">;
}

const port = parentPort;
if (!port) throw new Error("engine-thread runs as a worker thread.");
const send = (message: FromThread) => port.postMessage(message);
const onChanged = () => send({ kind: "changed" });

try {
  const { url, tends, options } = workerData as ThreadData;
  const onForwardJump = (jumpMs: number) => send({ kind: "jump", jumpMs });
  const store = await openStore(url, { ...options, onForwardJump, onHint: onChanged });
  const engines = new Engines(store, onChanged);

  if (tends) engines.tend((cause) => send({ kind: "fault", work: "housekeeping", cause }));

  const answer = async (id: number, work: Promise<unknown>) => {
    try {
      send({ kind: "done", id, result: await work });
    } catch (fault) {
      const problem = isDibsError(fault) ? fault.toProblem() : null;
      send({ kind: "failed", id, problem, message: causeOf(fault) });
    }
  };

  port.on("message", (message: ToThread) => {
    if (message.kind === "run") void answer(message.id, engines.run(JSON.parse(message.calls) as EngineCall[]));
    else if (message.kind === "admin") void answer(message.id, engines.admin(message.action, message.input));
    else if (message.kind === "watch") engines.watch(message.on);
    else void engines.close().finally(() => port.close());
  });
  send({ kind: "ready" });
} catch (fault) {
  const problem = isDibsError(fault) ? fault.toProblem() : null;
  send({ kind: "failed", id: -1, problem, message: causeOf(fault) });
  port.close();
}
