import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type Actor, type Body, FreshStore } from "../support/fresh-store.js";

type Task = Body<"get_task">;

/** Real time: what waits is woken by real timers. A's call waits before `wake` happens; what it gets, and after how long. */
async function wokenBy(wake: (scene: { fresh: FreshStore; ann: Actor }) => Promise<unknown>) {
  const fresh = await FreshStore.open({ realTime: true });
  await fresh.ask("update_workspace", { lease_seconds_min: 1 }, fresh.root);
  const ann = await fresh.worker("ann");
  return { fresh, ann, ...(await waitFor(fresh, ann, () => wake({ fresh, ann }))) };
}

async function waitFor(fresh: FreshStore, who: Actor, wake: () => Promise<unknown>, labels: string[] = []) {
  const waiting = fresh.next(who, { wait_seconds: 20, labels });
  await sleep(30);
  await wake();
  const wokenAt = performance.now();
  const task = await waiting;
  return { task, tookMs: performance.now() - wokenAt };
}

describe("a waiting claim wakes within a second of what it can take (R21)", () => {
  test("a creation", async () => {
    const { task, tookMs } = await wokenBy(({ fresh }) => fresh.task({ content: "new" }));
    expect(task).toMatchObject({ content: "new" });
    expect(tookMs).toBeLessThan(1_000);
  });

  /** Something that B holds or has closed, and what makes it claimable again. */
  const ways: readonly [how: string, (scene: { fresh: FreshStore; ben: Actor; id: string }) => Promise<unknown>][] = [
    ["a release", ({ fresh, ben, id }) => fresh.ask("release_task", { task_id: id }, ben)],
    [
      "a failure to be retried",
      ({ fresh, ben, id }) => fresh.ask("fail_task", { task_id: id, reason: "x", retry: true }, ben),
    ],
    [
      "the end of the holder's session",
      ({ fresh, ben }) => fresh.ask("end_session", { session_id: ben.sessionId }, ben),
    ],
    [
      "a release by force",
      ({ fresh, id }) => fresh.ask("force_release_task", { task_id: id, reason: "x" }, fresh.root),
    ],
    [
      "the deletion of the holder",
      ({ fresh, ben }) => fresh.ask("delete_agent", { agent_id: ben.id, force: true }, fresh.root),
    ],
    [
      "a revocation that releases",
      ({ fresh, ben }) => fresh.ask("revoke_agent_key", { agent_id: ben.id, release: true }, fresh.root),
    ],
    [
      "a reopening",
      async ({ fresh, ben, id }) => {
        await fresh.ask("complete_task", { task_id: id }, ben);
        await fresh.ask("reopen_task", { task_id: id }, fresh.root);
      },
    ],
    [
      "a retry",
      async ({ fresh, ben, id }) => {
        await fresh.ask("fail_task", { task_id: id, reason: "x" }, ben);
        await fresh.ask("retry_task", { task_id: id, reason: "y" }, fresh.root);
      },
    ],
  ];
  test.each(ways)("%s", async (_how, wake) => {
    const fresh = await FreshStore.open({ realTime: true });
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const { id } = await fresh.task();
    await fresh.claim(id, ben);
    const { task, tookMs } = await waitFor(fresh, ann, () => wake({ fresh, ben, id }));
    expect(task).toMatchObject({ id, claimed_by_agent_id: ann.id });
    expect(tookMs).toBeLessThan(1_000);
  });

  const changes: readonly [how: string, (made: { ann: Actor }) => object, change: object][] = [
    [
      "an assignment taken away",
      ({ ann }) => ({ assigned_to_agent_id: `not ${ann.id}` }),
      { assigned_to_agent_id: null },
    ],
    ["a label", () => ({ labels: ["other"] }), { labels: ["wanted"] }],
    ["a start that is moved to now", () => ({ not_before: "2099-01-01T00:00:00Z" }), { not_before: null }],
  ];
  test.each(changes)("a change of the task: %s", async (_how, made, change) => {
    const fresh = await FreshStore.open({ realTime: true });
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const input = { labels: ["wanted"], ...made({ ann }) } as Record<string, unknown>;
    if (typeof input.assigned_to_agent_id === "string") input.assigned_to_agent_id = ben.id;
    const { id } = await fresh.task(input);
    const wake = () => fresh.ask("update_task", { task_id: id, ...change }, fresh.root);
    const { task, tookMs } = await waitFor(fresh, ann, wake, ["wanted"]);
    expect(task).toMatchObject({ id });
    expect(tookMs).toBeLessThan(1_000);
  });

  test("the deletion of the agent a task was assigned to", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const { id } = await fresh.task({ assigned_to_agent_id: ben.id });
    const wake = () => fresh.ask("delete_agent", { agent_id: ben.id }, fresh.root);
    const { task, tookMs } = await waitFor(fresh, ann, wake);
    expect(task).toMatchObject({ id });
    expect(tookMs).toBeLessThan(1_000);
  });

  test("the clock alone: a lapse, not before its instant", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    await fresh.ask("update_workspace", { lease_seconds_min: 1 }, fresh.root);
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const { id } = await fresh.task();
    const { lease_expires_at } = await fresh.claim(id, ben, { lease_seconds: 1 });
    const task = await fresh.next(ann, { wait_seconds: 20 });
    const lateMs = Date.parse(task?.claimed_at ?? "") - Date.parse(lease_expires_at ?? "");
    expect(task).toMatchObject({ id, fence: 2 });
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(1_000);
  });

  test("the clock alone: not_before", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const ann = await fresh.worker("ann");
    const not_before = new Date(Date.now() + 500).toISOString();
    const { id } = await fresh.task({ not_before });
    const task = await fresh.next(ann, { wait_seconds: 20 });
    const lateMs = Date.parse(task?.claimed_at ?? "") - Date.parse(not_before);
    expect(task).toMatchObject({ id });
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(1_000);
  });

  test("another process's change on the file, within 100 ms where the machine is not overloaded (R56)", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const ann = await fresh.worker("ann");
    const other = await fresh.another();
    const took = [];
    for (let round = 0; round < 8; round += 1) {
      const create = () => fresh.ask("create_task", { content: "x" }, fresh.root, other);
      const { task, tookMs } = await waitFor(fresh, ann, create);
      expect(task).not.toBeNull();
      took.push(tookMs);
    }
    await other.close();
    expect(Math.max(...took)).toBeLessThan(1_000);
    expect(Math.min(...took)).toBeLessThan(100);
  });

  test("a task made in the very transaction that left the call empty", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const ann = await fresh.worker("ann");
    const startedAt = performance.now();
    const [task] = await Promise.all([fresh.next(ann, { wait_seconds: 20 }), fresh.task({ content: "just after" })]);
    expect(task).toMatchObject({ content: "just after" });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});

describe("the end of a wait", () => {
  test("nothing came: null after the seconds given, with the time of the answer", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const ann = await fresh.worker("ann");
    for (const [input, empty] of [
      [{}, { task: null }],
      [{ count: 3 }, { tasks: [] }],
    ] as const) {
      const startedAt = performance.now();
      // Two alike, of which only the first looks while nothing happens.
      const waits = [1, 2].map(() => fresh.answer("claim_next_task", { wait_seconds: 1, ...input }, ann));
      for (const { body, serverNowMs } of await Promise.all(waits)) {
        expect(body).toMatchObject(empty);
        expect(Math.abs(Date.now() - serverNowMs)).toBeLessThan(500);
      }
      const tookMs = performance.now() - startedAt;
      expect(tookMs).toBeGreaterThan(990);
      expect(tookMs).toBeLessThan(3_000);
    }
  });

  test("wait_seconds is 0..60 and a whole number", async () => {
    const fresh = await FreshStore.open();
    for (const wait_seconds of [-1, 61, 0.5, "5"]) {
      const refused = await fresh.refusal("claim_next_task", { wait_seconds } as never, fresh.root);
      expect(refused).toMatchObject({ code: "invalid_input", fields: [{ field: "wait_seconds" }] });
    }
  });

  test("a stop of the server ends all waits at once", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const agents = [await fresh.worker("a"), await fresh.worker("b"), await fresh.worker("c")];
    const waits = agents.map((agent) => fresh.next(agent, { wait_seconds: 60 }));
    await sleep(30);
    fresh.store.drain();
    expect(await Promise.all(waits)).toEqual([null, null, null]);
  });
});

describe("waiting calls are served in order of arrival (R21)", () => {
  test("of different agents, one task at a time", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const served: string[] = [];
    const waits = [];
    for (let n = 0; n < 12; n += 1) {
      const agent = await fresh.worker(`a${n}`);
      // Every third one waits for something narrower.
      const labels = n % 3 === 0 ? ["x"] : [];
      waits.push(
        fresh.next(agent, { wait_seconds: 20, labels }).then((task) => served.push(`${agent.name}:${task?.content}`)),
      );
      await sleep(2);
    }
    for (let n = 0; n < 12; n += 1) await fresh.task({ content: `${n}`, labels: ["x"] });
    await Promise.all(waits);
    expect(served).toEqual(Array.from({ length: 12 }, (_, n) => `a${n}:${n}`));
  });

  test("several tasks at once go to the first that wait, also where two calls of one agent are among them", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const got: string[] = [];
    const wait = (who: Actor, name: string) =>
      fresh.next(who, { wait_seconds: 2 }).then((task) => task && got.push(`${name}:${task.content}`));
    const waits = [];
    for (const [who, name] of [
      [ann, "ann1"],
      [ann, "ann2"],
      [ben, "ben"],
    ] as const) {
      waits.push(wait(who, name));
      await sleep(5);
    }
    await fresh.ask("create_tasks", { tasks: [{ content: "1" }, { content: "2" }] }, fresh.root);
    await Promise.all(waits);
    expect(got).toEqual(["ann1:1", "ann2:2"]);
  });

  test("a newer waiting call doesn't overtake, though it comes together with the task", async () => {
    for (let round = 0; round < 20; round += 1) {
      const fresh = await FreshStore.open({ realTime: true });
      const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
      const first = fresh.next(ann, { wait_seconds: 20 });
      // Answered behind its first look: from now on it waits.
      await fresh.sweep();
      const made = fresh.task();
      // At the same instant, or while the creation is under way.
      for (let turn = 0; turn < round % 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      const second = fresh.next(ben, { wait_seconds: 1 });
      expect((await first)?.id).toBe((await made).id);
      fresh.store.drain();
      expect(await second).toBeNull();
    }
  });

  test("hundreds of equal ones wait for one task: one gets it, and each task that follows is found by the next", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const ann = await fresh.worker("ann");
    const got: (Task | null)[] = [];
    const waits = Array.from({ length: 300 }, () =>
      fresh.next(ann, { wait_seconds: 30 }).then((task) => got.push(task)),
    );
    await sleep(20);
    for (let n = 1; n <= 5; n += 1) {
      await fresh.task();
      while (got.length < n) await sleep(1);
      expect(got).toHaveLength(n);
    }
    fresh.store.drain();
    await Promise.all(waits);
    expect(got.filter((task) => task !== null)).toHaveLength(5);
  });
});

describe("a call that would wait is answered at once where its answer is known", () => {
  test("a repeat of a claim that was granted, while another call of its kind waits (R59)", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    const keyed = { ...ann.caller, idempotencyKey: "k1" };
    await fresh.ask("claim_next_task", { wait_seconds: 5 }, keyed);
    const waiting = fresh.next(ann, { wait_seconds: 5 });
    await sleep(30);
    const askedAt = performance.now();
    const repeat = await fresh.answer("claim_next_task", { wait_seconds: 5 }, keyed);
    expect(performance.now() - askedAt).toBeLessThan(2_000);
    expect(repeat).toMatchObject({ replayed: true, body: { task: { id } } });
    fresh.store.drain();
    expect(await waiting).toBe(null);
  });

  test("a call that finds nothing after the store was told to end all waits", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const ann = await fresh.worker("ann");
    const askedAt = performance.now();
    const asked = fresh.next(ann, { wait_seconds: 5 });
    fresh.store.drain();
    expect(await asked).toBe(null);
    expect(performance.now() - askedAt).toBeLessThan(2_000);
  });

  test("a store that is closed answers all it was asked before, and refuses what comes after", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const ann = await fresh.worker("ann");
    const other = await fresh.another();
    const waiting = fresh.next(ann, { wait_seconds: 20 }, other);
    await sleep(30);
    const made = fresh.ask("create_task", { content: "on its way" }, fresh.root, other);
    const closing = other.close();
    const late = fresh.refusal("get_me", {}, ann, other);
    await closing;
    expect(await made).toMatchObject({ content: "on its way" });
    expect([null, "on its way"]).toContain((await waiting)?.content ?? null);
    expect(await late).toMatchObject({ code: "store_unavailable" });
  });
});
