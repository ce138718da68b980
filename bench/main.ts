import { mkdirSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { open, operations } from "dibs";
import { caller, claimLatencies, embeddedCycles } from "./cycles.js";
import { median, ms, percentile, progress, ratio, table, whole } from "./figures.js";
import { bareRate, dibsRate } from "./http.js";
import { rawCycles } from "./raw.js";
import { scratchFolder, seed } from "./scratch.js";
import { tasksSql } from "./seeds.js";

/**
 * `npm run bench`: all figures in one run, medians of several rounds (`-- --rounds=1` for fewer). `--quick` for a look at
 * whether it works.
 */
const quick = process.argv.includes("--quick");
const asked = process.argv.find((argument) => argument.startsWith("--rounds="))?.slice("--rounds=".length);
const ROUNDS = Number(asked ?? (quick ? 1 : 3));
const SECONDS = quick ? 1 : 4;
const MANY = quick ? 20_000 : 1_000_000;
const CLAIMS = quick ? 50 : 2_000;
const WORKERS = [1, 10, 50];

const folder = scratchFolder();
let stores = 0;
const freshPath = () => folder.path(`store-${stores++}/dibs.db`);

async function rounds(name: string, work: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    values.push(await work());
    progress(`${name}, round ${round} of ${ROUNDS}: ${whole(values.at(-1) ?? 0)}`);
  }
  return median(values);
}

async function throughput(): Promise<void> {
  const rows: string[][] = [];
  for (const workers of WORKERS) {
    const backlog = SECONDS * 15_000;
    const embedded = await rounds(`embedded, ${workers} workers, cycles/s`, () =>
      embeddedCycles(freshPath(), workers, SECONDS, backlog),
    );
    const raw = await rounds(`SQLite alone, ${workers} together, cycles/s`, async () => {
      mkdirSync(folder.path(`store-${stores}`));
      return rawCycles(freshPath(), workers, SECONDS);
    });
    const bare = await rounds(`bare framework, ${workers} connections, requests/s`, () => bareRate(workers, SECONDS));
    const http = await rounds(`Dibs over HTTP, ${workers} workers, requests/s`, () =>
      dibsRate(freshPath(), workers, SECONDS, backlog),
    );
    rows.push([
      String(workers),
      whole(embedded),
      whole(raw),
      ratio(embedded / raw),
      whole(http / 2),
      whole(http),
      whole(bare),
      ratio(http / bare),
    ]);
  }
  const columns = [
    "workers",
    "embedded cycles/s",
    "SQLite alone",
    "ratio",
    "HTTP cycles/s",
    "HTTP POST/s",
    "bare POST/s",
    "Dibs / bare",
  ];
  table("Claim and complete, synchronous=FULL (a cycle is two requests)", columns, rows);
  console.log(
    "SQLite alone: two bare UPDATEs a cycle on one narrow table, committed in groups as large as the workers.",
  );
}

interface Backlog {
  readonly name: string;
  readonly sql: () => string;
  readonly labels?: string[];
}

const BACKLOGS: readonly Backlog[] = [
  { name: "1,000 ready", sql: () => tasksSql({ count: 1_000 }) },
  { name: `${whole(MANY)} ready`, sql: () => tasksSql({ count: MANY }) },
  {
    name: `${whole(MANY)} ready, a label that 1 in 10,000 has`,
    sql: () => tasksSql({ count: MANY }),
    labels: ["rare"],
  },
  {
    name: `${whole(MANY / 2)} assigned to others ahead`,
    sql: () =>
      `${tasksSql({ count: MANY / 2, priority: 4, assignedTo: "somebody-else" })}; ${tasksSql({ count: 1_000 })}`,
  },
  {
    name: `${whole(MANY / 10)} leases that lapsed`,
    sql: () => `${tasksSql({ count: MANY / 10, lapsed: true })}; ${tasksSql({ count: 1_000 })}`,
  },
];

async function latency(): Promise<void> {
  const rows: string[][] = [];
  let first: number | undefined;
  for (const backlog of BACKLOGS) {
    const all: number[][] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const path = freshPath();
      // One claim before the seed, so that the store has the agents and sessions that the seed refers to.
      const store = await open({ store: `sqlite:${path}` });
      await store.call(operations.create_task, { content: "first" }, caller("worker"));
      await store.call(operations.claim_next_task, {}, caller("worker"));
      await store.close();
      seed(path, backlog.sql());
      all.push(await claimLatencies(path, CLAIMS, backlog.labels));
      progress(`${backlog.name}, round ${round} of ${ROUNDS}: p99 ${ms(percentile(all.at(-1) ?? [], 99))}`);
    }
    const p50 = median(all.map((values) => percentile(values, 50)));
    const p99 = median(all.map((values) => percentile(values, 99)));
    first ??= p99;
    const worst = Math.max(...all.flat());
    rows.push([backlog.name, ms(p50), ms(p99), ms(worst), ratio(p99 / first)]);
  }
  table("One claim at a time, synchronous=FULL", ["backlog", "p50", "p99", "worst", "p99 / first row"], rows);
}

console.log(
  `Dibs on Node ${process.versions.node}; ${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB; ` +
    `${ROUNDS} rounds of ${SECONDS} s, medians; client and server share the machine.`,
);
try {
  await throughput();
  await latency();
} finally {
  folder.remove();
}
