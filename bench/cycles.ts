import { type OpenStore, open, operations } from "dibs";
import { perSecond } from "./figures.js";

export const caller = (agent: string) => ({ identity: { kind: "file" as const, agent } });

/** Creates tasks in batches of a thousand, as a planner would. */
export async function createTasks(store: OpenStore, count: number): Promise<void> {
  for (let made = 0; made < count; made += 1000) {
    const size = Math.min(1000, count - made);
    const tasks = Array.from({ length: size }, (_, at) => ({
      content: `task ${made + at} with a title of usual length`,
    }));
    await store.call(operations.create_tasks, { tasks }, caller("planner"));
  }
}

/** Claim→complete cycles per second of the embedded engine: `workers` loops in this process, synchronous=FULL. */
export async function embeddedCycles(path: string, workers: number, seconds: number, backlog: number): Promise<number> {
  const store = await open({ store: `sqlite:${path}`, thread: true });
  await createTasks(store, backlog);
  const cycle = async (agent: string): Promise<boolean> => {
    const { task } = (await store.call(operations.claim_next_task, {}, caller(agent))).body;
    if (!task) return false;
    const done = { task_id: task.id, lease_id: task.lease_id ?? undefined, result: { ok: true } };
    await store.call(operations.complete_task, done, caller(agent));
    return true;
  };
  await Promise.all(Array.from({ length: workers }, (_, at) => cycle(`worker-${at}`)));
  let cycles = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  await Promise.all(
    Array.from({ length: workers }, async (_, at) => {
      while (performance.now() < endsAt && (await cycle(`worker-${at}`))) cycles += 1;
    }),
  );
  const rate = perSecond(cycles, performance.now() - startedAt);
  await store.close();
  return rate;
}

/** Latencies in ms of single claims, one after another; each is completed outside the measured time. */
export async function claimLatencies(path: string, count: number, labels?: string[]): Promise<number[]> {
  const store = await open({ store: `sqlite:${path}`, thread: true });
  const latencies: number[] = [];
  for (let at = 0; at < count; at += 1) latencies.push(await claimOne(store, labels));
  await store.close();
  return latencies;
}

/** The latency of one claim; its task is completed outside the measured time, and the backlog keeps its size. */
export async function claimOne(store: OpenStore, labels?: string[]): Promise<number> {
  const startedAt = performance.now();
  const { task } = (await store.call(operations.claim_next_task, labels ? { labels } : {}, caller("worker"))).body;
  const latency = performance.now() - startedAt;
  if (!task) throw new Error("The queue was empty; its backlog was meant to last.");
  const done = { task_id: task.id, lease_id: task.lease_id ?? undefined };
  await store.call(operations.complete_task, done, caller("worker"));
  await store.call(
    operations.create_task,
    labels ? { content: "next", labels } : { content: "next" },
    caller("worker"),
  );
  return latency;
}
