import { describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** Field reports here: C16. */

interface Scene {
  fresh: FreshStore;
  ann: Actor;
  id: string;
}

/** How a lease can end without a result. */
const COUNTED: readonly (readonly [how: string, (scene: Scene) => Promise<unknown>])[] = [
  ["the clock ends it", async ({ fresh }) => fresh.time.pass(300_000)],
  ["its session falls silent", async ({ fresh }) => fresh.time.pass(900_000)],
  [
    "a coordinator releases it by force",
    ({ fresh, id }) => fresh.ask("force_release_task", { task_id: id, reason: "stuck" }, fresh.root),
  ],
  [
    "its holder fails it for a retry",
    ({ fresh, ann, id }) => fresh.ask("fail_task", { task_id: id, reason: "flaky", retry: true }, ann),
  ],
];
const UNCOUNTED: readonly (readonly [how: string, (scene: Scene) => Promise<unknown>])[] = [
  ["its holder gives it back", ({ fresh, ann, id }) => fresh.ask("release_task", { task_id: id }, ann)],
  ["its session is ended by call", ({ fresh, ann }) => fresh.ask("end_session", { session_id: ann.sessionId }, ann)],
];

async function claimed(max_attempts: number): Promise<Scene> {
  const fresh = await FreshStore.open();
  const ann = await fresh.worker("ann");
  const { id } = await fresh.task({ max_attempts });
  await fresh.claim(id, ann);
  return { fresh, ann, id };
}

describe("attempts (R20)", () => {
  test.each(COUNTED)("counts: %s", async (_how, end) => {
    const scene = await claimed(2);
    await end(scene);
    expect(await scene.fresh.read(scene.id)).toMatchObject({ status: "open", ready: true, attempts: 1 });
    const ben = await scene.fresh.worker("ben");
    expect(await scene.fresh.claim(scene.id, ben)).toMatchObject({ attempts: 2 });
  });

  test.each(COUNTED)("used up, the task reads failed from that instant, noticed or not: %s", async (_how, end) => {
    const scene = await claimed(1);
    await end(scene);
    const { fresh, id } = scene;
    const failed = await fresh.read(id);
    expect(failed).toMatchObject({ status: "failed", ready: false, attempts: 1, failure_reason: "attempts_exhausted" });
    await fresh.sweep();
    expect(await fresh.read(id)).toEqual(failed);
    const ben = await fresh.worker("ben");
    expect(await fresh.next(ben)).toBeNull();
    expect(await fresh.refusal("claim_task", { task_id: id }, ben)).toMatchObject({
      code: "task_closed",
      status: "failed",
    });
    expect((await fresh.history(id)).filter((type) => type === "task.failed")).toHaveLength(1);
  });

  test("counts: a takeover; the one who takes over gets a further attempt", async () => {
    const { fresh, id } = await claimed(2);
    await fresh.claim(id, fresh.root, { takeover: true, reason: "mine" });
    expect(await fresh.read(id)).toMatchObject({ attempts: 2 });
    await fresh.ask("force_release_task", { task_id: id, reason: "no" }, fresh.root);
    expect(await fresh.read(id)).toMatchObject({ status: "failed", failure_reason: "attempts_exhausted" });
  });

  test("an open task has always an attempt left: what was taken over on its last is failed when it is given back", async () => {
    const { fresh, id } = await claimed(1);
    await fresh.claim(id, fresh.root, { takeover: true, reason: "mine" });
    const back = await fresh.ask("release_task", { task_id: id }, fresh.root);
    expect(back).toMatchObject({ status: "failed", ready: false, failure_reason: "attempts_exhausted" });
  });

  test.each(UNCOUNTED)("C16: doesn't count, however often: %s", async (_how, end) => {
    const fresh = await FreshStore.open();
    const { id } = await fresh.task({ max_attempts: 1 });
    for (let n = 0; n < 5; n += 1) {
      const ann = await fresh.session(n === 0 ? await fresh.agent("ann") : await fresh.agent(`ann${n}`));
      await fresh.claim(id, ann);
      await end({ fresh, ann, id });
      expect(await fresh.read(id)).toMatchObject({ status: "open", ready: true, attempts: 0 });
    }
  });

  test("C16: three workers die; the fourth gets nothing, and the failure lists three leases", async () => {
    const fresh = await FreshStore.open();
    const { id } = await fresh.task({ max_attempts: 3 });
    const leases = [];
    for (const attempt of [1, 2, 3]) {
      const worker = await fresh.worker(`worker${attempt}`);
      const task = await fresh.next(worker, { lease_seconds: 30 });
      expect(task).toMatchObject({ id, attempts: attempt });
      leases.push(task?.lease_id);
      fresh.time.pass(30_000);
    }
    const fourth = await fresh.worker("worker4");
    expect(await fresh.next(fourth)).toBeNull();
    expect(await fresh.read(id)).toMatchObject({ status: "failed", failure_reason: "attempts_exhausted", attempts: 3 });
    const events = await fresh.ask("get_task_history", { task_id: id }, fourth);
    const failures = events.filter((event) => event.type === "task.failed");
    expect(failures).toHaveLength(1);
    const told = failures[0]?.data.leases as { type: string; lease_id: string }[];
    expect(told.map((lease) => [lease.type, lease.lease_id])).toEqual(leases.map((lease) => ["lease.expired", lease]));
  });

  test("C16: a coordinator can retry it with fresh attempts and a reason; a worker can't", async () => {
    const { fresh, ann, id } = await claimed(1);
    fresh.time.pass(300_000);
    const retry = { task_id: id, reason: "the disk was full" };
    expect(await fresh.refusal("retry_task", retry, await fresh.session(ann))).toMatchObject({ code: "forbidden" });
    const cleo = await fresh.worker("cleo", "coordinator");
    expect(await fresh.refusal("retry_task", { task_id: id }, cleo)).toMatchObject({ code: "reason_required" });
    const retried = await fresh.ask("retry_task", retry, cleo);
    expect(retried).toMatchObject({ status: "open", ready: true, attempts: 0, failure_reason: null });
    expect(await fresh.claim(id, cleo)).toMatchObject({ attempts: 1, fence: 2 });
  });

  test("why an attempt failed is told to the next holder, and is history once the task is done", async () => {
    const { fresh, ann, id } = await claimed(5);
    await fresh.ask("fail_task", { task_id: id, reason: "flaky network", retry: true }, ann);
    expect(await fresh.claim(id, ann)).toMatchObject({ failure_reason: "flaky network" });
    const done = await fresh.ask("complete_task", { task_id: id, result: 1 }, ann);
    expect(done).toMatchObject({ status: "completed", failure_reason: null });
    const events = await fresh.ask("get_task_history", { task_id: id }, ann);
    expect(events.find((event) => event.type === "task.retried")?.data.reason).toBe("flaky network");
  });

  test("max_attempts can't be set below what was made, nor so that an open task has none left", async () => {
    const { fresh, id } = await claimed(5);
    fresh.time.pass(300_000);
    for (const max_attempts of [1, 0, 101]) {
      const refused = await fresh.refusal("update_task", { task_id: id, max_attempts }, fresh.root);
      expect(refused).toMatchObject({ code: "invalid_input", fields: [{ field: "max_attempts" }] });
    }
    expect(await fresh.ask("update_task", { task_id: id, max_attempts: 2 }, fresh.root)).toMatchObject({ ready: true });
  });

  test("the workspace's max_attempts is the default for new tasks", async () => {
    const fresh = await FreshStore.open();
    expect((await fresh.task()).max_attempts).toBe(5);
    await fresh.ask("update_workspace", { max_attempts: 2 }, fresh.root);
    expect((await fresh.task()).max_attempts).toBe(2);
  });
});
