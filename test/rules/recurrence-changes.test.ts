import type { OperationName } from "dibs/contract";
import { describe, expect, test } from "vitest";
import { recurring } from "../support/recurring.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("a change of what recurs", () => {
  test("moves its next tick if its times are changed, and stops it while it is disabled", async () => {
    const { fresh, change, tasks, events, lead } = await recurring();
    expect(await change({ cron: "30 14 * * *" })).toMatchObject({ next_at: "2026-01-01T14:30:00.000Z", version: 2 });
    expect(await change({ time_zone: "Asia/Kathmandu" })).toMatchObject({ next_at: "2026-01-02T08:45:00.000Z" });
    expect(await change({ enabled: false })).toMatchObject({ enabled: false, next_at: null });
    expect(await change({ cron: "@hourly" })).toMatchObject({ next_at: null });
    fresh.time.pass(DAY_MS);
    await fresh.sweep();
    expect(await tasks()).toEqual([]);
    expect(await change({ enabled: true })).toMatchObject({ next_at: "2026-01-02T12:15:00.000Z", version: 6 });
    const told = await events("recurrence.updated");
    expect(told.map(({ data }) => data.fields)).toEqual([["cron"], ["time_zone"], ["enabled"], ["cron"], ["enabled"]]);
    expect(told[0]?.actor?.agent_id).toBe(lead.id);
  });

  test("changes the tasks to come and no other, and clears what is set to null", async () => {
    const { fresh, ann, change } = await recurring({ labels: ["a"], max_attempts: 3, description: "d" });
    fresh.time.pass(HOUR_MS);
    const before = await fresh.next(ann);
    const cleared = { labels: null, max_attempts: null, description: null };
    expect(await change({ ...cleared, content: "new", priority: 4, name: "renamed" })).toMatchObject({
      content: "new",
      labels: [],
      max_attempts: null,
      description: null,
    });
    fresh.time.pass(HOUR_MS);
    expect(await fresh.next(ann)).toMatchObject({ content: "new", priority: 4, labels: [], max_attempts: 5 });
    expect(await fresh.read(before?.id ?? "")).toMatchObject({ content: "look", labels: ["a"] });
  });

  test("is refused for a version that is gone, for a name that is taken, and to a worker (R46)", async () => {
    const { fresh, ann, lead, made, add, change } = await recurring();
    await add({ name: "other" });
    expect(
      await fresh.refusal("create_recurrence", { name: "other", content: "x", cron: "@daily" }, lead),
    ).toMatchObject({ code: "already_exists", message: expect.stringContaining('"other"') });
    await fresh.ask("create_project", { key: "web" }, lead);
    expect(await add({ name: "other", project_id: "web" })).toMatchObject({ name: "other" });
    const to = (name: string) => ({ recurrence_id: made.id, name });
    expect(await fresh.refusal("update_recurrence", to("other"), lead)).toMatchObject({ code: "already_exists" });
    expect(await change({ name: "hourly" })).toMatchObject({ name: "hourly" });
    const old = { ...lead, caller: { ...lead.caller, ifVersion: 1 } };
    for (const name of ["update_recurrence", "delete_recurrence"] as const) {
      expect(await fresh.refusal(name, { recurrence_id: made.id }, old)).toMatchObject({
        code: "version_mismatch",
        version: 2,
      });
    }
    for (const name of ["create_recurrence", "update_recurrence", "delete_recurrence"] as OperationName[]) {
      const input = name.startsWith("create")
        ? { name: "x", content: "x", cron: "@daily" }
        : { recurrence_id: made.id };
      expect(await fresh.refusal(name, input as never, ann)).toMatchObject({ code: "forbidden" });
    }
  });

  test("is refused with its field for times that can't be, and leaves it as it was", async () => {
    const { fresh, lead, made, read } = await recurring();
    for (const [field, value] of [
      ["cron", "0 0 30 2 *"],
      ["cron", "every day"],
      ["time_zone", "Europe/Atlantis"],
    ]) {
      const input = { recurrence_id: made.id, [field as string]: value };
      expect(await fresh.refusal("update_recurrence", input as never, lead)).toMatchObject({
        code: "invalid_input",
        fields: [{ field }],
      });
    }
    expect(await read()).toEqual(made);
  });

  test("that deletes it leaves its tasks as they are, and makes no more", async () => {
    const { fresh, ann, lead, made, tasks, events } = await recurring();
    fresh.time.pass(HOUR_MS);
    const task = await fresh.next(ann);
    await fresh.ask("delete_recurrence", { recurrence_id: made.id }, lead);
    fresh.time.pass(DAY_MS);
    await fresh.sweep();
    expect(await tasks()).toMatchObject([{ id: task?.id, recurrence_id: made.id }]);
    expect(await events("recurrence.deleted")).toMatchObject([{ data: { recurrence_id: made.id, name: "hourly" } }]);
    expect(await fresh.refusal("get_recurrence", { recurrence_id: made.id }, ann)).toMatchObject({ code: "not_found" });
  });
});

describe("when an agent is deleted (R48)", () => {
  test("what recurs for it recurs for anybody", async () => {
    const { fresh, ann, read, change, events } = await recurring();
    const ben = await fresh.agent("ben");
    await change({ assigned_to_agent_id: ben.id });
    fresh.time.pass(HOUR_MS);
    await fresh.sweep();
    expect(await fresh.next(ann)).toBe(null);
    await fresh.ask("delete_agent", { agent_id: ben.id }, fresh.root);
    expect(await read()).toMatchObject({ assigned_to_agent_id: null, version: 3 });
    expect((await events("recurrence.updated")).at(-1)).toMatchObject({
      actor: { agent_name: "admin" },
      data: { fields: ["assigned_to_agent_id"] },
    });
    fresh.time.pass(HOUR_MS);
    expect([await fresh.next(ann), await fresh.next(ann)]).toMatchObject([
      { tick_at: "2026-01-01T13:00:00.000Z" },
      { tick_at: "2026-01-01T14:00:00.000Z" },
    ]);
  });

  test("what it made recurs on, in its name", async () => {
    const { fresh, ann, lead } = await recurring();
    await fresh.ask("delete_agent", { agent_id: lead.id }, fresh.root);
    fresh.time.pass(HOUR_MS);
    expect(await fresh.next(ann)).toMatchObject({ created_by_agent_id: lead.id });
  });
});
