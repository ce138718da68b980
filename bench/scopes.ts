import { type OpenStore, open, operations } from "dibs";
import { caller } from "./cycles.js";
import { ms, percentile, progress, ratio, table, whole } from "./figures.js";
import { startPostgres } from "./peers/postgres-server.js";
import { scratchFolder } from "./scratch.js";

/**
 * `npm run bench -- scopes`: how long a claim of one scope takes beside few live claims, and beside many in twenty projects,
 * on SQLite and on PostgreSQL. `--quick` for a look at whether it works.
 */
const quick = process.argv.includes("--quick");
const FEW = 100;
const MANY = quick ? 2_000 : 100_000;
const PROJECTS = 20;
const CLAIMS = quick ? 50 : 2_000;
/** An agent may hold 10,000 claims; twenty hold these. */
const AT_ONCE = 500;

const planner = caller("planner");

/** Claims of a tree five levels deep, so that names have neighbours and what lies above them. */
async function fill(store: OpenStore, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += AT_ONCE) {
    const count = Math.min(AT_ONCE, to - at);
    const scopes = Array.from({ length: count }, (_, nth) => {
      const n = at + nth;
      return `path:pkg${n % 50}/src/m${Math.floor(n / 50) % 40}/f${Math.floor(n / 2000)}/x${n}.ts`;
    });
    const project = Math.floor(at / AT_ONCE) % PROJECTS;
    const wanted = { scopes, intent: "bench", ttl_seconds: 3600, project_id: `p${project}` };
    await store.call(operations.claim_scopes, wanted, caller(`holder-${project}`));
  }
}

async function claims(store: OpenStore, name: string): Promise<{ row: string[]; p99: number }> {
  const latencies: number[] = [];
  for (let at = 0; at < CLAIMS; at += 1) {
    const project_id = `p${at % PROJECTS}`;
    const scopes = [`path:pkg${at % 50}/src/m${at % 40}/own/y${at}.ts`];
    const startedAt = performance.now();
    await store.call(operations.claim_scopes, { scopes, intent: "bench", project_id }, caller("worker"));
    latencies.push(performance.now() - startedAt);
    await store.call(operations.release_scopes, { scopes, project_id }, caller("worker"));
  }
  const [p50, p99] = [percentile(latencies, 50), percentile(latencies, 99)];
  progress(`${name}: p50 ${ms(p50)}, p99 ${ms(p99)}`);
  return { row: [name, ms(p50), ms(p99), ms(Math.max(...latencies))], p99 };
}

async function measure(on: string, url: string, settle: () => Promise<void>): Promise<void> {
  const store = await open({ store: url, thread: true });
  for (let at = 0; at < PROJECTS; at += 1) await store.call(operations.create_project, { key: `p${at}` }, planner);
  await fill(store, 0, FEW);
  await claims(store, "warm-up");
  await settle();
  const few = await claims(store, `${whole(FEW)} live claims`);
  await fill(store, FEW, MANY);
  await settle();
  const many = await claims(store, `${whole(MANY)} live claims in ${PROJECTS} projects`);
  const rows = [
    [...few.row, ratio(1)],
    [...many.row, ratio(many.p99 / few.p99)],
  ];
  table(`${on}: claiming one scope`, ["beside", "p50", "p99", "worst", "p99 / first row"], rows);
  await store.close();
}

const folder = scratchFolder();
const postgres = await startPostgres(folder.path("postgres"));
try {
  await measure("SQLite", `sqlite:${folder.path("store/dibs.db")}`, async () => {});
  await measure("PostgreSQL", await postgres.database("scopes"), () => postgres.settle("scopes"));
} finally {
  await postgres.stop();
  folder.remove();
}
process.exit(0);
