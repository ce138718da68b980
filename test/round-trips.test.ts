import { open, operations } from "dibs";
import type { OperationName } from "dibs/contract";
import pg from "pg";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { FakeTime } from "./support/fake-time.js";
import { byKey } from "./support/fresh-store.js";
import { freshDatabase } from "./support/postgres.js";

/** Hints to other nodes, and looks for theirs, come when they come. */
const BESIDE = 5;

/** Asks a database of the test's own, and says how many statements it took. */
async function counted<B>() {
  const { url, drop } = await freshDatabase(inject("postgres"));
  const store = await open({ store: url, time: new FakeTime() });
  const { key = "" } = await store.ensureAdmin();
  const sent = vi.spyOn(pg.Client.prototype, "query");
  onTestFinished(async () => {
    sent.mockRestore();
    await store.close();
    await drop();
  });
  return async (name: OperationName, input: object, sessionId?: string) => {
    sent.mockClear();
    const { body } = await store.call(operations[name], input as never, { ...byKey(key), sessionId });
    return { statements: sent.mock.calls.length, body: body as unknown as B };
  };
}

test("a hundred tasks made or claimed by one call cost a database a handful of statements, not a hundred", async () => {
  const asked = await counted<{ readonly tasks: readonly unknown[] }>();
  const tasks = Array.from({ length: 100 }, (_, at) => ({ content: `task ${at}` }));
  await asked("create_task", { content: "the first" });
  const made = await asked("create_tasks", { tasks });
  expect(made.body).toHaveLength(100);
  // They took 117 and 511 when each task was looked up, and read, alone.
  expect(made.statements).toBeLessThan(30);
  const claimed = await asked("claim_next_task", { count: 100 });
  expect(claimed.body.tasks).toHaveLength(100);
  expect(claimed.statements).toBeLessThan(40);
});

test("to get into a line costs a database no more statements behind forty than behind five (R37)", async () => {
  const asked = await counted<{ readonly id: string }>();
  const session = async () => (await asked("open_session", { ttl_seconds: 3600 })).body.id;
  const claim = (scopes: readonly string[], by: string, wait = true) =>
    asked("claim_scopes", { scopes, wait, intent: "work" }, by);
  await claim(["path:a"], await session());
  const entered: number[] = [];
  for (let before = 0; before <= 40; before += 1) {
    const by = await session();
    // One that holds something that nobody wants.
    if (before % 10 === 9) await claim([`port:${before}`], by);
    entered.push((await claim(["path:a"], by)).statements);
  }
  // With a search from each that is before it behind forty it was some thousands.
  for (const behind of [39, 40]) expect(entered[behind]).toBeLessThan((entered[5] as number) + BESIDE);
});

test("names are looked up all at once, not one by one: for claims, in lists of places, and when a branch has landed", async () => {
  const asked = await counted<{ readonly id: string }>();
  const names = (count: number, of: string) => Array.from({ length: count }, (_, at) => `path:${of}/${at}`);
  const { body } = await asked("open_session", { ttl_seconds: 3600 });
  const landed: string[] = [];
  for (const count of [2, 100])
    landed.push((await asked("declare_unlanded", { branch: `b${count}`, scopes: names(count, "far") })).body.id);
  const claim = async (count: number, of: string) =>
    (await asked("claim_scopes", { scopes: names(count, of), intent: "work" }, body.id)).statements;
  await claim(2, "first");
  // With one that is unlanded elsewhere it was one statement a name.
  const claimed = await claim(2, "few");
  expect(await claim(100, "many")).toBeLessThan(claimed + BESIDE);
  const land = async (id: string) => (await asked("land_unlanded", { unlanded_id: id })).statements;
  const [few = "", many = ""] = landed;
  const told = await land(few);
  expect(await land(many)).toBeLessThan(told + BESIDE);
  const places = async () => (await asked("list_scope_capacities", { limit: 1000 })).statements;
  await asked("set_scope_capacity", { scope: "slot:gpu", capacity: 2 });
  const one = await places();
  for (let at = 0; at < 20; at += 1) await asked("set_scope_capacity", { scope: `slot:${at}`, capacity: 2 });
  expect(await places()).toBeLessThan(one + BESIDE);
});
