import { type OpenStore, open, operations } from "dibs";
import { caller, claimOne, createTasks } from "./cycles.js";
import { ms, percentile, progress, table, whole } from "./figures.js";
import { startPostgres } from "./peers/postgres-server.js";
import { scratchFolder } from "./scratch.js";

/**
 * `npm run bench -- blocked`: a million tasks of which 100,000 wait for one of ten others, on SQLite and on PostgreSQL.
 * How long a claim takes, with them and before they were there; then each blocker is completed, and who waits for its
 * dependents in a waiting call gets one. `--quick` for a look at whether it works.
 */
const quick = process.argv.includes("--quick");
const READY = quick ? 5_000 : 900_000;
const FEW = 1_000;
const BLOCKERS = quick ? 3 : 10;
const DEPENDENTS = quick ? 500 : 10_000;
const CLAIMS = quick ? 50 : 2_000;

const planner = caller("planner");

async function claims(store: OpenStore, name: string): Promise<string[]> {
  const latencies: number[] = [];
  for (let at = 0; at < CLAIMS; at += 1) latencies.push(await claimOne(store));
  const [p50, p99] = [percentile(latencies, 50), percentile(latencies, 99)];
  progress(`${name}: p50 ${ms(p50)}, p99 ${ms(p99)}`);
  return [name, ms(p50), ms(p99), ms(Math.max(...latencies))];
}

/** Tasks that nobody else's claim finds, each waiting for the blocker. */
async function addDependents(store: OpenStore, blocker: string, label: string): Promise<void> {
  for (let made = 0; made < DEPENDENTS; made += 1000) {
    const tasks = Array.from({ length: Math.min(1000, DEPENDENTS - made) }, (_, at) => ({
      content: `dependent ${made + at}`,
      depends_on: [blocker],
      labels: [label],
    }));
    await store.call(operations.create_tasks, { tasks }, planner);
  }
}

interface Blocker {
  readonly id: string;
  readonly label: string;
}

async function addBlocked(store: OpenStore): Promise<Blocker[]> {
  const blockers: Blocker[] = [];
  for (let at = 0; at < BLOCKERS; at += 1) {
    const { id } = (await store.call(operations.create_task, { content: `blocker ${at}`, priority: 1 }, planner)).body;
    await addDependents(store, id, `behind-${at}`);
    blockers.push({ id, label: `behind-${at}` });
  }
  return blockers;
}

/** Milliseconds until the completion is answered, and until who waited for a dependent has one. */
async function unblock(store: OpenStore, { id, label }: Blocker): Promise<{ answered: number; woken: number }> {
  const { task } = (await store.call(operations.claim_task, { task_id: id }, planner)).body;
  const waiting = store.call(operations.claim_next_task, { labels: [label], wait_seconds: 60 }, caller("waiter"));
  await new Promise((resolve) => setTimeout(resolve, 200));
  const startedAt = performance.now();
  const woke = waiting.then(({ body }) => {
    if (!body.task) throw new Error(`Who waited for ${label} got nothing.`);
    return performance.now() - startedAt;
  });
  await store.call(operations.complete_task, { task_id: id, lease_id: task.lease_id ?? undefined }, planner);
  const answered = performance.now() - startedAt;
  return { answered, woken: await woke };
}

async function measure(on: string, url: string, settle: () => Promise<void>): Promise<void> {
  const store = await open({ store: url, thread: true });
  await createTasks(store, FEW);
  const rows = [await claims(store, `${whole(FEW)} ready`)];
  await createTasks(store, READY - FEW);
  await settle();
  rows.push(await claims(store, `${whole(READY)} ready`));
  const blockers = await addBlocked(store);
  await settle();
  const all = READY + BLOCKERS * (DEPENDENTS + 1);
  rows.push(await claims(store, `${whole(all)}, ${whole(BLOCKERS * DEPENDENTS)} of them blocked`));
  table(`${on}: one claim at a time`, ["backlog", "p50", "p99", "worst"], rows);
  const times: { answered: number; woken: number }[] = [];
  for (const blocker of blockers) times.push(await unblock(store, blocker));
  const row = (name: string, values: number[]) => [name, ms(percentile(values, 50)), ms(Math.max(...values))];
  const said = [
    row(
      "until it is answered",
      times.map(({ answered }) => answered),
    ),
    row(
      "until a waiting claim has a dependent",
      times.map(({ woken }) => woken),
    ),
  ];
  table(`${on}: completing a blocker of ${whole(DEPENDENTS)}, ${BLOCKERS} times`, ["", "p50", "worst"], said);
  await store.close();
}

const folder = scratchFolder();
const postgres = await startPostgres(folder.path("postgres"));
try {
  await measure("SQLite", `sqlite:${folder.path("store/dibs.db")}`, async () => {});
  await measure("PostgreSQL", await postgres.database("blocked"), () => postgres.settle("blocked"));
} finally {
  await postgres.stop();
  folder.remove();
}
process.exit(0);
