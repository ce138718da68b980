import { describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** Field reports here: C13 (a to f). */

describe("a lease lives while now < lease_expires_at (R1)", () => {
  /** A holds a task for 60 s from 12:00:00.000; the clock stands `ms` later, and somebody has noticed, or nobody has. */
  async function heldFor(ms: number, noticed: boolean): Promise<{ fresh: FreshStore; ann: Actor; id: string }> {
    const fresh = await FreshStore.open();
    // The session outlives the lease, so that only the lease is at stake.
    const ann = await fresh.session(await fresh.agent("ann"), { ttl_seconds: 86_400 });
    const { id } = await fresh.task();
    const { lease_expires_at } = await fresh.claim(id, ann, { lease_seconds: 60 });
    expect(lease_expires_at).toBe("2026-01-01T12:01:00.000Z");
    fresh.time.pass(ms);
    if (noticed) await fresh.sweep();
    return { fresh, ann, id };
  }

  test("C13 a: 1 ms before its end a heartbeat renews it", async () => {
    const { fresh, ann, id } = await heldFor(59_999, false);
    const renewed = await fresh.ask("heartbeat_task", { task_id: id }, ann);
    expect(renewed).toMatchObject({ lease_expires_at: "2026-01-01T12:01:59.999Z", fence: 1 });
  });

  test.each([
    ["b: at the instant itself", 60_000],
    ["c, d: 1 ms after", 60_001],
    ["(later): an hour after", 3_600_000],
  ])("C13 %s a heartbeat is refused with the same bytes, whether or not anybody noticed", async (_at, ms) => {
    const bodies = [];
    for (const noticed of [false, true]) {
      const { fresh, ann, id } = await heldFor(ms, noticed);
      const refused = await fresh.refusal("heartbeat_task", { task_id: id }, ann);
      expect(refused).toMatchObject({ code: "lease_lost", reason: "expired" });
      expect(refused.holder).toBeUndefined();
      bodies.push(JSON.stringify(refused.problem));
    }
    expect(bodies[1]).toBe(bodies[0]);
  });

  test("what is read of a dead lease has the same bytes, whether or not anybody noticed", async () => {
    const shown = [];
    for (const noticed of [false, true]) {
      const { fresh, ann, id } = await heldFor(60_000, noticed);
      const ben = await fresh.agent("ben");
      const task = await fresh.read(id, ben);
      expect(task).toMatchObject({
        status: "open",
        ready: true,
        lapsed: true,
        lease_id: null,
        lease_remaining_ms: null,
      });
      expect(task).toMatchObject({ claimed_by_agent_id: ann.id, claimed_by_session_id: ann.sessionId });
      expect(task.lease_expires_at).toBe("2026-01-01T12:01:00.000Z");
      const why = await fresh.ask("get_task_why", { task_id: id }, ben);
      const lists = [
        await fresh.ask("list_tasks", { ready: true }, ben),
        await fresh.ask("list_tasks", { claimed: false }, ben),
        await fresh.ask("list_tasks", { claimed: true }, ben),
        await fresh.ask("list_tasks", { lapsed: true }, ben),
        await fresh.ask("list_claims", {}, ben),
      ];
      expect(lists.map((list) => list.length)).toEqual([1, 1, 0, 1, 0]);
      shown.push(JSON.stringify([task, why, lists]).replaceAll(/[0-9a-f]{32}/g, "ID"));
    }
    expect(shown[1]).toBe(shown[0]);
  });

  test("C13 e: complete at the instant is refused, and the task stays open", async () => {
    const { fresh, ann, id } = await heldFor(60_000, false);
    const refused = await fresh.refusal("complete_task", { task_id: id, result: "done" }, ann);
    expect(refused).toMatchObject({ code: "lease_lost", reason: "expired" });
    expect(await fresh.read(id)).toMatchObject({ status: "open", ready: true, result: null });
  });

  test("C13 f: its old holder may claim again: new lease, higher fence; the old lease stays dead (R7)", async () => {
    const { fresh, ann, id } = await heldFor(0, false);
    const old = (await fresh.read(id)).lease_id ?? "";
    fresh.time.pass(60_000);
    const again = await fresh.claim(id, ann, { lease_seconds: 60 });
    expect(again.fence).toBe(2);
    expect(again.lease_id).not.toBe(old);
    const refused = await fresh.refusal("heartbeat_task", { task_id: id, lease_id: old }, ann);
    expect(refused).toMatchObject({ code: "lease_lost", reason: "superseded" });
    const kept = await fresh.ask("heartbeat_task", { task_id: id, lease_id: again.lease_id ?? "" }, ann);
    expect(kept.fence).toBe(2);
  });

  test.each([
    ["its session's comes first", 30, 300, 30_000],
    ["its own comes first", 900, 60, 60_000],
  ])("what is shown as its end is the earlier of two, and there it dies: %s", async (_which, ttl, lease, endMs) => {
    const fresh = await FreshStore.open();
    const ann = await fresh.session(await fresh.agent("ann"), { ttl_seconds: ttl });
    const ben = await fresh.worker("ben");
    const { id } = await fresh.task();
    const held = await fresh.claim(id, ann, { lease_seconds: lease });
    expect(held).toMatchObject({ lease_expires_at: fresh.time.iso(endMs), lease_remaining_ms: endMs });
    fresh.time.pass(endMs - 1);
    const refused = await fresh.refusal("claim_task", { task_id: id }, ben);
    expect(refused.holder).toMatchObject({ expires_at: fresh.time.iso(1), remaining_ms: 1 });
    fresh.time.pass(1);
    expect((await fresh.claim(id, ben)).fence).toBe(2);
  });

  test("a crashed holder delays work by one lease, and nobody does anything for it (R11)", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const { id } = await fresh.task();
    await fresh.claim(id, ann, { lease_seconds: 300 });
    fresh.time.pass(299_999);
    expect(await fresh.next(ben)).toBeNull();
    fresh.time.pass(1);
    expect(await fresh.next(ben)).toMatchObject({ id, fence: 2, attempts: 2 });
  });

  test("its end is recorded once as an event, by whoever notices first (R12)", async () => {
    const { fresh, ann, id } = await heldFor(60_001, false);
    expect(await fresh.history(id)).toEqual(["task.created", "task.claimed"]);
    await fresh.sweep();
    await fresh.sweep();
    await fresh.refusal("heartbeat_task", { task_id: id }, ann);
    const events = await fresh.ask("get_task_history", { task_id: id }, ann);
    const expired = events.filter((event) => event.type === "lease.expired");
    expect(expired).toHaveLength(1);
    const data = { expired_at: "2026-01-01T12:01:00.000Z", fence: 1, session_id: ann.sessionId, attempt: 1 };
    expect(expired[0]).toMatchObject({ actor: null, data });
  });

  test("two processes that notice at once record it once (R12)", async () => {
    const { fresh, id } = await heldFor(60_000, false);
    const other = await fresh.another();
    const notice = (on = fresh.store) => fresh.ask("open_session", {}, fresh.root, on);
    await Promise.all([notice(), notice(other), notice(), notice(other)]);
    await other.close();
    expect((await fresh.history(id)).filter((type) => type === "lease.expired")).toHaveLength(1);
  });

  test("a restart frees nothing that lives and stretches nothing (R8)", async () => {
    const { fresh, ann, id } = await heldFor(30_000, false);
    const before = await fresh.read(id);
    await fresh.restart();
    expect(await fresh.read(id)).toEqual(before);
    fresh.time.pass(29_999);
    await fresh.restart();
    expect(await fresh.read(id)).toMatchObject({ status: "claimed", lease_remaining_ms: 1 });
    fresh.time.pass(1);
    await fresh.restart();
    expect(await fresh.read(id)).toMatchObject({ status: "open", lapsed: true });
    const refused = await fresh.refusal("heartbeat_task", { task_id: id }, ann);
    expect(refused).toMatchObject({ code: "lease_lost", reason: "expired" });
  });
});

describe("a lease and its renewals", () => {
  test("a renewal changes neither lease nor fence nor version, and writes no event (R4, R5)", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    const first = await fresh.claim(id, ann, { lease_seconds: 60 });
    const same = {
      lease_id: first.lease_id,
      fence: 1,
      version: first.version,
      updated_at: first.updated_at,
      attempts: 1,
    };
    fresh.time.pass(10_000);
    const beaten = await fresh.ask("heartbeat_task", { task_id: id }, ann);
    expect(beaten).toMatchObject({ ...same, lease_expires_at: fresh.time.iso(60_000) });
    fresh.time.pass(10_000);
    const again = await fresh.claim(id, ann, { lease_seconds: 300 });
    expect(again).toMatchObject({ ...same, lease_expires_at: fresh.time.iso(300_000) });
    expect(await fresh.history(id)).toEqual(["task.created", "task.claimed"]);
  });

  test("a shorter length never cuts what is there, and is the running length from then on (R5)", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    const { lease_expires_at } = await fresh.claim(id, ann, { lease_seconds: 300 });
    const shorter = await fresh.ask("heartbeat_task", { task_id: id, lease_seconds: 30 }, ann);
    expect(shorter.lease_expires_at).toBe(lease_expires_at);
    fresh.time.pass(290_000);
    expect((await fresh.ask("heartbeat_task", { task_id: id }, ann)).lease_remaining_ms).toBe(30_000);
  });

  test("fences of a task grow with every grant, for ever, across restarts (R4)", async () => {
    const fresh = await FreshStore.open();
    const { id } = await fresh.task({ max_attempts: 100 });
    const fences = [];
    for (const name of ["ann", "ben", "cleo"]) {
      const worker = await fresh.worker(name);
      fences.push((await fresh.claim(id, worker)).fence);
      await fresh.ask("release_task", { task_id: id }, worker);
      fences.push((await fresh.claim(id, worker)).fence);
      fresh.time.pass(300_000);
      await fresh.restart();
    }
    expect(fences).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
