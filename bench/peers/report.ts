import { ms, ratio, whole } from "../figures.js";
import { type Row, WORKERS } from "./run.js";

const NOTHING = "–";

interface Column {
  readonly head: string;
  readonly cell: (row: Row) => string;
}

/** A Markdown table. A row that has nothing measured says why in its first figure's place. */
function table(columns: readonly Column[], rows: readonly Row[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const heads = columns.map(({ head }) => head);
  return [
    line(heads),
    line(heads.map(() => "---")),
    ...rows.map((row) => line(columns.map(({ cell }) => cell(row)))),
  ].join("\n");
}

/** How many times as much the reference does at each number of workers; nothing beside itself or when it is missing. */
function ratios(reference: Row | undefined, head: string): Column[] {
  if (!reference || reference.rates.length === 0) return [];
  const cell = (row: Row) =>
    row === reference || row.rates.length === 0
      ? NOTHING
      : row.rates.map((rate, at) => ratio((reference.rates[at] ?? Number.NaN) / rate)).join(" / ");
  return [{ head: `${head} ÷ this`, cell }];
}

const ofWorkers = WORKERS.join(" / ");

function columns(rows: readonly Row[], unit: string): Column[] {
  const dibs = rows.filter(({ contestant }) => contestant.startsWith("Dibs"));
  const on = (store: string) => dibs.find(({ contestant }) => contestant.endsWith(store));
  return [
    { head: "queue", cell: ({ contestant, mode }) => (mode ? `${contestant}, ${mode}` : contestant) },
    { head: "durable", cell: ({ durability }) => durability || NOTHING },
    ...WORKERS.map((workers, at) => ({
      head: `${unit}, ${workers === 1 ? "1 worker" : workers}`,
      cell: ({ rates, missing }: Row) => (at === 0 && missing ? missing : figure(rates[at])),
    })),
    ...ratios(on("SQLite"), "Dibs on SQLite"),
    ...ratios(on("PostgreSQL"), "Dibs on PostgreSQL"),
  ];
}

const figure = (value: number | undefined) => (value === undefined ? NOTHING : whole(value));

/** Cycles a second and the latency of a claim. */
export function cyclesTable(rows: readonly Row[]): string {
  const claim: Column = {
    head: "a claim with 1 worker, p50 / p99",
    cell: ({ p50Ms, p99Ms }) => (p50Ms === undefined || p99Ms === undefined ? NOTHING : `${ms(p50Ms)} / ${ms(p99Ms)}`),
  };
  return table([...columns(rows, "cycles/s"), claim], rows);
}

export function enqueueTable(rows: readonly Row[]): string {
  return table(columns(rows, "enqueued/s"), rows);
}

/** What a reader must know to read the tables. */
export const HOW = `- A cycle is: claim one task, complete it; a task carries about 50 bytes of JSON and its work is nothing. The ratios are
  at ${ofWorkers} workers: how many times the cycles of Dibs are of that row's, in this very run. Above 1 Dibs does more.
- All workers of a queue are loops in one Node process, the bench's. Servers are processes of their own on the same machine.
  plainjob works in the bench's own thread (its calls are synchronous), Dibs in a thread beside it. Nobody sleeps between polls.
- Each figure is the median of all rounds; the queues take turns in every round. 0.5 s of warm-up are not counted. A measurement ends when its time is over or when 70 % of the backlog is gone, which is then filled up again;
  PostgreSQL is vacuumed and checkpointed, and the disk synced, before each. Pools and settings are each library's defaults.
- The latency of a claim is the caller's, and of the whole batch where a batch is fetched. BullMQ's own worker claims the next
  job with the completion of the last, so it has none; graphile-worker's own takes the next one before the last one's completion
  is confirmed; with a localQueue it claims from memory what its pool has locked ahead.
- "batch" rows are the queues' own batch modes: a worker (or pool) that dies takes a whole batch with it until it is timed out,
  and idle workers can't have what another has locked. Dibs' rows claim one task and complete one task each call.
- \`npm run bench -- peers\` measures this anew; ratios, not figures, can be compared between machines.
`;
