import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { freePort } from "./free-port.js";

export interface RedisServer {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** A redis-server of this run's own in `folder`, with an append-only file. Throws when the machine has none. */
export async function startRedis(folder: string): Promise<RedisServer> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const settings = { port: String(port), bind: "127.0.0.1", dir: folder, save: "", appendonly: "yes" };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const server = spawn("redis-server", args, { stdio: "ignore" });
  try {
    await once(server, "spawn");
  } catch {
    throw new Error("no redis-server here");
  }
  // Also when the bench is interrupted.
  process.once("exit", () => server.kill());
  return {
    port,
    async stop() {
      if (server.exitCode !== null) return;
      server.kill("SIGTERM");
      await once(server, "exit");
    },
  };
}
