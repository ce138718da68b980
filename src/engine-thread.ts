import { parentPort, workerData } from "node:worker_threads";
import { isDibsError } from "./contract/errors.js";
import { type AdminAction, runAdmin } from "./core/admin.js";
import { Engine } from "./core/engine.js";
import type { EngineCall } from "./core/outcome.js";
import { openStore } from "./store/open.js";

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
  | { readonly kind: "jump"; readonly jumpMs: number };

const WATCH_MS = 50;

const port = parentPort;
if (!port) throw new Error("engine-thread runs as a worker thread.");
const send = (message: FromThread) => port.postMessage(message);

try {
  const { url, driver } = workerData as { url: string; driver?: "node:sqlite" | "better-sqlite3" };
  const onForwardJump = (jumpMs: number) => send({ kind: "jump", jumpMs });
  const store = openStore(url, driver === undefined ? { onForwardJump } : { driver, onForwardJump });
  const engine = new Engine(store);
  let watch: NodeJS.Timeout | undefined;
  // One batch at a time: a transaction is open across awaits.
  let last: Promise<unknown> = Promise.resolve();

  const answer = (id: number, work: () => Promise<unknown>) => {
    last = last.then(work).then(
      (result) => send({ kind: "done", id, result }),
      (fault) => {
        const problem = isDibsError(fault) ? fault.toProblem() : null;
        send({ kind: "failed", id, problem, message: String(fault?.stack ?? fault) });
      },
    );
  };

  port.on("message", (message: ToThread) => {
    if (message.kind === "run") answer(message.id, () => engine.run(JSON.parse(message.calls) as EngineCall[]));
    else if (message.kind === "admin") answer(message.id, () => runAdmin(store, message.action, message.input));
    else if (message.kind === "watch") {
      clearInterval(watch);
      if (message.on) {
        // What was committed between the waiter's look and now is found by one more look.
        void store.changedElsewhere();
        send({ kind: "changed" });
        watch = setInterval(async () => {
          if (await store.changedElsewhere()) send({ kind: "changed" });
        }, WATCH_MS);
      }
    } else {
      clearInterval(watch);
      void last.then(() => {
        store.close();
        port.close();
      });
    }
  });
  send({ kind: "ready" });
} catch (fault) {
  const problem = isDibsError(fault) ? fault.toProblem() : null;
  send({
    kind: "failed",
    id: -1,
    problem,
    message: fault instanceof Error ? (fault.stack ?? fault.message) : String(fault),
  });
  port.close();
}
