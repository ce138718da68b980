import { describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";
import { lineScene } from "../support/line-scene.js";

/** Field reports here: C58, C59 (the header's form is the HTTP surface's). */

const HOUR = 3_600_000;
const keyed = (who: Actor, idempotencyKey: string) => ({ ...who.caller, idempotencyKey });

describe("a repeated call with its key gives the first answer (R59)", () => {
  test("C59: one after the other and at one instant: one task, the same answer, the repeat marked", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const create = () => fresh.answer("create_task", { content: "Fix login" }, keyed(ann, "k1"));
    const [first, second] = [await create(), await create()];
    expect([first.replayed, second.replayed]).toEqual([undefined, true]);
    expect(second).toMatchObject({ status: 201, body: first.body });
    const together = await Promise.all(
      Array.from({ length: 5 }, () => fresh.answer("create_task", { content: "x" }, keyed(ann, "k2"))),
    );
    expect(new Set(together.map((answer) => answer.body.id)).size).toBe(1);
    expect(together.every((answer) => answer.status === 201)).toBe(true);
    expect(await fresh.ask("list_tasks", {}, ann)).toHaveLength(2);
  });

  test("C59: at one instant through two processes on the file: one task", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const other = await fresh.another();
    const on = [fresh.store, other, fresh.store, other];
    const answers = await Promise.all(
      on.map((each) => fresh.ask("create_task", { content: "x" }, keyed(ann, "k"), each)),
    );
    await other.close();
    expect(new Set(answers.map((task) => task.id)).size).toBe(1);
    expect(await fresh.ask("list_tasks", {}, ann)).toHaveLength(1);
  });

  test("C59: without a key equal titles are two tasks; keys are each agent's and each route's own", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const task = { content: "Fix login" };
    const ids = [
      (await fresh.ask("create_task", task, ann)).id,
      (await fresh.ask("create_task", task, ann)).id,
      (await fresh.ask("create_task", task, keyed(ann, "k"))).id,
      (await fresh.ask("create_task", task, keyed(ben, "k"))).id,
      ...(await fresh.ask("create_tasks", { tasks: [task] }, keyed(ann, "k"))).map((each) => each.id),
    ];
    expect(new Set(ids).size).toBe(5);
    // What stands in the path is part of the route.
    const comment = { body: "seen" };
    const first = await fresh.ask("add_comment", { task_id: ids[0] ?? "", ...comment }, keyed(ann, "c"));
    const second = await fresh.ask("add_comment", { task_id: ids[1] ?? "", ...comment }, keyed(ann, "c"));
    expect(first.id).not.toBe(second.id);
  });

  test("C59: the key with another body is refused and does nothing, also at one instant", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    await fresh.ask("create_task", { content: "Fix login" }, keyed(ann, "k"));
    const refused = await fresh.refusal("create_task", { content: "Other" }, keyed(ann, "k"));
    expect(refused).toMatchObject({ code: "idempotency_key_reused" });
    const results = await Promise.allSettled([
      fresh.ask("create_task", { content: "A" }, keyed(ann, "k2")),
      fresh.ask("create_task", { content: "B" }, keyed(ann, "k2")),
    ]);
    expect(results.map((each) => each.status)).toEqual(["fulfilled", "rejected"]);
    expect((await fresh.ask("list_tasks", {}, ann)).map((task) => task.content)).toEqual(["Fix login", "A"]);
  });

  test("C59: it is kept over a restart, for 24 hours, and not for 25", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.agent("ann");
    const create = () => fresh.answer("create_task", { content: "x" }, keyed(ann, "k"));
    const { body } = await create();
    await fresh.restart();
    expect(await create()).toMatchObject({ replayed: true, body: { id: body.id } });
    fresh.time.pass(24 * HOUR - 1);
    expect(await create()).toMatchObject({ replayed: true, body: { id: body.id } });
    fresh.time.pass(HOUR);
    const anew = await create();
    expect(anew.replayed).toBeUndefined();
    expect(anew.body.id).not.toBe(body.id);
  });

  test("C59: refusals are not remembered: the same key works once the cause is gone", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const { id } = await fresh.task();
    await fresh.claim(id, ann);
    const claim = () => fresh.answer("claim_task", { task_id: id }, keyed(ben, "k"));
    await expect(claim()).rejects.toMatchObject({ code: "task_claimed" });
    await fresh.ask("release_task", { task_id: id }, ann);
    const granted = await claim();
    expect(granted.replayed).toBeUndefined();
    expect(granted.body.task.claimed_by_agent_id).toBe(ben.id);
  });
});

describe("a claim's repeat is read anew (R59)", () => {
  test("C58: the answer was lost; the repeat gives the same task and lease, with the time that is left now", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    for (let n = 0; n < 100; n += 1) await fresh.task();
    const claim = () => fresh.answer("claim_next_task", { lease_seconds: 60 }, keyed(ann, "k1"));
    const first = (await claim()).body.task;
    fresh.time.pass(2_000);
    const repeat = await claim();
    expect(repeat).toMatchObject({ status: 200, replayed: true });
    expect(repeat.body.task).toMatchObject({ id: first?.id, lease_id: first?.lease_id, lease_remaining_ms: 58_000 });
    expect(await fresh.ask("list_tasks", { claimed: true }, ann)).toHaveLength(1);
    expect(await fresh.ask("list_events", { types: ["task.claimed"] }, ann)).toHaveLength(1);
  });

  test("C58: after the lease lapsed and another took the task, the repeat says lease_lost and names him", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    await fresh.task();
    await fresh.ask("claim_next_task", { lease_seconds: 60 }, keyed(ann, "k1"));
    fresh.time.pass(60_000);
    const lapsed = await fresh.refusal("claim_next_task", { lease_seconds: 60 }, keyed(ann, "k1"));
    expect(lapsed).toMatchObject({ code: "lease_lost", reason: "expired" });
    await fresh.next(ben);
    const refused = await fresh.refusal("claim_next_task", { lease_seconds: 60 }, keyed(ann, "k1"));
    expect(refused).toMatchObject({ code: "lease_lost", reason: "expired", holder: { agent_name: "ben" } });
  });

  test("a claim that renewed what its session held is read anew as well, and never shown alive when dead", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    const { lease_id } = await fresh.claim(id, ann, { lease_seconds: 60 });
    const again = () => fresh.answer("claim_task", { task_id: id, lease_seconds: 60 }, keyed(ann, "k"));
    await again();
    fresh.time.pass(2_000);
    expect((await again()).body.task).toMatchObject({ lease_id, lease_remaining_ms: 58_000 });
    fresh.time.pass(58_000);
    await expect(again()).rejects.toMatchObject({ code: "lease_lost" });
  });

  test("so is what was accepted in line: the time that is left, and lease_lost when it is over", async () => {
    const { fresh, ann, ben, lead, claim, wait, release } = await lineScene({ ttl_seconds: 60 });
    await claim(ann, ["path:a"]);
    const ticket = await wait(ben, ["path:a"]);
    await release(ann, "path:a");
    const accept = () => fresh.ask("accept_wait", { ticket }, keyed(ben, "k"));
    const grant = () => fresh.ask("grant_wait", { ticket, reason: "now" }, keyed(lead, "k"));
    expect(await accept()).toMatchObject({ claims: [{ remaining_ms: 60_000 }] });
    await grant();
    fresh.time.pass(2_000);
    expect([await accept(), await grant()]).toMatchObject(Array(2).fill({ claims: [{ remaining_ms: 58_000 }] }));
    fresh.time.pass(58_000);
    await claim(ann, ["path:a"]);
    await expect(accept()).rejects.toMatchObject({ code: "lease_lost", details: { reason: "expired" } });
    // Who overruled the line doesn't hold it, and is told how things are.
    expect(await grant()).toMatchObject({ state: "granted", claims: [{ remaining_ms: 0 }] });
  });

  test("so are heartbeats: a repeat renews nothing and says what is lost", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    await fresh.claim(id, ann, { lease_seconds: 60 });
    const scopes = ["path:a"];
    await fresh.ask("claim_scopes", { scopes, intent: "x", ttl_seconds: 60 }, ann);
    const beats = async () => [
      await fresh.ask("heartbeat_scopes", { scopes }, keyed(ann, "k")),
      await fresh.ask("heartbeat_session", { session_id: ann.sessionId }, keyed(ann, "k")),
    ];
    const ofTask = () => fresh.ask("heartbeat_task", { task_id: id }, keyed(ann, "k"));
    await beats();
    await ofTask();
    fresh.time.pass(2_000);
    const left = { lease_remaining_ms: 58_000 };
    const renewed = { outcome: "renewed" };
    expect(await ofTask()).toMatchObject(left);
    expect(await beats()).toMatchObject([
      { items: [{ ...renewed, remaining_ms: 58_000 }] },
      {
        items: [
          { ...renewed, ...left, task_id: id },
          { ...renewed, ...left },
        ],
      },
    ]);
    fresh.time.pass(58_000);
    await expect(ofTask()).rejects.toMatchObject({ code: "lease_lost", details: { reason: "expired" } });
    const lost = { outcome: "lost", reason: "expired" };
    expect(await beats()).toMatchObject([{ items: [{ ...lost, remaining_ms: null }] }, { items: [lost, lost] }]);
  });

  test("several tasks at once come back together", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    for (let n = 0; n < 5; n += 1) await fresh.task();
    const claim = () => fresh.answer("claim_next_task", { count: 3 }, keyed(ann, "k"));
    const first = (await claim()).body.tasks;
    const repeat = await claim();
    expect(repeat.replayed).toBe(true);
    expect(repeat.body.tasks?.map((task) => task.lease_id)).toEqual(first?.map((task) => task.lease_id));
  });

  test("nothing to claim is no effect and not kept: the repeat may find work", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const claim = () => fresh.answer("claim_next_task", {}, keyed(ann, "k"));
    expect((await claim()).body.task).toBeNull();
    const { id } = await fresh.task();
    const found = await claim();
    expect(found).toMatchObject({ body: { task: { id } } });
    expect(found.replayed).toBeUndefined();
  });
});

describe("repeats without a key (C58)", () => {
  test("complete: the same result is answered alike without a new event; another one is refused", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    const { lease_id } = await fresh.claim(id, ann);
    const complete = (result: unknown) =>
      fresh.ask("complete_task", { task_id: id, lease_id: lease_id ?? "", result: result as never }, ann);
    const first = await complete({ n: 1 });
    expect(await complete({ n: 1 })).toEqual(first);
    const refused = await fresh.refusal("complete_task", { task_id: id, lease_id: lease_id ?? "", result: "r2" }, ann);
    expect(refused).toMatchObject({ code: "lease_lost", reason: "completed" });
    expect(await fresh.read(id)).toEqual(first);
    expect((await fresh.history(id)).filter((type) => type === "task.completed")).toHaveLength(1);
  });

  test("heartbeat is one more renewal; complete by another session is no repeat", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const twin = await fresh.session(ann);
    const { id } = await fresh.task();
    await fresh.claim(id, ann);
    const beats = [
      await fresh.ask("heartbeat_task", { task_id: id }, ann),
      await fresh.ask("heartbeat_task", { task_id: id }, ann),
    ];
    expect(beats[1]).toEqual(beats[0]);
    await fresh.ask("complete_task", { task_id: id, result: "r" }, ann);
    expect(await fresh.refusal("complete_task", { task_id: id, result: "r" }, twin)).toMatchObject({
      code: "lease_lost",
    });
  });
});
