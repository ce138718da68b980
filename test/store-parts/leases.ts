import { expect, test } from "vitest";
import { takeDuty } from "../../src/core/leases/duties.js";
import { renewed } from "../../src/core/leases/leases.js";
import type { TaskRow } from "../../src/core/port/rows.js";
import { type Store, StoreConflict } from "../../src/core/port/store.js";
import { StoreScene, type StoreUnderTest, sessionRow } from "./scene.js";

const OPEN = { status: "open", queue: 1, wakes_at: null } as const;

/** Whether a write counted. A store that gathers its writes finds at the commit that it doesn't, and undoes it all. */
async function taken(written: Promise<boolean>): Promise<boolean> {
  try {
    return await written;
  } catch (fault) {
    if (fault instanceof StoreConflict) return false;
    throw fault;
  }
}

export function leaseTests(make: () => StoreUnderTest): void {
  /** A task that ann holds for 60 s, and `ms` later. */
  async function held(ms = 0): Promise<{ scene: StoreScene; row: TaskRow }> {
    const scene = await StoreScene.set(make());
    const row = await scene.write(async (tx) => scene.grant(tx, await scene.task(tx), 60));
    scene.under.pass(ms);
    return { scene, row };
  }
  const renew = (scene: StoreScene, row: TaskRow) =>
    taken(scene.write(async (tx) => tx.leases.renew(row, tx.nowMs, renewed(row, 60, tx.nowMs))));
  const end = (scene: StoreScene, row: TaskRow, live: boolean) =>
    taken(scene.write(async (tx) => tx.leases.end(row, { live, nowMs: tx.nowMs }, OPEN)));
  const now = (scene: StoreScene, row: TaskRow) => scene.read(async (tx) => tx.tasks.bySeq(row.seq));

  test("a grant writes all that a lease is, counts the attempt, and moves the version", async () => {
    const { row } = await held();
    expect(row).toMatchObject({ status: "claimed", fence: 1, attempts: 1, version: 2, lapsed: 0, state: "working" });
    expect(row).toMatchObject({ holder_agent: "ann", holder_session: "ann-s", lease_seconds: 60, queue: 2 });
    expect(row.lease_until).toBe((row.claimed_at ?? 0) + 60_000);
    expect(row.wakes_at).toBe(row.lease_until);
  });

  test("a task is granted once: not over a live lease, and not on a row that was read before another grant (R4)", async () => {
    const { scene, row } = await held();
    const stale = { ...row, status: "open" as const, fence: 0 };
    for (const each of [row, stale]) await expect(scene.write((tx) => scene.grant(tx, each))).rejects.toThrow();
    await end(scene, row, true);
    await expect(scene.write((tx) => scene.grant(tx, stale))).rejects.toThrow();
    expect(await scene.write(async (tx) => scene.grant(tx, (await tx.tasks.bySeq(row.seq)) as TaskRow))).toMatchObject({
      fence: 2,
    });
  });

  test.each([
    ["1 ms before its end", 59_999, true],
    ["at its end", 60_000, false],
    ["after it", 60_001, false],
  ])(
    "a holder's write counts only while the lease lives, checked in the statement itself: %s (R1, R3)",
    async (_when, ms, lives) => {
      for (const write of [renew, (scene: StoreScene, row: TaskRow) => end(scene, row, true)]) {
        const { scene, row } = await held(ms);
        const before = await now(scene, row);
        expect(await write(scene, row)).toBe(lives);
        if (!lives) expect(await now(scene, row)).toEqual(before);
      }
    },
  );

  test("nor under another lease, nor in a session that is silent or ended", async () => {
    for (const spoil of ["lease", "silent", "ended"] as const) {
      const { scene, row } = await held(1_000);
      await scene.write(async (tx) => {
        if (spoil === "silent") await tx.sessions.touch("ann-s", tx.nowMs, tx.nowMs + 900_000);
        if (spoil === "ended") await tx.sessions.end("ann-s", "ended", tx.nowMs);
      });
      const asked = spoil === "lease" ? { ...row, lease_id: "another" } : row;
      if (spoil === "silent") {
        // Its lease would live on, had its session not ended before.
        await scene.write(async (tx) => tx.leases.renew(row, tx.nowMs, renewed(row, 3600, tx.nowMs)));
        scene.under.pass(901_000);
      }
      expect(await renew(scene, asked)).toBe(false);
      expect(await end(scene, asked, true)).toBe(false);
      // Force asks for the lease only.
      expect(await end(scene, asked, false)).toBe(spoil !== "lease");
    }
  });

  test("a renewal moves the end and nothing else (R5)", async () => {
    const { scene, row } = await held(10_000);
    expect(await renew(scene, row)).toBe(true);
    const after = await now(scene, row);
    const until = (row.claimed_at ?? 0) + 70_000;
    expect(after).toEqual({ ...row, lease_until: until, wakes_at: until });
  });

  test("a recorded lapse keeps the last holder and the true end, until the next grant", async () => {
    const { scene, row } = await held(61_000);
    const until = row.lease_until;
    const becomes = { ...OPEN, lapsed: 1, lease_until: until };
    await scene.write(async (tx) => tx.leases.end(row, { live: false, nowMs: tx.nowMs }, becomes));
    const lapsed = await now(scene, row);
    expect(lapsed).toMatchObject({ status: "open", lapsed: 1, holder_agent: "ann", lease_until: until, queue: 1 });
    const again = await scene.write((tx) => scene.grant(tx, lapsed as TaskRow, 60, "ben"));
    expect(again).toMatchObject({ lapsed: 0, holder_agent: "ben", fence: 2 });
  });

  test("the claims table has what lives at that instant: by lease, by session, by agent, project and task", async () => {
    const scene = await StoreScene.set(make());
    const rows = await scene.write(async (tx) => {
      await tx.sessions.insert(sessionRow("ben", "short", tx.nowMs, 30));
      const first = await scene.grant(tx, await scene.task(tx), 60);
      const second = await scene.grant(tx, await scene.task(tx, { project_id: "w1-other" }), 120, "ben");
      await scene.grant(tx, await scene.task(tx, { workspace_id: "w2", project_id: "w2-p" }), 300);
      return [first, second];
    });
    const page = { limit: 10, after: null };
    const claims = (filter: object) =>
      scene.read(async (tx) => (await tx.claims.list("w1", filter, tx.nowMs, page)).map((claim) => claim.task_id));
    const [first, second] = rows.map((row) => row.id);
    expect(await claims({})).toEqual([first, second]);
    expect(await claims({ agentId: "ben" })).toEqual([second]);
    expect(await claims({ sessionId: "ann-s" })).toEqual([first]);
    expect(await claims({ projectId: "w1-other" })).toEqual([second]);
    expect(await claims({ taskId: first })).toEqual([first]);
    const count = () => scene.read(async (tx) => tx.claims.countLive("ann", tx.nowMs, 10));
    expect(await count()).toBe(2);
    scene.under.pass(60_000);
    expect(await claims({})).toEqual([second]);
    expect(await count()).toBe(1);
    await scene.write(async (tx) => tx.sessions.end("ben-s", "ended", tx.nowMs));
    expect(await claims({})).toEqual([]);
  });

  test("a duty is one node's until its end, kept by renewing it, and its fence grows with every other holder", async () => {
    const scene = await StoreScene.set(make());
    const other = await scene.under.open();
    const take = (node: string, store = scene.store) =>
      store.transaction("write", async (tx) => takeDuty(tx, "housekeeping", node, 15_000));
    const seen = () => scene.read(async (tx) => tx.leases.duty("housekeeping"));
    expect([await take("a"), await take("b", other), await take("a")]).toEqual([true, false, true]);
    const first = await seen();
    scene.under.pass(10_000);
    expect(await take("a")).toBe(true);
    expect(await seen()).toMatchObject({ holder: "a", fence: 1, until_ms: (first?.until_ms ?? 0) + 10_000 });
    scene.under.pass(14_999);
    expect(await take("b", other)).toBe(false);
    scene.under.pass(1);
    expect([await take("b", other), await take("a")]).toEqual([true, false]);
    expect(await seen()).toMatchObject({ holder: "b", fence: 2 });
    await other.close();
  });

  test("of nodes that reach for a free duty at one instant, one has it", async () => {
    const scene = await StoreScene.set(make());
    const others = [await scene.under.open(), await scene.under.open()];
    const stores = [scene.store, ...others];
    for (let round = 0; round < 10; round += 1) {
      scene.under.pass(20_000);
      const reach = (store: Store, nth: number) =>
        taken(store.transaction("write", async (tx) => takeDuty(tx, "housekeeping", `${round}-${nth}`, 15_000)));
      const got = [];
      // Two connections of one thread to one SQLite file would wait for each other's transaction for ever.
      if (scene.under.atOnce) got.push(...(await Promise.all(stores.map(reach))));
      else for (const [nth, store] of stores.entries()) got.push(await reach(store, nth));
      expect(got.filter(Boolean)).toHaveLength(1);
    }
    for (const store of others) await store.close();
  });
}
