import { expect, test } from "vitest";
import { QUEUE, type TaskRow } from "../../src/core/port/rows.js";
import type { Tx } from "../../src/core/port/store.js";
import { StoreScene, type StoreUnderTest } from "./scene.js";

const ALL = { limit: 100, after: null };

/** Tasks made one after another, and edges by their places, as [task, blocker]. */
async function graph(scene: StoreScene, count: number, edges: readonly (readonly [number, number])[]) {
  const tasks = await scene.write(async (tx) => {
    const made: TaskRow[] = [];
    for (let at = 0; at < count; at += 1) made.push(await scene.task(tx, at % 2 ? { labels: '["x"]' } : {}));
    return made;
  });
  const at = (place: number) => tasks[place] as TaskRow;
  await scene.write(async (tx) => {
    const blockers = await tx.dependencies.named("w1", [...new Set(edges.map(([, blocker]) => at(blocker).id))]);
    await tx.dependencies.add(
      edges.map(([task, blocker]) => [at(task).seq, at(blocker).seq] as const),
      blockers,
    );
    for (const [task] of edges) {
      const waits = edges.filter(([other]) => other === task).length;
      await tx.tasks.update(at(task), { blockers: waits, open_blockers: waits, queue: QUEUE.blocked, wakes_at: null });
    }
  });
  return { at, seqs: (...places: number[]) => places.map((place) => at(place).seq) };
}

const inQueue = async (tx: Tx, label?: string) => {
  const filter = { workspaceId: "w1", projectId: null, agentId: "ann", labels: label ? [label] : [], plan: null };
  return (await tx.tasks.ready(filter, "", 64, false)).map(({ id }) => id);
};

export function dependencyTests(make: () => StoreUnderTest): void {
  test("tasks are named by id within their workspace, oldest first, without those that aren't there", async () => {
    const scene = await StoreScene.set(make());
    const { at } = await graph(scene, 2, []);
    await scene.write(async (tx) => {
      const found = await tx.dependencies.named("w1", [at(1).id, "nowhere", at(0).id]);
      expect(found.map(({ id }) => id)).toEqual([at(0).id, at(1).id]);
      expect(await tx.dependencies.named("w2", [at(0).id])).toEqual([]);
    });
  });

  test("what waits is in no queue, by label or not, until it is moved; the counts move with it (R14)", async () => {
    const scene = await StoreScene.set(make());
    const { at } = await graph(scene, 4, [
      [1, 0],
      [2, 0],
      [3, 0],
    ]);
    await scene.write(async (tx) => {
      expect(await inQueue(tx)).toEqual([at(0).id]);
      expect(await inQueue(tx, "x")).toEqual([]);
    });
    await scene.write(async (tx) => {
      expect(await tx.tasks.byId("w1", at(0).id)).toMatchObject({ has_dependents: 1 });
      const rows = await tx.dependencies.dependentsOf(at(0).seq, { lock: true });
      expect(rows.map(({ id }) => id)).toEqual([at(1).id, at(2).id, at(3).id]);
      await tx.dependencies.move(rows.slice(0, 2), { open_blockers: -1, blockers: 0 }, QUEUE.ready);
      await tx.dependencies.move(rows.slice(2), { open_blockers: 1, blockers: 2 }, undefined);
      // Read in the same transaction, also what was read in it before.
      expect(await tx.tasks.byId("w1", at(1).id)).toMatchObject({ open_blockers: 0, queue: QUEUE.ready });
      expect(await tx.tasks.byId("w1", at(3).id)).toMatchObject({
        open_blockers: 2,
        blockers: 3,
        queue: QUEUE.blocked,
      });
      expect(await inQueue(tx)).toEqual([at(0).id, at(1).id, at(2).id]);
      expect(await inQueue(tx, "x")).toEqual([at(1).id]);
    });
  });

  test("blockers are read for many tasks at once: first what is broken, by the clock too, then what is open (R20, R23)", async () => {
    const under = make();
    const scene = await StoreScene.set(under);
    const { at, seqs } = await graph(scene, 6, [
      [4, 0],
      [4, 1],
      [4, 2],
      [4, 3],
      [5, 0],
    ]);
    await scene.write(async (tx) => {
      await tx.tasks.update(at(0), { status: "completed", queue: null, closed_at: tx.nowMs });
      await tx.tasks.update(at(2), { status: "cancelled", queue: null, closed_at: tx.nowMs });
      await tx.tasks.update(at(3), { max_attempts: 1 });
    });
    await scene.write(async (tx) => scene.grant(tx, (await tx.tasks.byId("w1", at(3).id)) as TaskRow, 30));
    const shown = (limit = 100) =>
      scene.read(async (tx) =>
        (await tx.dependencies.blockersOf(seqs(4, 5), tx.nowMs, limit)).map(({ task_seq, id }) => [task_seq, id]),
      );
    const four = (...places: number[]) => places.map((place) => [at(4).seq, at(place).id]);
    expect(await shown()).toEqual([...four(2, 1, 3, 0), [at(5).seq, at(0).id]]);
    under.pass(30_000);
    expect(await shown()).toEqual([...four(2, 3, 1, 0), [at(5).seq, at(0).id]]);
    // So many of each task, not of all.
    expect(await shown(2)).toEqual([...four(2, 3), [at(5).seq, at(0).id]]);
  });

  test("lists know what is blocked and what is stalled by the clock (R14, R23)", async () => {
    const under = make();
    const scene = await StoreScene.set(under);
    const { at } = await graph(scene, 4, [
      [2, 0],
      [3, 1],
    ]);
    await scene.write(async (tx) => tx.tasks.update(at(1), { max_attempts: 1 }));
    await scene.write(async (tx) => scene.grant(tx, (await tx.tasks.byId("w1", at(1).id)) as TaskRow, 30));
    const listed = (filter: object) =>
      scene.read(async (tx) =>
        (await tx.tasks.list("w1", { sort: "handout", ...filter }, ALL, tx.nowMs)).map(({ id }) => id),
      );
    expect(await listed({ blocked: true })).toEqual([at(2).id, at(3).id]);
    expect(await listed({ stalled: true })).toEqual([]);
    under.pass(30_000);
    expect(await listed({ stalled: true })).toEqual([at(3).id]);
    expect(await listed({ stalled: false, status: "open" })).toEqual([at(0).id, at(2).id]);
    expect(await listed({ ready: true })).toEqual([at(0).id]);
    expect(await listed({ blocked: false })).toEqual([at(0).id, at(1).id]);
  });

  test("the graph is looked through each task once, however many ways lead to it; a task reaches itself", async () => {
    const scene = await StoreScene.set(make());
    // 0 ← 1, 2 ← 3 ← 4, 5 ← 6; 7 alone.
    const { at, seqs } = await graph(scene, 8, [
      [1, 0],
      [2, 0],
      [3, 1],
      [3, 2],
      [4, 3],
      [5, 3],
      [6, 4],
      [6, 5],
    ]);
    await scene.write(async (tx) => {
      const reaches = (from: number[], to: number) => tx.dependencies.reaches(seqs(...from), at(to).seq);
      expect([await reaches([6], 0), await reaches([0], 6), await reaches([7], 0), await reaches([7, 4], 1)]).toEqual([
        true,
        false,
        false,
        true,
      ]);
      expect(await reaches([3], 3)).toBe(true);
      const above = await tx.dependencies.edgesAbove(seqs(3));
      expect(above.map(({ task_seq, blocker_seq }) => [task_seq, blocker_seq])).toEqual(
        [
          [1, 0],
          [2, 0],
          [3, 1],
          [3, 2],
        ].map((pair) => seqs(...pair)),
      );
      expect(await tx.dependencies.present(at(3).seq, seqs(0, 1, 7))).toEqual(seqs(1));
      expect((await tx.dependencies.titles(seqs(7, 0))).map(({ content }) => content)).toEqual([
        at(0).content,
        at(7).content,
      ]);
    });
  });

  test("edges go one by one, with their task, or all of a blocker's; a blocker with edges can't go", async () => {
    const scene = await StoreScene.set(make());
    const { at, seqs } = await graph(scene, 4, [
      [1, 0],
      [2, 0],
      [3, 0],
    ]);
    const left = () =>
      scene.read(async (tx) => (await tx.dependencies.list(at(0).seq, "dependents", ALL)).map(({ id }) => id));
    await scene.write(async (tx) => tx.dependencies.remove(at(1).seq, seqs(0)));
    expect(await left()).toEqual([at(2).id, at(3).id]);
    await scene.write(async (tx) => tx.tasks.remove(at(2)));
    expect(await left()).toEqual([at(3).id]);
    await expect(scene.write(async (tx) => tx.tasks.remove(at(0)))).rejects.toThrow();
    expect(await left()).toEqual([at(3).id]);
    await scene.write(async (tx) => {
      await tx.dependencies.removeDependents(at(0).seq);
      await tx.tasks.remove(at(0));
    });
    await scene.read(async (tx) => expect(await tx.dependencies.list(at(3).seq, "blockers", ALL)).toEqual([]));
  });
}
