import { type OpenStore, open, operations } from "dibs";
import { caller, createTasks } from "./cycles.js";
import { median, perSecond, progress, ratio, table, whole } from "./figures.js";
import { startPostgres } from "./peers/postgres-server.js";
import { scratchFolder } from "./scratch.js";

/**
 * `npm run bench -- nodes`: whether a second node on the same PostgreSQL hinders the first: 50 workers on one node, on two,
 * and the first one's 25 with the second one idle and busy. `--quick` for a look at whether it works.
 */
const quick = process.argv.includes("--quick");
const ROUNDS = quick ? 1 : 3;
const SECONDS = quick ? 1 : 4;
const BACKLOG = quick ? 5_000 : 30_000;

/** Claim and complete until the time is over; how many cycles. */
async function work(node: OpenStore, agent: string, untilMs: number): Promise<number> {
  let cycles = 0;
  while (performance.now() < untilMs) {
    const { task } = (await node.call(operations.claim_next_task, {}, caller(agent))).body;
    if (!task) throw new Error("The queue was empty; its backlog was meant to last.");
    const done = { task_id: task.id, lease_id: task.lease_id ?? undefined };
    await node.call(operations.complete_task, done, caller(agent));
    cycles += 1;
  }
  return cycles;
}

/** Cycles a second of each node with so many workers. */
async function rates(nodes: readonly OpenStore[], workers: readonly number[]): Promise<number[]> {
  const startedAt = performance.now();
  const untilMs = startedAt + SECONDS * 1000;
  const counted = workers.map((count, at) => {
    const crew = Array.from({ length: count }, (_, nth) =>
      work(nodes[at] as OpenStore, `worker-${at}-${nth}`, untilMs),
    );
    return Promise.all(crew).then((cycles) => cycles.reduce((sum, each) => sum + each, 0));
  });
  const cycles = await Promise.all(counted);
  return cycles.map((each) => perSecond(each, performance.now() - startedAt));
}

const folder = scratchFolder();
const postgres = await startPostgres(folder.path("postgres"));
try {
  const url = await postgres.database("nodes");
  const nodes = [await open({ store: url, thread: true }), await open({ store: url, thread: true })];
  const PLAYS = [
    { name: "50 workers on one node", workers: [50, 0] },
    { name: "25 workers on each of two", workers: [25, 25] },
    { name: "25 workers on one, the other idle", workers: [25, 0] },
  ] as const;
  const measured = new Map<string, number[][]>();
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { name, workers } of PLAYS) {
      await createTasks(nodes[0] as OpenStore, BACKLOG / 3);
      await postgres.settle("nodes");
      const each = await rates(nodes, workers);
      // The first round warms up.
      if (round > 0) measured.set(name, [...(measured.get(name) ?? []), each]);
      progress(`${name}: ${each.map(whole).join(" + ")} cycles/s`);
    }
  }
  const total = (name: string) =>
    median((measured.get(name) ?? []).map((each) => each.reduce((sum, rate) => sum + rate, 0)));
  const first = total(PLAYS[0].name);
  const rows = PLAYS.map(({ name }) => [name, whole(total(name)), ratio(total(name) / first)]);
  table("Claim and complete on PostgreSQL, fsync on", ["", "cycles/s, all", "to the first"], rows);
  for (const node of nodes) await node.close();
} finally {
  await postgres.stop();
  folder.remove();
}
process.exit(0);
