import { Engines } from "./core/engine/engines.js";
import type { EngineHost, EngineOptions } from "./engine-host.js";
import { openStore } from "./store/open.js";

/** The engine in the caller's own thread: no start-up cost, for commands that make a few calls. */
export async function inlineEngine(url: string, options: EngineOptions, onChanged: () => void): Promise<EngineHost> {
  const engines = new Engines(await openStore(url, { ...options, onHint: onChanged }), onChanged);
  return {
    run: (calls) => engines.run(calls),
    admin: (action, input) => engines.admin(action, input),
    watch: (on) => engines.watch(on),
    close: () => engines.close(),
  };
}
