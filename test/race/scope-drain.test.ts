import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { limit, measured } from "../support/campaign.js";
import { type Actor, FreshStore } from "../support/fresh-store.js";
import { QUICK_DISK } from "../support/quick-disk.js";

const TASKS = 300;
const WORKERS = 10;
/** As many for one worker; more would only take time. */
const ALONE = 30;
/**
 * So many times what the store needs for a task takes the work: what is compared are the collisions, not the machine.
 * The collisions leave about eight of ten workers busy; with work of only ten cycles, a store that a busy machine
 * makes twice as slow for ten workers as it was when the pace was taken is enough to bring that below four.
 */
const WORK_CYCLES = 40;
/** Six folders of nine files: sixty names. */
const FOLDERS = 6;
const FILES = 9;

/** One to three scopes of a task, spread over all: mostly files, one in thirty a whole folder. */
function scopesOf(nth: number): string[] {
  if (nth % 30 === 29) return [`path:d${(nth * 7) % FOLDERS}`];
  return Array.from({ length: 1 + (nth % 3) }, (_, at) => {
    const file = (nth * 37 + at * 23) % (FOLDERS * FILES);
    return `path:d${Math.floor(file / FILES)}/f${file % FILES}`;
  });
}

/** The files a scope covers. */
function filesOf(scope: string): string[] {
  const name = scope.slice("path:".length);
  return name.includes("/") ? [name] : Array.from({ length: FILES }, (_, at) => `${name}/f${at}`);
}

/** What the store needs to hand out a task and take it back here and now, ms. */
async function cycleMs(fresh: FreshStore, worker: Actor): Promise<number> {
  const startedAt = performance.now();
  for (let nth = 0; nth < 20; nth += 1) {
    const { id } = await fresh.task({ content: "pace" });
    await fresh.claim(id, worker);
    await fresh.ask("cancel_task", { task_id: id }, worker);
  }
  return (performance.now() - startedAt) / 20;
}

interface Drain {
  readonly tasks: number;
  readonly workMs: number;
  readonly folder: string;
}

/** Drains tasks, and gives the milliseconds for each; each holder makes a file for every name it covers, which must not be there yet. */
async function drain(fresh: FreshStore, workers: readonly Actor[], how: Drain): Promise<number> {
  const { workMs, folder } = how;
  const tasks = Array.from({ length: how.tasks }, (_, nth) => ({ content: `task ${nth}`, scopes: scopesOf(nth) }));
  await fresh.ask("create_tasks", { tasks }, fresh.root);
  let left = how.tasks;
  const work = async (worker: Actor) => {
    while (left > 0) {
      const { task } = await fresh.ask("claim_next_task", { wait_seconds: 1 }, worker);
      if (!task) continue;
      const files = task.scopes
        .flatMap(({ scope }) => filesOf(scope))
        .map((file) => join(folder, file.replace("/", "-")));
      for (const file of files) closeSync(openSync(file, "wx"));
      await pause(workMs);
      for (const file of files) rmSync(file);
      left -= 1;
      await fresh.ask("complete_task", { task_id: task.id, lease_id: task.lease_id as string }, worker);
      // Who waits when there is nothing more does so for a second.
      doneAt = performance.now();
    }
  };
  const startedAt = performance.now();
  let doneAt = startedAt;
  await Promise.all(workers.map(work));
  return (doneAt - startedAt) / how.tasks;
}

/** From the log: at no instant two tasks were held whose scopes overlap, and each was done once. */
async function judge(fresh: FreshStore): Promise<void> {
  const scopes = new Map<string, string[]>();
  for (const status of ["completed"] as const) {
    for (let cursor: string | undefined; ; ) {
      const page = await fresh.answer("list_tasks", { status, limit: 1000, ...(cursor ? { cursor } : {}) }, fresh.root);
      for (const task of page.body)
        scopes.set(
          task.id,
          task.scopes.flatMap(({ scope }) => filesOf(scope)),
        );
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
  }
  const held = new Map<string, string>();
  const overlaps: string[] = [];
  const claimed: string[] = [];
  for (let after = "0"; ; ) {
    const types = ["task.claimed", "task.completed"];
    const events = await fresh.ask("list_events", { types, limit: 1000, after }, fresh.root);
    if (events.length === 0) break;
    for (const { type, task_id: id } of events) {
      for (const file of scopes.get(id as string) ?? []) {
        if (type === "task.completed") held.delete(file);
        else if (held.has(file)) overlaps.push(`${file}: ${held.get(file)} and ${id}`);
        else held.set(file, id as string);
      }
      if (type === "task.claimed" && scopes.has(id as string)) claimed.push(id as string);
    }
    after = events.at(-1)?.id as string;
  }
  expect(overlaps).toEqual([]);
  expect(claimed.sort()).toEqual([...scopes.keys()].sort());
}

test("ten workers drain 300 tasks that declare scopes out of a tree of 60: no two at once whose scopes overlap, and at least four times as fast as one (R16)", {
  timeout: limit(120_000),
}, async () => {
  const fresh = await FreshStore.open({ realTime: true });
  const folder = mkdtempSync(join(QUICK_DISK, "dibs-scopes-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const workers: Actor[] = [];
  for (let nth = 0; nth < WORKERS; nth += 1) workers.push(await fresh.worker(`worker-${nth}`));
  const workMs = Math.min(400, WORK_CYCLES * (await cycleMs(fresh, workers[0] as Actor)));
  const together = await drain(fresh, workers, { tasks: TASKS, workMs, folder });
  const alone = await drain(fresh, workers.slice(0, 1), { tasks: ALONE, workMs, folder });
  await judge(fresh);
  measured("300 tasks with scopes, ms a task", { workMs, together, alone, ratio: alone / together });
  expect(alone / together, `${together} ms a task by ten, ${alone} by one, of which work ${workMs}`).toBeGreaterThan(4);
});
