import type { OpenStore } from "dibs";
import { expect, onTestFinished, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** Field reports here: C41.4. Two processes on one store, each with an engine of its own. */

async function twoProcesses(): Promise<{ fresh: FreshStore; other: OpenStore; ann: Actor }> {
  const fresh = await FreshStore.open();
  const other = await fresh.another();
  onTestFinished(() => other.close());
  return { fresh, other, ann: await fresh.worker("ann") };
}

const ended = (call: Promise<unknown>) =>
  call.then(
    () => "ok",
    (thrown) => String(thrown.code),
  );

test("two halves of a cycle written at once can't both pass, however long the cycle (R23)", async () => {
  const { fresh, other } = await twoProcesses();
  for (let round = 0; round < 20; round += 1) {
    // a2 waits for a1, b2 for b1; the halves are a1 on b2 and b1 on a2, and no call names a task of the other's.
    const task = async (...depends_on: string[]) => (await fresh.task({ depends_on })).id;
    const [a1, b1] = [await task(), await task()];
    const [a2, b2] = [await task(a1), await task(b1)];
    const short = round % 2 === 0;
    const halves = short
      ? [
          [a1, b1],
          [b1, a1],
        ]
      : [
          [a1, b2],
          [b1, a2],
        ];
    const both = await Promise.all(
      halves.map(([task_id, blocker], at) =>
        ended(
          fresh.ask(
            "add_dependencies",
            { task_id: task_id as string, depends_on: [blocker as string] },
            fresh.root,
            at === 0 ? fresh.store : other,
          ),
        ),
      ),
    );
    expect(both.sort(), `round ${round}`).toEqual(["dependency_cycle", "ok"]);
  }
});

test("a task that is made while its blocker is completed elsewhere is never left waiting (R23)", async () => {
  const { fresh, other, ann } = await twoProcesses();
  for (let round = 0; round < 20; round += 1) {
    const blocker = await fresh.task({ content: "A" });
    const old = await fresh.task({ content: "old" });
    await fresh.claim(blocker.id, ann);
    const [made] = await Promise.all([
      fresh.ask("create_task", { content: "Z", depends_on: [blocker.id] }, fresh.root, other),
      fresh.ask("complete_task", { task_id: blocker.id }, ann),
      fresh.ask("add_dependencies", { task_id: old.id, depends_on: [blocker.id] }, fresh.root, other),
    ]);
    for (const id of [made.id, old.id]) {
      expect(await fresh.read(id)).toMatchObject({ ready: true, blocked_by: [], depends_on: [blocker.id] });
    }
  }
  expect(await fresh.kept.broken()).toEqual([]);
});

test("the last two blockers of many tasks, completed at once elsewhere, free each of them once (R14, R23)", async () => {
  const { fresh, other, ann } = await twoProcesses();
  for (let round = 0; round < 10; round += 1) {
    const blockers = await Promise.all([1, 2, 3, 4].map(() => fresh.task({ content: "blocker" })));
    const ids = blockers.map(({ id }) => id);
    // Each pair of them in the other order, so that locks taken as they come would meet.
    const made = await fresh.ask(
      "create_tasks",
      {
        tasks: Array.from({ length: 20 }, (_, at) => ({ content: "Z", depends_on: at % 2 ? ids : [...ids].reverse() })),
      },
      fresh.root,
    );
    for (const id of ids) await fresh.claim(id, ann);
    await Promise.all(
      ids.map((task_id, at) => fresh.ask("complete_task", { task_id }, ann, at % 2 ? fresh.store : other)),
    );
    for (const { id } of made) {
      expect(await fresh.read(id)).toMatchObject({ ready: true, blocked_by_count: 0 });
      expect((await fresh.history(id)).filter((type) => type === "task.ready")).toHaveLength(1);
    }
  }
  expect(await fresh.kept.broken()).toEqual([]);
});
