import { expect, test } from "vitest";
import type { PlanRow } from "../../src/core/port/plan-verbs.js";
import type { Tx } from "../../src/core/port/store.js";
import { StoreScene, type StoreUnderTest } from "./scene.js";

async function plan(tx: Tx, slug: string, project_id = "w1-p"): Promise<PlanRow> {
  const row = { id: `${project_id}/${slug}`, workspace_id: "w1", project_id, slug, title: null, created_by: "ann" };
  const made = { ...row, created_at: tx.nowMs };
  return { ...made, seq: await tx.plans.insert(made) };
}

export function planTests(make: () => StoreUnderTest): void {
  test("a plan is found by its name in its project, also in the transaction that made it, and listed in order", async () => {
    const scene = await StoreScene.set(make());
    const rows = await scene.write(async (tx) => {
      const made = [await plan(tx, "b"), await plan(tx, "a"), await plan(tx, "a", "w1-other")];
      expect(await tx.plans.bySlug("w1-p", "a", { lock: true })).toEqual(made[1]);
      return made;
    });
    await scene.read(async (tx) => {
      expect(await tx.plans.bySlug("w1-other", "a", { lock: false })).toEqual(rows[2]);
      expect(await tx.plans.bySlug("w1-p", "c", { lock: false })).toBeUndefined();
      const all = { limit: 10, after: null };
      expect(await tx.plans.list("w1", null, all)).toEqual(rows);
      expect(await tx.plans.list("w1", "w1-p", all)).toEqual(rows.slice(0, 2));
      expect(await tx.plans.list("w2", null, all)).toEqual([]);
      expect(await tx.plans.list("w1", null, { limit: 1, after: [rows[0]?.seq ?? 0] })).toEqual([rows[1]]);
    });
  });

  test("its steps outlive their tasks; its nodes are its tasks and what they wait for outside", async () => {
    const scene = await StoreScene.set(make());
    const [made, tasks] = await scene.write(async (tx) => {
      const row = await plan(tx, "p");
      const outside = await scene.task(tx);
      const namesake = await scene.task(tx, { project_id: "w1-other", plan: "p" });
      const [first, second, third] = [1, 2, 3].map(() => scene.task(tx, { plan: "p" }));
      const own = [await first, await second, await third].flatMap((task) => task ?? []);
      const seqs = own.map(({ seq }) => seq);
      await tx.plans.insertSteps(
        row.seq,
        seqs.slice(0, 2).map((task_seq, at) => ({ key: `k${2 - at}`, task_seq, definition: `d${at}` })),
      );
      const edges = [
        [seqs[1], outside.seq],
        [seqs[2], seqs[0]],
        [namesake.seq, seqs[0]],
      ] as [number, number][];
      await tx.dependencies.add(edges, [outside]);
      return [row, { outside, own }] as const;
    });
    const [a, b, c] = tasks.own.map(({ seq }) => seq);
    await scene.read(async (tx) => {
      expect((await tx.plans.nodes(made)).map(({ seq, key, in_plan }) => [seq, key, in_plan])).toEqual([
        [tasks.outside.seq, null, 0],
        [a, "k2", 1],
        [b, "k1", 1],
        [c, null, 1],
      ]);
      expect(await tx.plans.edges(made)).toEqual([
        { task_seq: b, blocker_seq: tasks.outside.seq },
        { task_seq: c, blocker_seq: a },
      ]);
    });
    await scene.write(async (tx) => {
      const row = await tx.tasks.bySeq(b as number);
      if (row) await tx.tasks.remove(row);
    });
    await scene.read(async (tx) => {
      expect(await tx.plans.steps(made.seq)).toEqual([
        { key: "k1", task_seq: null, definition: "d1" },
        { key: "k2", task_seq: a, definition: "d0" },
      ]);
      expect((await tx.plans.nodes(made)).map(({ seq }) => seq)).toEqual([a, c]);
    });
  });
}
