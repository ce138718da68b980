import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem, type } from "node:os";
import { progress, whole } from "../figures.js";
import { scratchFolder } from "../scratch.js";
import { bullmq } from "./bullmq.js";
import { dibs } from "./dibs.js";
import { diskAlone } from "./disk.js";
import { graphileWorker } from "./graphile-worker.js";
import { versionOf } from "./packages.js";
import { pgBoss } from "./pg-boss.js";
import { plainjob } from "./plainjob.js";
import { type PostgresServer, startPostgres } from "./postgres-server.js";
import { cyclesTable, enqueueTable, HOW } from "./report.js";
import { openAll, play, playEnqueueing, type Row, type Scenario } from "./run.js";
import type { Contestant } from "./subject.js";

/**
 * `npm run bench -- peers`: Dibs beside the queues people use today, all real, in one run; writes bench/RESULTS.md.
 * `--rounds=N` for more or fewer, `--quick` for a look at whether it works, which writes nothing.
 */
const quick = process.argv.includes("--quick");
const asked = process.argv.find((argument) => argument.startsWith("--rounds="))?.slice("--rounds=".length);
const ROUNDS = Number(asked ?? (quick ? 1 : 3));
const SECONDS = quick ? 0.5 : 2;
const FEW = quick ? 5_000 : 20_000;
const MANY = quick ? 10_000 : 500_000;

const SCENARIOS: readonly Scenario[] = [
  { name: `${whole(FEW)} ready`, ready: FEW, completed: 0 },
  { name: `${whole(MANY)} ready`, ready: MANY, completed: 0 },
  { name: `${whole(MANY)} completed ones kept, ${whole(FEW)} ready`, ready: FEW, completed: MANY },
];

const folder = scratchFolder();
process.once("exit", () => folder.remove());
const loadAtStart = loadavg()[0] ?? 0;

function contestants(postgres: PostgresServer | Error): Contestant[] {
  const server = () => {
    if (postgres instanceof Error) throw postgres;
    return postgres;
  };
  const durability = postgres instanceof Error ? "" : postgres.durability;
  return [
    dibs({ name: "SQLite", durability: "yes: synchronous=FULL", url: () => `sqlite:${folder.path("dibs/dibs.db")}` }),
    dibs({
      name: "PostgreSQL",
      durability,
      url: () => server().database("dibs"),
      settle: () => server().settle("dibs"),
    }),
    pgBoss(server),
    graphileWorker(server),
    bullmq(folder.path("redis")),
    plainjob(folder.path("plainjob/queue.db")),
    diskAlone(folder.path("disk")),
  ];
}

/** The processor, memory and versions that the figures belong to. */
function machine(postgres: PostgresServer | Error): string {
  const processor = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()}`;
  const versions = [
    `Node ${process.versions.node}`,
    postgres instanceof Error ? "no PostgreSQL" : `PostgreSQL ${postgres.version}`,
    redisVersion(),
    `better-sqlite3 ${versionOf("better-sqlite3")}`,
    `pg ${versionOf("pg")}`,
    `ioredis ${versionOf("ioredis")}`,
  ];
  return (
    `${processor}. ${versions.join(", ")}. Rounds: ${ROUNDS}, of ${SECONDS} s, ${new Date().toISOString().slice(0, 10)}. ` +
    `Load average before: ${loadAtStart.toFixed(1)}, after: ${(loadavg()[0] ?? 0).toFixed(1)}; before above 0.5, or after above 3, others used the machine too.`
  );
}

function redisVersion(): string {
  try {
    const said = execFileSync("redis-server", ["--version"], { encoding: "utf8" });
    return `Redis ${/v=(\S+)/.exec(said)?.[1]}`;
  } catch {
    return "no Redis";
  }
}

/** Measures it all; `publish` gets the report after each part, as a run takes long and may be cut off. */
async function measure(postgres: PostgresServer | Error, publish: (report: string) => void): Promise<void> {
  const all = contestants(postgres);
  const { runners, missing } = await openAll(all, SECONDS);
  const place = (row: Row) => all.findIndex(({ name }) => name === row.contestant);
  const inOrder = (rows: readonly Row[]) => rows.toSorted((a, b) => place(a) - place(b));
  const parts: string[] = [];
  const add = (heading: string, table: (rows: Row[]) => string, rows: Row[]) => {
    parts.push(`## ${heading}\n\n${table(inOrder([...rows, ...missing]))}\n`);
    publish([`# Dibs beside other queues\n\n${machine(postgres)}\n\n${HOW}`, ...parts].join("\n"));
  };
  try {
    const [first, ...others] = SCENARIOS as [Scenario, ...Scenario[]];
    add(first.name, cyclesTable, await play(first, runners, ROUNDS));
    add("Enqueueing one by one", enqueueTable, await playEnqueueing(runners, ROUNDS));
    for (const scenario of others) add(scenario.name, cyclesTable, await play(scenario, runners, ROUNDS));
  } finally {
    for (const runner of runners) await runner.close();
  }
}

const postgres = await startPostgres(folder.path("postgres")).catch((fault) => new Error(`no PostgreSQL: ${fault}`));
try {
  let report = "";
  await measure(postgres, (soFar) => {
    report = soFar;
    if (!quick) writeFileSync(new URL("../../RESULTS.md", import.meta.url), report);
  });
  console.log(`\n${report}`);
  if (quick) progress("a quick look: bench/RESULTS.md is left as it is");
} finally {
  if (!(postgres instanceof Error)) await postgres.stop();
  folder.remove();
}
process.exit(0);
