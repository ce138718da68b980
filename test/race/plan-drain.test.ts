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

const CHAINS = 20;
const LADDER = 8;
const WORKERS = { overHttp: 8, byCommand: 8 };
const PLAN = "drain";
/** So long that what Dibs needs between two steps, some milliseconds, is measured and not what a busy machine adds. */
const SCALE = rounds(1, 4);

interface Step {
  readonly key: string;
  readonly content: string;
  readonly depends_on: readonly string[];
}

/** A step's title begins with the seconds it takes. */
const SLEEP = "set -- $DIBS_TASK_CONTENT; sleep $1";
const secondsOf = (content: string) => Number(content.split(" ")[0]);

/**
 * Twenty ladders of eight diamonds each (a fork, two sides, a join that is the next fork): 500 steps, the later the
 * shorter, so that any worker who takes the next one comes near the bound. The joins stand before their sides: who took
 * the steps as they are written, and cared for nothing else, would take them too early.
 */
function diamonds(): Step[] {
  const steps: Step[] = [];
  const layers = [0, ...Array.from({ length: LADDER }, (_, nth) => [2 * nth + 2, 2 * nth + 1]).flat()];
  for (const layer of layers) {
    for (let chain = 0; chain < CHAINS; chain += 1) {
      const at = (of: number, side: string) => `c${chain}-${of}${side}`;
      const odd = layer % 2 === 1;
      const before = odd ? [at(layer - 1, "")] : [at(layer - 1, "l"), at(layer - 1, "r")];
      for (const side of odd ? ["l", "r"] : [""]) {
        const ms = SCALE * (600 - 75 * Math.min(4, Math.floor(layer / 4)) + ((steps.length * 37) % 75));
        const key = at(layer, side);
        steps.push({ key, content: `${ms / 1_000} step ${key}`, depends_on: layer === 0 ? [] : before });
      }
    }
  }
  return steps;
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

/** The plan's events in the order of commits: of its steps alone, as nothing else is in the store. */
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
function judged(steps: readonly Step[], made: readonly { key: string; task_id: string }[], events: readonly Event[]) {
  const keyOf = new Map(made.map(({ key, task_id }) => [task_id, key]));
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
  const criticalPath = Math.max(...chainMs.values());
  return { makespan, bound: Math.max(criticalPath, total / workers), criticalPath };
}

// The machine's load is in the times as well as Dibs; what they are compared with are the steps as they really took.
test("a plan of 500 steps with diamonds, drained by 16 workers through HTTP and the command line on the file at once, is done in order, once, within 10 % of its bound (R14, R23, R27)", {
  timeout: limit(120_000),
}, async () => {
  const folder = mkdtempSync(join(QUICK_DISK, "dibs-drain-"));
  const store = `sqlite:${join(folder, "dibs.db")}`;
  const server = await ServerProcess.start({ store });
  onTestFinished(async () => {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  const http = server.client();
  const steps = diamonds();
  const made = await http.post("/v1/plans", { slug: PLAN, steps });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ steps_created: 500, widest_front: 2 * CHAINS });
  expect(made.body.critical_path).toHaveLength(2 * LADDER + 1);

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
  measured("a plan of 500 steps by 16 workers", figures);
  expect(figures.makespan / figures.bound, JSON.stringify(figures)).toBeLessThan(1.1);
  http.close();
});
