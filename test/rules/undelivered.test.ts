import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";
import { StubHttp } from "../support/stub-http.js";

describe("a client that went away gets nothing (R21)", () => {
  const gone = (fresh: FreshStore, who: Actor, input: object, more: object = {}) => {
    const controller = new AbortController();
    const caller = { ...who.caller, ...more, signal: controller.signal };
    return { controller, answer: fresh.ask("claim_next_task", input, caller) };
  };
  const settled = async (fresh: FreshStore) => {
    for (let turn = 0; turn < 5; turn += 1) await fresh.store.ping();
    await sleep(5);
  };

  test("a grant that can't be delivered is undone, doesn't count, and says so", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    const { controller, answer } = gone(fresh, ann, {});
    controller.abort();
    await answer;
    await settled(fresh);
    expect(await fresh.read(id)).toMatchObject({ status: "open", ready: true, attempts: 0, lapsed: false });
    const events = await fresh.ask("get_task_history", { task_id: id }, ann);
    expect(events.at(-1)).toMatchObject({ type: "task.released", data: { reason: "undelivered" } });
  });

  test("it is kept where an idempotency key lets the client fetch it", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    const { controller, answer } = gone(fresh, ann, {}, { idempotencyKey: "k" });
    controller.abort();
    await answer;
    await settled(fresh);
    expect(await fresh.read(id)).toMatchObject({ status: "claimed", attempts: 1 });
    const repeat = await fresh.answer("claim_next_task", {}, { ...ann.caller, idempotencyKey: "k" });
    expect(repeat).toMatchObject({ replayed: true, body: { task: { id } } });
  });

  test("one that leaves while it waits takes nothing from those who stay", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const { controller, answer } = gone(fresh, ann, { wait_seconds: 20 });
    await sleep(5);
    const staying = fresh.next(ben, { wait_seconds: 20 });
    await sleep(5);
    controller.abort();
    expect((await answer).task).toBeNull();
    const { id } = await fresh.task();
    expect(await staying).toMatchObject({ id, attempts: 1 });
  });

  test("one that leaves just when it is served: the next in line gets the task", async () => {
    for (let round = 0; round < 15; round += 1) {
      const fresh = await FreshStore.open({ realTime: true });
      const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
      const { controller, answer } = gone(fresh, ann, { wait_seconds: 20 });
      await sleep(2);
      const staying = fresh.next(ben, { wait_seconds: 20 });
      await sleep(2);
      const made = fresh.task();
      for (let turn = 0; turn < round; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      const [{ task }, { id }] = [await answer, await made];
      expect(await staying).toMatchObject({ id, attempts: 1 });
      expect([null, id]).toContain(task?.id ?? null);
    }
  });

  test("one whose time is over just when it is served either has the task or left it", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const ann = await fresh.worker("ann");
    for (let round = 0; round < 6; round += 1) {
      const waiting = fresh.next(ann, { wait_seconds: 1 });
      await sleep(994 + round * 2);
      const { id } = await fresh.task();
      const task = await waiting;
      expect(await fresh.read(id)).toMatchObject(task ? { status: "claimed" } : { status: "open", attempts: 0 });
      await fresh.ask("cancel_task", { task_id: id }, task ? ann : fresh.root);
    }
  });
});

describe("who stops waiting for names", () => {
  const waiting = async (fresh: FreshStore) => {
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    await fresh.ask("claim_scopes", { scopes: ["path:a"], intent: "x" }, ann);
    const asked = { scopes: ["path:a"], intent: "x", wait: true };
    const { ticket = "" } = await fresh.ask("claim_scopes", asked, ben);
    return { ben, ticket, asked: { ...asked, wait_seconds: 20 } };
  };

  test.each([0, 1, 50])(
    "for %i ms: claim_scopes and get_wait throw what the signal says, and the ticket keeps its place",
    async (patienceMs) => {
      const fresh = await FreshStore.open({ realTime: true });
      const { ben, ticket, asked } = await waiting(fresh);
      const controller = new AbortController();
      const caller = { ...ben.caller, signal: controller.signal };
      const answers = [
        fresh.ask("claim_scopes", asked, caller),
        fresh.ask("get_wait", { ticket, wait_seconds: 20 }, caller),
      ];
      const ended = Promise.allSettled(answers);
      await sleep(patienceMs);
      controller.abort(new Error("enough"));
      expect((await ended).map((each) => each.status === "rejected" && each.reason.message)).toEqual([
        "enough",
        "enough",
      ]);
      expect(await fresh.ask("get_wait", { ticket }, ben)).toMatchObject({ state: "waiting", position: 1 });
    },
  );

  test("over HTTP that is no failure of the server", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const { ben, ticket } = await waiting(fresh);
    const failures: unknown[] = [];
    let ended: () => void = () => {};
    const over = new Promise<void>((resolve) => {
      ended = resolve;
    });
    let begun: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const http = await StubHttp.forTest({
      log: { error: (fields: unknown) => failures.push(fields), info: () => {}, warn: () => {} } as never,
      answer: ({ operation, input, caller }) => {
        const { signal } = caller;
        const answer = fresh.store.callText(operation, input as never, {
          ...ben.caller,
          ...(signal ? { signal } : {}),
        });
        answer.catch(() => setImmediate(ended));
        begun();
        return answer;
      },
    });
    const controller = new AbortController();
    const gone = fetch(`http://127.0.0.1:${http.port}/v1/waits/${ticket}?wait_seconds=20`, {
      headers: { "x-agent-key": "a-good-key" },
      signal: controller.signal,
    });
    await asked;
    controller.abort();
    await expect(gone).rejects.toThrow();
    await over;
    await sleep(20);
    expect(failures).toEqual([]);
  });
});
