import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { open } from "dibs";
import { createTasks } from "./cycles.js";
import { perSecond } from "./figures.js";
import { Connection } from "./http-client.js";

const ADMIN_KEY = "bench-admin-key-bench-admin-key";

async function startServer(...args: string[]): Promise<{ port: number; stop: () => Promise<void> }> {
  const script = fileURLToPath(new URL("./http-server.js", import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  return {
    port: Number(chunk.toString()),
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

/** Requests per second of `work`, repeated on `connections` connections at once. */
async function rateOf(
  connections: readonly Connection[],
  seconds: number,
  work: (connection: Connection) => Promise<number>,
): Promise<number> {
  for (const connection of connections) await work(connection);
  let requests = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() < endsAt) {
        const done = await work(connection);
        requests += done;
      }
    }),
  );
  return perSecond(requests, performance.now() - startedAt);
}

/** POST requests per second of the bare framework. */
export async function bareRate(workers: number, seconds: number): Promise<number> {
  const server = await startServer("bare");
  const connections = Array.from({ length: workers }, () => new Connection(server.port, ADMIN_KEY));
  const rate = await rateOf(connections, seconds, async (connection) => {
    await connection.post("/v1/tasks/claim", '{"labels":["invoices"],"lease_seconds":300}');
    return 1;
  });
  for (const connection of connections) connection.close();
  await server.stop();
  return rate;
}

/** POST requests per second of Dibs: each worker with a key of its own claims a task and completes it, two requests. */
export async function dibsRate(path: string, workers: number, seconds: number, backlog: number): Promise<number> {
  const store = await open({ store: `sqlite:${path}` });
  await createTasks(store, backlog);
  await store.close();
  const server = await startServer("dibs", path, ADMIN_KEY);
  const admin = new Connection(server.port, ADMIN_KEY);
  const connections: Connection[] = [];
  for (let at = 0; at < workers; at += 1) {
    const { key } = JSON.parse(await admin.post("/v1/agents", JSON.stringify({ name: `worker-${at}` })));
    connections.push(new Connection(server.port, key));
  }
  const rate = await rateOf(connections, seconds, async (connection) => {
    const { task } = JSON.parse(await connection.post("/v1/tasks/claim", '{"lease_seconds":300}'));
    if (task === null) throw new Error("The backlog ran out; give the benchmark a larger one.");
    await connection.post(`/v1/tasks/${task.id}/complete`, `{"lease_id":"${task.lease_id}","result":{"ok":true}}`);
    return 2;
  });
  for (const connection of [admin, ...connections]) connection.close();
  await server.stop();
  return rate;
}
