import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { limit, measured, rounds } from "../support/campaign.js";
import { DibsCommand } from "../support/dibs-command.js";
import { QUICK_DISK } from "../support/quick-disk.js";
import type { RawHttp } from "../support/raw-http.js";
import { ServerProcess } from "../support/server-process.js";

/** About the file alone: the command line opens the same file as the server, without it. */

const WORKERS = { overHttp: 8, byCommand: 8 };
const PLAN = "drain";
/** So much longer steps are in the campaign. */
const SCALE = rounds(1, 4);
/** What a task costs over HTTP on a machine that does one other thing, ms. */
const QUIET_MS = 12;
/** No step gets more than so many times longer on a busy machine. */
const SLOWEST = 3;

interface Step {
  readonly key: string;
  readonly content: string;
  readonly depends_on: readonly string[];
  readonly priority: number;
}

/** A step's title begins with the seconds it takes. */
const SLEEP = "set -- $DIBS_TASK_CONTENT; sleep $1";
const secondsOf = (content: string) => Number(content.split(" ")[0]);

interface Ladder {
  readonly name: string;
  readonly diamonds: number;
  /** Of all its steps; 2 is usual. */
  readonly priority?: number;
  /** Of each of its steps, by the layer it is in and a number of its own. */
  readonly ms: (layer: number, nth: number) => number;
}

/**
 * Ladders of diamonds (a fork, two sides, a join that is the next fork), layer by layer side by side. The joins stand
 * before their sides: who took the steps as they are written, and cared for nothing else, would take them too early.
 */
function ladders(all: readonly Ladder[], scale: number): Step[] {
  const steps: Step[] = [];
  const most = Math.max(...all.map(({ diamonds }) => diamonds));
  const layers = [0, ...Array.from({ length: most }, (_, nth) => [2 * nth + 2, 2 * nth + 1]).flat()];
  for (const layer of layers) {
    for (const { name, diamonds, priority = 2, ms } of all) {
      if (layer > 2 * diamonds) continue;
      const at = (of: number, side: string) => `${name}-${of}${side}`;
      const odd = layer % 2 === 1;
      const before = odd ? [at(layer - 1, "")] : [at(layer - 1, "l"), at(layer - 1, "r")];
      for (const side of odd ? ["l", "r"] : [""]) {
        const key = at(layer, side);
        const seconds = (scale * ms(layer, steps.length)) / 1_000;
        steps.push({ key, content: `${seconds} step ${key}`, depends_on: layer === 0 ? [] : before, priority });
      }
    }
  }
  return steps;
}

/** Two plans of 500 steps: one bound by all there is to do, one by its longest chain. */
const SHAPES = [
  {
    // The later the shorter, so that any worker who takes the next one comes near the bound.
    what: "all its work",
    ladders: Array.from({ length: 20 }, (_, nth) => ({
      name: `c${nth}`,
      diamonds: 8,
      ms: (layer: number, at: number) => 600 - 75 * Math.min(4, Math.floor(layer / 4)) + ((at * 37) % 75),
    })),
    widest: 40,
    longest: 17,
  },
  {
    what: "its longest chain",
    ladders: [
      // What holds up the whole is urgent: in order of creation it would come last.
      { name: "spine", diamonds: 8, priority: 4, ms: () => 600 },
      ...Array.from({ length: 118 }, (_, nth) => ({ name: `c${nth}`, diamonds: 1, ms: () => 100 + (nth % 50) })),
      ...Array.from({ length: 3 }, (_, nth) => ({ name: `d${nth}`, diamonds: 0, ms: () => 100 })),
    ],
    widest: 2 + 2 * 118,
    longest: 17,
  },
] as const;

/**
 * How much longer steps are here and now, so that what Dibs needs between two of them is measured, and not what a busy
 * machine adds: on one three times as slow that was 13 % of the bound.
 */
async function scaleHere(http: RawHttp): Promise<number> {
  const session = (await http.post("/v1/sessions", { client: "pace" })).body.id;
  const cycle = async () => {
    const { id } = (await http.post("/v1/tasks", { content: "pace" })).body;
    const { lease_id } = (await http.post(`/v1/tasks/${id}/claim`, {}, { session })).body.task;
    expect((await http.post(`/v1/tasks/${id}/complete`, { lease_id }, { session })).status).toBe(200);
  };
  const startedAt = performance.now();
  for (let nth = 0; nth < 30; nth += 1) await cycle();
  const paceMs = (performance.now() - startedAt) / 30;
  measured("a task over HTTP", { paceMs });
  return SCALE * Math.min(SLOWEST, Math.max(1, paceMs / QUIET_MS));
}

/** Takes step after step over HTTP until the plan is done, each for as long as it says. */
async function workOverHttp(http: RawHttp, isDone: () => boolean): Promise<void> {
  const session = (await http.post("/v1/sessions", { client: "drain" })).body.id;
  while (!isDone()) {
    const { body } = await http.post("/v1/tasks/claim", { plan: PLAN, wait_seconds: 1 }, { session });
    if (!body.task) continue;
    const { id, lease_id, fence, content } = body.task;
    await pause(secondsOf(content) * 1_000);
    const completed = await http.post(`/v1/tasks/${id}/complete`, { lease_id, fence }, { session });
    expect(completed.status).toBe(200);
  }
  http.close();
}

interface Event {
  readonly type: string;
  readonly task_id: string;
  readonly at: string;
  readonly actor: { readonly agent_name: string };
}

/** The plan's events in the order of commits. */
async function eventsOf(http: RawHttp): Promise<Event[]> {
  const all: Event[] = [];
  for (let after = "0"; ; ) {
    const page = (await http.get(`/v1/events?types=task.claimed&types=task.completed&limit=1000&after=${after}`)).body;
    if (page.length === 0) return all;
    all.push(...page);
    after = page.at(-1).id;
  }
}

/** What the log says of the plan: that each step was done once and after its blockers, and how long all of it took. */
function judged(steps: readonly Step[], made: readonly { key: string; task_id: string }[], log: readonly Event[]) {
  const keyOf = new Map(made.map(({ key, task_id }) => [task_id, key]));
  const events = log.filter(({ task_id }) => keyOf.has(task_id));
  const times = new Map<string, { claimedMs?: number; completedMs?: number }>(steps.map(({ key }) => [key, {}]));
  const stepOf = new Map(steps.map((step) => [step.key, step]));
  const early: string[] = [];
  const twice: string[] = [];
  for (const { type, task_id, at } of events) {
    const key = keyOf.get(task_id) as string;
    const time = times.get(key) as { claimedMs?: number; completedMs?: number };
    const field = type === "task.claimed" ? "claimedMs" : "completedMs";
    if (time[field] !== undefined) twice.push(`${key} ${type}`);
    time[field] = Date.parse(at);
    const open = stepOf.get(key)?.depends_on.filter((name) => times.get(name)?.completedMs === undefined);
    if (open && open.length > 0) early.push(`${key} before ${open}`);
  }
  expect({ early, twice, events: events.length }).toEqual({ early: [], twice: [], events: 2 * steps.length });
  const tookMs = (key: string) => (times.get(key)?.completedMs ?? 0) - (times.get(key)?.claimedMs ?? 0);
  const chainMs = new Map<string, number>();
  // In the order in which they were completed, which is one of blockers first.
  const completed = [...steps].sort(
    (a, b) => (times.get(a.key)?.completedMs ?? 0) - (times.get(b.key)?.completedMs ?? 0),
  );
  for (const { key, depends_on } of completed)
    chainMs.set(key, tookMs(key) + Math.max(0, ...depends_on.map((name) => chainMs.get(name) ?? 0)));
  const workers = WORKERS.overHttp + WORKERS.byCommand;
  const total = steps.reduce((sum, { key }) => sum + tookMs(key), 0);
  const all = [...times.values()];
  const makespan = Math.max(...all.map((t) => t.completedMs ?? 0)) - Math.min(...all.map((t) => t.claimedMs ?? 0));
  return { makespan, criticalPath: Math.max(...chainMs.values()), workShared: total / workers };
}

// The machine's load is in the times as well as Dibs; what they are compared with are the steps as they really took.
test.each(SHAPES)(
  "a plan of 500 steps with diamonds, bound by $what, drained by 16 workers through HTTP and the command line on the file at once, is done in order, once, within 10 % of its bound (R14, R23, R27)",
  {
    timeout: limit(120_000),
  },
  async ({ what, widest, longest, ...shape }) => {
    const folder = mkdtempSync(join(QUICK_DISK, "dibs-drain-"));
    const store = `sqlite:${join(folder, "dibs.db")}`;
    const server = await ServerProcess.start({ store });
    onTestFinished(async () => {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    });
    const http = server.client();
    const steps = ladders(shape.ladders, await scaleHere(http));
    const made = await http.post("/v1/plans", { slug: PLAN, steps });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ steps_created: 500, widest_front: widest });
    expect(made.body.critical_path).toHaveLength(longest);

    let done = false;
    const work = ["work", "--plan", PLAN, "--count", String(WORKERS.byCommand), "--", "sh", "-c", SLEEP];
    const command = new DibsCommand(work, { DIBS_STORE: store, DIBS_AGENT: "crew" }, tmpdir());
    const overHttp = Array.from({ length: WORKERS.overHttp }, () => workOverHttp(server.client(), () => done));
    while (!done) {
      await pause(250);
      const { body } = await http.get(`/v1/tasks?plan=${PLAN}&status=completed&limit=1000`);
      done = body.length === steps.length;
    }
    await Promise.all(overHttp);
    command.signal("SIGTERM");
    await command.finished;

    const events = await eventsOf(http);
    const figures = judged(steps, made.body.steps, events);
    measured(`a plan of 500 steps by 16 workers, bound by ${what}`, figures);
    const { makespan, criticalPath, workShared } = figures;
    expect(criticalPath > workShared).toBe(what === "its longest chain");
    expect(makespan / Math.max(criticalPath, workShared), JSON.stringify(figures)).toBeLessThan(1.1);
    http.close();
  },
);
