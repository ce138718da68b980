import { expect, test } from "vitest";
import type { RecurrenceRow } from "../../src/core/port/recurrence-verbs.js";
import { StoreScene, type StoreUnderTest } from "./scene.js";

const ALL = { limit: 100, after: null };

function recurrenceRow(id: string, made: Partial<RecurrenceRow> = {}): Omit<RecurrenceRow, "seq"> {
  return {
    id,
    workspace_id: "w1",
    project_id: "w1-p",
    name: id,
    cron: "@daily",
    time_zone: "UTC",
    skip_if_open: 0,
    enabled: 1,
    template: `{"content":"'\\u0022"}`,
    assigned_to: "",
    created_by: "ann",
    next_at: 100,
    last_at: null,
    last_task_id: null,
    created_at: 1,
    updated_at: 1,
    version: 1,
    ...made,
  };
}

export function recurrenceTests(make: () => StoreUnderTest): void {
  test("a recurrence comes back field by field as it was written, of its workspace and project alone", async () => {
    const scene = await StoreScene.set(make());
    const rows = [
      recurrenceRow("r1", { skip_if_open: 1, assigned_to: "ben", last_at: 50, last_task_id: "t" }),
      recurrenceRow("r2", { enabled: 0, next_at: null, project_id: "w1-other", name: "r1" }),
      recurrenceRow("r3", { workspace_id: "w2", project_id: "w2-p" }),
    ];
    await scene.write(async (tx) => {
      for (const row of rows) await tx.recurrences.insert(row);
    });
    await scene.read(async (tx) => {
      expect(await tx.recurrences.list("w1", null, ALL)).toMatchObject(rows.slice(0, 2));
      expect(await tx.recurrences.list("w1", "w1-other", ALL)).toMatchObject([{ id: "r2" }]);
      const [first] = await tx.recurrences.list("w1", null, { limit: 1, after: null });
      const next = { limit: 1, after: [first?.seq ?? 0] };
      expect(await tx.recurrences.list("w1", null, next)).toMatchObject([{ id: "r2" }]);
      expect(await tx.recurrences.byId("w1", "r1")).toEqual({ ...rows[0], seq: first?.seq });
      expect(await tx.recurrences.byId("w2", "r1")).toBeUndefined();
      expect(await tx.recurrences.byName("w1-other", "r1")).toMatchObject({ id: "r2" });
      expect(await tx.recurrences.byName("w1-p", "r2")).toBeUndefined();
      expect(await tx.recurrences.assignedTo("w1", "ben")).toMatchObject([{ id: "r1" }]);
    });
    const twice = scene.write((tx) => Promise.resolve(tx.recurrences.insert(recurrenceRow("r4", { name: "r1" }))));
    await expect(twice).rejects.toThrow();
    await scene.write(async (tx) => {
      const row = await tx.recurrences.byId("w1", "r1");
      if (row) await tx.recurrences.remove(row);
      expect(await tx.recurrences.byId("w1", "r1")).toBeUndefined();
    });
  });

  test("is due at its next tick and not before it, oldest first, and the transaction knows that something is", async () => {
    const scene = await StoreScene.set(make());
    const at = await scene.write(async (tx) => {
      const in_ = (ms: number) => ({ next_at: tx.nowMs + ms });
      await tx.recurrences.insert(recurrenceRow("later", in_(2_000)));
      await tx.recurrences.insert(recurrenceRow("first", in_(1_000)));
      await tx.recurrences.insert(recurrenceRow("off", { enabled: 0, next_at: null }));
      expect(await tx.tasks.nextWake("w1", tx.nowMs)).toBe(tx.nowMs + 1_000);
      return tx.nowMs;
    });
    scene.under.pass(999);
    await scene.write(async (tx) => {
      expect(tx.mayBeDue).toBe(false);
      expect(await tx.recurrences.due(tx.nowMs, 9)).toEqual([]);
    });
    scene.under.pass(1);
    await scene.read(async (tx) => expect(tx.mayBeDue).toBe(true));
    await scene.write(async (tx) => {
      expect(tx.mayBeDue).toBe(true);
      expect((await tx.recurrences.due(tx.nowMs, 9)).map(({ id }) => id)).toEqual(["first"]);
      expect((await tx.recurrences.due(at + 2_000, 9)).map(({ id }) => id)).toEqual(["first", "later"]);
      expect((await tx.recurrences.due(at + 2_000, 1)).map(({ id }) => id)).toEqual(["first"]);
    });
  });

  test("moves on only from the tick that was read, and changes nothing else otherwise", async () => {
    const scene = await StoreScene.set(make());
    await scene.write(async (tx) => {
      await tx.recurrences.insert(recurrenceRow("r"));
      const row = (await tx.recurrences.byId("w1", "r")) as RecurrenceRow;
      expect(await tx.recurrences.change(row, { next_at: 200, last_at: 100, last_task_id: "t1" })).toBe(true);
      expect(await tx.recurrences.change(row, { next_at: 300, last_at: 100, last_task_id: "t2" })).toBe(false);
      expect(await tx.recurrences.byId("w1", "r")).toMatchObject({ next_at: 200, last_task_id: "t1" });
      const stopped = { ...row, next_at: 200 };
      expect(await tx.recurrences.change(stopped, { enabled: 0, next_at: null })).toBe(true);
      expect(await tx.recurrences.change({ ...row, next_at: null }, { enabled: 1, next_at: 400 })).toBe(true);
    });
  });

  test("has one task a tick, whoever tries, and finds those that aren't closed, newest first", async () => {
    const scene = await StoreScene.set(make());
    const tick = (tick_at: number) => ({ recurrence_id: "r", tick_at });
    await scene.write(async (tx) => {
      const tasks = [await scene.task(tx, tick(1)), await scene.task(tx, tick(2)), await scene.task(tx, tick(3))];
      await scene.task(tx, { recurrence_id: "other", tick_at: 3 });
      await scene.task(tx);
      expect(tasks[0]).toMatchObject(tick(1));
      expect([await tx.recurrences.hasTask("r", 3), await tx.recurrences.hasTask("r", 4)]).toEqual([true, false]);
      const unclosed = async (before: number, limit = 9) =>
        (await tx.recurrences.unclosed("r", before, limit)).map((row) => row.tick_at);
      const closed = { status: "completed", queue: null, closed_at: tx.nowMs } as const;
      if (tasks[1]) await tx.tasks.update(tasks[1], closed);
      expect(await unclosed(Number.MAX_SAFE_INTEGER)).toEqual([3, 1]);
      expect(await unclosed(Number.MAX_SAFE_INTEGER, 1)).toEqual([3]);
      expect(await unclosed(tasks[2]?.seq ?? 0)).toEqual([1]);
    });
    await expect(scene.write((tx) => scene.task(tx, tick(2)))).rejects.toThrow();
  });
}
