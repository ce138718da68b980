import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type Actor, type Body, FreshStore } from "../support/fresh-store.js";

type Task = Body<"get_task">;

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
      fresh.next(who, { wait_seconds: 20 }).then((task) => task && got.push(`${name}:${task.content}`));
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
    await Promise.all(waits.slice(0, 2));
    fresh.store.drain();
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
