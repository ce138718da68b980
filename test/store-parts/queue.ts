import fc from "fast-check";
import { expect, test } from "vitest";
import { QUEUE, type TaskRow } from "../../src/core/port/rows.js";
import type { Tx } from "../../src/core/port/store.js";
import type { QueueFilter } from "../../src/core/port/verbs.js";
import { taskState } from "../../src/core/tasks/task-state.js";
import { rounds } from "../support/campaign.js";
import { StoreScene, type StoreUnderTest, sessionRow } from "./scene.js";

const ALL = { limit: 1000, after: null };

interface Made {
  readonly priority: number;
  readonly labels: string[];
  readonly project_id: string;
  readonly plan: string | null;
  readonly assigned_to: string;
  readonly startsIn: number | null;
  readonly max: number;
  readonly fate: "open" | "held" | "cancel asked" | "closed" | "woken";
  readonly seconds: number;
  readonly who: "ann" | "ben";
}

const made: fc.Arbitrary<Made> = fc.record({
  priority: fc.integer({ min: 1, max: 4 }),
  labels: fc.constantFrom([], ["a"], ["b"], ["a", "b"]),
  project_id: fc.constantFrom("w1-p", "w1-other"),
  plan: fc.constantFrom(null, "p"),
  assigned_to: fc.constantFrom("", "", "ann", "ben"),
  startsIn: fc.constantFrom(null, null, -5, 30, 60),
  max: fc.constantFrom(1, 5),
  fate: fc.constantFrom("open", "open", "held", "held", "cancel asked", "closed", "woken"),
  seconds: fc.constantFrom(30, 60, 300, 1000),
  who: fc.constantFrom("ann", "ben"),
});

async function build(scene: StoreScene, tx: Tx, each: Made): Promise<void> {
  const not_before = each.startsIn === null ? null : tx.nowMs + each.startsIn * 1000;
  const { priority, project_id, plan, assigned_to, max: max_attempts } = each;
  const labels = JSON.stringify(each.labels);
  const row = await scene.task(tx, { priority, project_id, plan, assigned_to, max_attempts, not_before, labels });
  const free = not_before === null || not_before <= tx.nowMs;
  if (each.fate === "closed") await tx.tasks.update(row, { status: "completed", queue: null, wakes_at: null });
  if (each.fate === "open" || each.fate === "closed" || !free) return;
  const held = await scene.grant(tx, row, each.seconds, each.who);
  if (each.fate === "cancel asked") await tx.tasks.update(held, { cancel_requested: 1 });
  // Given back: in the queue again, an attempt the fewer.
  const open = { status: "open", queue: QUEUE.ready, wakes_at: null } as const;
  if (each.fate === "woken" && max_attempts > 1) {
    await tx.leases.end(held, { live: true, nowMs: tx.nowMs }, open);
  }
}

export function queueTests(make: () => StoreUnderTest): void {
  test("what the store finds is what the one definition of readiness says, on random states (R14)", {
    timeout: 60_000,
  }, async () => {
    const scene = await StoreScene.set(make());
    let round = 0;
    const filters: QueueFilter[] = [];
    for (const projectId of [null, "w1-p"]) {
      for (const labels of [[], ["a"], ["b", "a"]]) {
        for (const agentId of ["ann", "ben"]) {
          const filter = { workspaceId: "w1", projectId, labels, agentId, plan: null };
          filters.push(filter, ...(projectId ? [{ ...filter, plan: "p" }] : []));
        }
      }
    }
    const property = fc.asyncProperty(
      fc.array(made, { maxLength: 25 }),
      fc.constantFrom(0, 30_000, 60_000, 900_000),
      async (all, ms) => {
        await scene.write(async (tx) => {
          for (const row of await tx.tasks.list("w1", { sort: "created" }, ALL, tx.nowMs)) await tx.tasks.remove(row);
          // Those of the last round may have died.
          round += 1;
          for (const [who, seconds] of [
            ["ann", 900],
            ["ben", 5_000],
          ] as const) {
            scene.sessions[who] = `${who}-${round}`;
            await tx.sessions.insert(sessionRow(who, `${who}-${round}`, tx.nowMs, seconds));
          }
          for (const each of all) await build(scene, tx, each);
        });
        scene.under.pass(ms);
        await scene.read((tx) => compare(tx, filters));
      },
    );
    await fc.assert(property, { numRuns: rounds(60, 3_000), interruptAfterTimeLimit: rounds(20_000, 3_000_000) });
  });

  test("ready ones in hand-out order, as many as asked for, by assignment, labels and project", async () => {
    const scene = await StoreScene.set(make());
    await scene.write(async (tx) => {
      for (const priority of [2, 4, 1, 4, 3]) await scene.task(tx, { priority });
      await scene.task(tx, { priority: 4, assigned_to: "ann" });
      await scene.task(tx, { priority: 4, workspace_id: "w2", project_id: "w2-p" });
    });
    await scene.read(async (tx) => {
      const filter = { workspaceId: "w1", projectId: null, agentId: "ann", labels: [], plan: null };
      const ids = async (assignedTo: string, limit: 1 | 8 | 64) =>
        (await tx.tasks.ready(filter, assignedTo, limit, false)).map((row) => row.id);
      expect(await ids("", 64)).toEqual(["t2", "t4", "t5", "t1", "t3"]);
      expect(await ids("", 1)).toEqual(["t2"]);
      expect(await ids("ann", 8)).toEqual(["t6"]);
      expect(await ids("ben", 8)).toEqual([]);
    });
  });

  test("what is due by the clock, oldest first, and when the next will be", async () => {
    const scene = await StoreScene.set(make());
    const start = await scene.write(async (tx) => {
      await scene.grant(tx, await scene.task(tx), 60);
      await scene.task(tx, { not_before: tx.nowMs + 30_000 });
      await scene.grant(tx, await scene.task(tx), 45, "ben");
      return tx.nowMs;
    });
    const due = (limit = 10) => scene.read(async (tx) => (await tx.tasks.due(tx.nowMs, limit)).map((row) => row.id));
    const next = () => scene.read(async (tx) => tx.tasks.nextWake("w1", tx.nowMs));
    expect([await due(), await next()]).toEqual([[], start + 30_000]);
    scene.under.pass(45_000);
    expect([await due(), await due(1), await next()]).toEqual([["t2", "t3"], ["t2"], start + 60_000]);
    scene.under.pass(15_000);
    // Then the sessions' ends are all that is to come.
    expect([await due(), await next()]).toEqual([["t2", "t3", "t1"], start + 900_000]);
  });
}

async function compare(tx: Tx, filters: readonly QueueFilter[]): Promise<void> {
  const rows = await tx.tasks.list("w1", { sort: "handout" }, ALL, tx.nowMs);
  const states = rows.map((row) => ({ row, state: taskState(row, tx.nowMs) }));
  const listed = async (filter: object) =>
    (await tx.tasks.list("w1", { sort: "handout", ...filter }, ALL, tx.nowMs)).map((row) => row.id);
  const idsOf = (fits: (of: (typeof states)[number]) => boolean) => states.filter(fits).map(({ row }) => row.id);
  for (const ready of [true, false])
    expect(await listed({ ready })).toEqual(idsOf(({ state }) => state.ready === ready));
  for (const lapsed of [true, false])
    expect(await listed({ lapsed })).toEqual(idsOf(({ state }) => state.lapsed === lapsed));
  for (const status of ["open", "claimed", "completed", "failed", "cancelled"]) {
    expect(await listed({ status })).toEqual(idsOf(({ state }) => state.status === status));
  }
  expect(await listed({ claimed: true })).toEqual(idsOf(({ state }) => state.held));
  expect(await listed({ claimed: false })).toEqual(idsOf(({ state }) => state.status === "open"));
  // What only its session's death has freed is the engine's to notice first; a claim finds the rest by these two.
  const silent = new Set((await tx.sessions.silentSince(tx.nowMs, 1000)).map((session) => session.id));
  const noticed = states.filter(
    ({ row }) => !silent.has(row.holder_session ?? "") || !(Number(row.wakes_at) > tx.nowMs),
  );
  for (const filter of filters) {
    const best = noticed.find(({ row, state }) => state.ready && fits(row, filter))?.row;
    expect(await candidate(tx, filter)).toBe(best?.id);
  }
}

function fits(row: TaskRow, filter: QueueFilter): boolean {
  const labels = JSON.parse(row.labels) as string[];
  const own = row.assigned_to === "" || row.assigned_to === filter.agentId;
  const there = filter.projectId === null || row.project_id === filter.projectId;
  const planned = filter.plan === null || row.plan === filter.plan;
  return own && there && planned && filter.labels.every((label) => labels.includes(label));
}

/** The best task for a filter, as the store finds it. */
async function candidate(tx: Tx, filter: QueueFilter): Promise<string | undefined> {
  const heads = [
    ...(await tx.tasks.ready(filter, "", 1, false)),
    ...(await tx.tasks.ready(filter, filter.agentId, 1, false)),
  ];
  const [ready] = heads.sort((a, b) => b.priority - a.priority || a.seq - b.seq);
  const lapsed = await tx.tasks.nextLapsed(filter, tx.nowMs, ready);
  if (lapsed === "unknown") throw new Error("So few tasks can all be looked at.");
  return lapsed === "none" ? ready?.id : (await tx.tasks.bySeq(lapsed.seq))?.id;
}
