import type { OpenStore } from "dibs";
import { describe, expect, onTestFinished, test } from "vitest";
import { ON_SQLITE } from "../support/any-store.js";
import { FreshStore } from "../support/fresh-store.js";
import { recurring } from "../support/recurring.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

describe("what recurs", () => {
  test("has a task at its tick and none before it, with all that the template says, found by the next claim", async () => {
    const full = {
      description: "all of it",
      labels: ["nightly", "tests"],
      priority: 3,
      max_attempts: 2,
      context: { suite: "long" },
    };
    const { fresh, ann, lead, made, read, events } = await recurring(full);
    expect(made).toMatchObject({
      ...full,
      time_zone: "UTC",
      skip_if_open: false,
      enabled: true,
      next_at: "2026-01-01T13:00:00.000Z",
      last_at: null,
      last_task_id: null,
      created_by_agent_id: lead.id,
    });
    fresh.time.pass(HOUR_MS - 1);
    expect(await fresh.next(ann)).toBe(null);
    fresh.time.pass(1);
    const task = await fresh.next(ann);
    expect(task).toMatchObject({
      ...full,
      content: "look",
      recurrence_id: made.id,
      tick_at: "2026-01-01T13:00:00.000Z",
      created_by_agent_id: lead.id,
      project_id: made.project_id,
    });
    expect(await fresh.next(ann)).toBe(null);
    expect(await read()).toMatchObject({
      next_at: "2026-01-01T14:00:00.000Z",
      last_at: "2026-01-01T13:00:00.000Z",
      last_task_id: task?.id,
      version: 1,
    });
    expect(await events("task.created")).toMatchObject([
      {
        actor: null,
        task_id: task?.id,
        project_id: made.project_id,
        data: { recurrence_id: made.id, name: "hourly", tick_at: "2026-01-01T13:00:00.000Z", content: "look" },
      },
    ]);
  });

  test("has one task after a time in which nobody wrote, for the last tick that was missed", async () => {
    const { fresh, ann, tasks, events } = await recurring();
    fresh.time.pass(DAY_MS + 10 * MINUTE_MS);
    expect(await fresh.next(ann)).toMatchObject({ tick_at: "2026-01-02T12:00:00.000Z" });
    expect(await tasks()).toHaveLength(1);
    expect(await events("task.created")).toMatchObject([{ data: { missed_since: "2026-01-01T13:00:00.000Z" } }]);
    fresh.time.pass(50 * MINUTE_MS);
    await fresh.sweep();
    expect((await tasks()).map((task) => task.tick_at)).toEqual([
      "2026-01-02T12:00:00.000Z",
      "2026-01-02T13:00:00.000Z",
    ]);
  });

  test("has no second task of a tick when the clock is set back, or its times are changed to ones that passed", async () => {
    const { fresh, tasks, change, read } = await recurring();
    fresh.time.pass(HOUR_MS + 5 * MINUTE_MS);
    await fresh.sweep();
    fresh.time.setWall(-2 * HOUR_MS);
    await fresh.restart();
    await fresh.sweep();
    await change({ cron: "*/60 * * * *" });
    await change({ enabled: false });
    await change({ enabled: true });
    for (let step = 0; step < 12; step += 1) {
      fresh.time.pass(5 * MINUTE_MS);
      await fresh.sweep();
    }
    const ticks = (await tasks()).map((task) => task.tick_at);
    expect(new Set(ticks).size).toBe(ticks.length);
    expect(ticks).toEqual(["2026-01-01T13:00:00.000Z", "2026-01-01T14:00:00.000Z"]);
    expect(await read()).toMatchObject({ next_at: "2026-01-01T15:00:00.000Z" });
  });

  test.each([
    ["spring, where 02:30 isn't there", "2026-03-27T12:00:00Z", ["03-28T01:30", "03-29T01:00", "03-30T00:30"]],
    ["autumn, where it is there twice", "2026-10-23T12:00:00Z", ["10-24T00:30", "10-25T00:30", "10-26T01:30"]],
  ])("has one task a day at 02:30 of Berlin, also in %s", async (_when, startsAt, ticks) => {
    const { fresh, tasks } = await recurring({ cron: "30 2 * * *", time_zone: "Europe/Berlin" }, startsAt);
    for (let step = 0; step < 3 * 24 * 6; step += 1) {
      fresh.time.pass(10 * MINUTE_MS);
      await fresh.sweep();
    }
    const made = (await tasks()).map(({ tick_at, created_at }) => [tick_at, created_at].map((at) => at?.slice(5, 16)));
    expect(made).toEqual(ticks.map((tick) => [tick, tick]));
  });

  test("is passed over while a task of an earlier tick isn't closed, if it says so, and the log says which", async () => {
    const { fresh, ann, tasks, made, read, events } = await recurring({ skip_if_open: true, max_attempts: 1 });
    fresh.time.pass(HOUR_MS);
    const first = await fresh.next(ann, { lease_seconds: 3600 });
    fresh.time.pass(HOUR_MS - 1);
    await fresh.ask("heartbeat_task", { task_id: first?.id ?? "", lease_seconds: 3600 }, ann);
    fresh.time.pass(1);
    await fresh.sweep();
    expect(await tasks()).toHaveLength(1);
    expect(await events("recurrence.skipped")).toMatchObject([
      {
        actor: null,
        task_id: null,
        project_id: made.project_id,
        data: { recurrence_id: made.id, tick_at: "2026-01-01T14:00:00.000Z", open_task_id: first?.id },
      },
    ]);
    expect(await read()).toMatchObject({ last_at: "2026-01-01T13:00:00.000Z", next_at: "2026-01-01T15:00:00.000Z" });
    // Its only attempt lapses at the very tick, and nobody has written that down.
    fresh.time.pass(HOUR_MS);
    await fresh.sweep();
    expect((await tasks()).map((task) => task.status)).toEqual(["failed", "open"]);
    const second = await fresh.next(ann);
    await fresh.ask("complete_task", { task_id: second?.id ?? "" }, ann);
    fresh.time.pass(HOUR_MS);
    expect(await fresh.next(ann)).toMatchObject({ tick_at: "2026-01-01T16:00:00.000Z" });
    expect(await events("recurrence.skipped")).toHaveLength(1);
  });

  test("without that has a task at every tick, whatever became of the others", async () => {
    const { fresh, tasks } = await recurring();
    for (let hour = 0; hour < 3; hour += 1) {
      fresh.time.pass(HOUR_MS);
      await fresh.sweep();
    }
    expect((await tasks()).map((task) => task.ready)).toEqual([true, true, true]);
  });

  test("makes the tasks of all whose ticks came, however many they are, before a claim looks for the best", async () => {
    const { fresh, ann, add, tasks } = await recurring();
    for (let nth = 0; nth < 150; nth += 1) await add({ name: `n${nth}`, priority: nth === 140 ? 4 : 1 });
    fresh.time.pass(HOUR_MS);
    expect(await fresh.next(ann)).toMatchObject({ priority: 4 });
    expect(await tasks()).toHaveLength(151);
  });
});

test("another workspace's recurrences answer like unknown ones, and its waits aren't given their tasks (R47)", async () => {
  const { fresh, made } = await recurring();
  const { key } = await fresh.store.createWorkspace("elsewhere");
  const stranger = { id: "", name: "stranger", caller: { identity: { kind: "key", key } as const }, sessionId: "" };
  expect(await fresh.ask("list_recurrences", {}, stranger)).toEqual([]);
  const unknown = { recurrence_id: "f".repeat(32) };
  const refused = await fresh.refusal("get_recurrence", unknown, stranger);
  const foreign = await fresh.refusal("get_recurrence", { recurrence_id: made.id }, stranger);
  expect(foreign.message.replace(made.id, unknown.recurrence_id)).toBe(refused.message);
  fresh.time.pass(HOUR_MS);
  expect(await fresh.next(stranger)).toBe(null);
});

test("what can't go on by this machine's zones is stopped and says so, and stops nothing else", async () => {
  const { fresh, ann, read, events } = await recurring();
  await fresh.kept.exec("UPDATE recurrences SET time_zone = 'Mars/Olympus'");
  fresh.time.pass(HOUR_MS);
  expect(await fresh.next(ann)).toBe(null);
  expect(await read()).toMatchObject({ enabled: false, next_at: null });
  expect(await events("recurrence.updated")).toMatchObject([
    { actor: null, data: { enabled: false, reason: expect.stringContaining("time_zone") } },
  ]);
});

test("a task of a tick that is there is not made again, even if its recurrence were put back", async () => {
  const { fresh, tasks } = await recurring();
  fresh.time.pass(HOUR_MS);
  await fresh.sweep();
  await fresh.kept.exec("UPDATE recurrences SET next_at = last_at");
  await fresh.sweep();
  fresh.time.pass(HOUR_MS);
  await fresh.sweep();
  expect((await tasks()).map((task) => task.tick_at)).toEqual(["2026-01-01T13:00:00.000Z", "2026-01-01T14:00:00.000Z"]);
});

test("a call that waits has its task within a second of the tick, with no server there (R21)", async () => {
  const fresh = await FreshStore.open({ realTime: true });
  const { next_at } = await fresh.ask("create_recurrence", { name: "x", content: "x", cron: "* * * * *" }, fresh.root);
  const tickMs = Date.parse(next_at ?? "");
  const started = Date.now();
  // The store's clock is put to 1.5 s before the tick; a restart reads it anew.
  await fresh.kept.exec(`UPDATE clock SET offset_ms = ${tickMs - 1_500 - started}`);
  const answer = await fresh.answer("claim_next_task", { wait_seconds: 20 }, fresh.root);
  expect(answer.body.task).toMatchObject({ tick_at: next_at });
  expect(answer.serverNowMs - tickMs).toBeLessThan(1_000);
});

test("stores open at once on one make each tick's task once, whoever comes first", async () => {
  const { fresh, ann, tasks } = await recurring({ cron: "* * * * *" });
  const others: OpenStore[] = [];
  for (let nth = 0; nth < 4; nth += 1) others.push(await fresh.another());
  onTestFinished(() => Promise.all(others.map((store) => store.close())).then(() => {}));
  let given = 0;
  for (let tick = 0; tick < 20; tick += 1) {
    fresh.time.pass(MINUTE_MS);
    const claims = [fresh.store, ...others].map((store) => () => fresh.next(ann, { lease_seconds: 3600 }, store));
    for (const task of await (ON_SQLITE ? inTurn(claims) : atOnce(claims))) if (task) given += 1;
  }
  expect(await tasks()).toHaveLength(20);
  expect(new Set((await tasks()).map((task) => task.tick_at)).size).toBe(20);
  // Who came while another was about to make it may have gone empty; nothing is given twice.
  while (await fresh.next(ann)) given += 1;
  expect(given).toBe(20);
});

const atOnce = <T>(calls: (() => Promise<T>)[]) => Promise.all(calls.map((call) => call()));

/** Connections of one thread can't wait for each other's lock of a file; processes do in test/race/ticks.test.ts. */
async function inTurn<T>(calls: (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  for (const call of calls) results.push(await call());
  return results;
}
