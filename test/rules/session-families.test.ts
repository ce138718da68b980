import { describe, expect, test } from "vitest";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

/** Field report here: C24. */

const childOf = (fresh: FreshStore, parent: Actor, input: Input<"open_session"> = {}) =>
  fresh.session(parent, { parent_session_id: parent.sessionId, ...input });

async function left(fresh: FreshStore, who: Actor): Promise<number | null> {
  return (await fresh.ask("get_session", { session_id: who.sessionId }, fresh.root)).remaining_ms;
}

async function stateOf(fresh: FreshStore, who: Actor) {
  const { state, ended_at } = await fresh.ask("get_session", { session_id: who.sessionId }, fresh.root);
  return { state, ended_at };
}

describe("a subagent is a session of its own under its parent (R65)", () => {
  test("C24: siblings, and parent and child, conflict like strangers; asking again is a renewal", async () => {
    const fresh = await FreshStore.open();
    const main = await fresh.worker("ann");
    const [x1, x2] = [await childOf(fresh, main), await childOf(fresh, main)];
    const { id } = await fresh.task();
    const { lease_id } = await fresh.claim(id, x1);
    for (const other of [x2, main]) {
      const refused = await fresh.refusal("claim_task", { task_id: id }, other);
      expect(refused).toMatchObject({ code: "task_claimed", holder: { session_id: x1.sessionId } });
      for (const call of ["heartbeat_task", "release_task", "complete_task"] as const) {
        const late = await fresh.refusal(call, { task_id: id, lease_id: lease_id ?? "" }, other);
        expect(late).toMatchObject({ code: "lease_lost", holder: { session_id: x1.sessionId } });
      }
    }
    expect(await fresh.claim(id, x1)).toMatchObject({ lease_id, fence: 1, attempts: 1 });
  });

  test("C24: the end of one child frees what it held and nothing else; the parent's end frees all, in one transaction", async () => {
    const fresh = await FreshStore.open();
    const [main, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const [x1, x2] = [await childOf(fresh, main), await childOf(fresh, main)];
    const below = await childOf(fresh, x2);
    const holders = [main, x1, x2, below];
    for (const [at, who] of holders.entries()) await fresh.claim((await fresh.task({ content: `T${at}` })).id, who);
    expect(await fresh.ask("end_session", { session_id: x1.sessionId }, x1)).toMatchObject({
      children_ended: 0,
      tasks_released: 1,
    });
    const claims = await fresh.ask("list_claims", {}, ben);
    expect(claims.map((claim) => claim.session_id)).toEqual([main, x2, below].map((who) => who.sessionId));
    const ended = await fresh.ask("end_session", { session_id: main.sessionId }, main);
    expect(ended).toEqual({
      session_id: main.sessionId,
      children_ended: 2,
      tasks_released: 3,
      claims_released: 0,
    });
    expect(await fresh.ask("list_claims", {}, ben)).toEqual([]);
    for (const who of holders) {
      expect(await stateOf(fresh, who)).toEqual({ state: "ended", ended_at: fresh.time.iso() });
      expect(await fresh.refusal("claim_next_task", {}, who)).toMatchObject({ code: "session_ended" });
    }
    const events = await fresh.ask("list_events", { types: ["session.ended"] }, ben);
    expect(events.map((event) => [event.actor?.session_id, event.data])).toEqual([
      [x1.sessionId, { tasks_released: 1, claims_released: 0 }],
      [main.sessionId, { tasks_released: 1, claims_released: 0 }],
      [x2.sessionId, { tasks_released: 1, claims_released: 0, ended_with: main.sessionId }],
      [below.sessionId, { tasks_released: 1, claims_released: 0, ended_with: main.sessionId }],
    ]);
    const { tasks = [] } = await fresh.ask("claim_next_task", { count: 10 }, ben);
    expect(tasks.map((task) => task.attempts)).toEqual([1, 1, 1, 1]);
  });

  test("a parent is a session of the caller's own that lives, and at most eight stand above one", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const open = (parent: Actor, as: Actor) =>
      fresh.refusal("open_session", { parent_session_id: parent.sessionId }, { identity: as.caller.identity });
    expect(await open(ann, ben)).toMatchObject({ code: "not_found" });
    let lowest = ann;
    for (let depth = 0; depth < 8; depth += 1) lowest = await childOf(fresh, lowest);
    expect(await open(lowest, ann)).toMatchObject({
      code: "invalid_input",
      fields: [{ field: "parent_session_id" }],
    });
    await fresh.ask("end_session", { session_id: ann.sessionId }, ann);
    expect(await open(ann, ann)).toMatchObject({ code: "session_ended" });
    // Of the eight none lives on.
    expect(await fresh.ask("list_sessions", { agent_id: ann.id }, ben)).toEqual([]);
  });

  test("children are listed by their parent", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const children = [await childOf(fresh, ann), await childOf(fresh, ann)];
    await childOf(fresh, children[0] as Actor);
    const listed = await fresh.ask("list_sessions", { parent_session_id: ann.sessionId }, fresh.root);
    expect(listed.map((each) => each.id)).toEqual(children.map((each) => each.sessionId).reverse());
    expect(listed[0]).toMatchObject({ parent_session_id: ann.sessionId, share_with_children: false });
    const unknown = { parent_session_id: "0".repeat(32) };
    expect(await fresh.refusal("list_sessions", unknown, ann)).toMatchObject({ code: "not_found" });
  });
});

async function family(fresh: FreshStore, agent: Actor, lengths: readonly [number, number, number]) {
  const main = await fresh.session(agent, { ttl_seconds: lengths[0] });
  const child = await childOf(fresh, main, { ttl_seconds: lengths[1] });
  return [main, child, await childOf(fresh, child, { ttl_seconds: lengths[2] })] as const;
}

describe("silence in a family (R9, R65)", () => {
  test("no child outlives its parent: at the parent's end nothing under it lives, whoever looks", async () => {
    for (const noticed of [false, true]) {
      const fresh = await FreshStore.open();
      const main = await fresh.session(await fresh.agent("ann"), { ttl_seconds: 120 });
      const child = await childOf(fresh, main, { ttl_seconds: 60 });
      const below = await childOf(fresh, child, { ttl_seconds: 300 });
      const ben = await fresh.worker("ben");
      const { id } = await fresh.task();
      await fresh.claim(id, below, { lease_seconds: 900 });
      // The longest of them carries all above it.
      for (const who of [main, child, below]) expect(await left(fresh, who)).toBe(300_000);
      fresh.time.pass(299_999);
      if (noticed) await fresh.sweep();
      expect(await fresh.refusal("claim_task", { task_id: id }, ben)).toMatchObject({ code: "task_claimed" });
      fresh.time.pass(1);
      if (noticed) await fresh.sweep();
      for (const who of [main, child, below]) {
        expect(await stateOf(fresh, who)).toEqual({ state: "expired", ended_at: fresh.time.iso() });
      }
      expect(await fresh.claim(id, ben)).toMatchObject({ fence: 2, attempts: 2 });
    }
  });

  test("a child's call is a sign of life of its parents, by their own lengths", async () => {
    const fresh = await FreshStore.open();
    const main = await fresh.session(await fresh.agent("ann"), { ttl_seconds: 900 });
    const child = await childOf(fresh, main, { ttl_seconds: 80 });
    const below = await childOf(fresh, child, { ttl_seconds: 40 });
    const { id } = await fresh.task();
    const signs = [
      () => fresh.read(id, below),
      () => fresh.claim(id, below),
      () => fresh.ask("heartbeat_session", { session_id: below.sessionId }, below),
    ];
    for (const sign of signs) {
      fresh.time.pass(39_999);
      await sign();
      expect([await left(fresh, below), await left(fresh, child), await left(fresh, main)]).toEqual([
        40_000, 80_000, 900_000,
      ]);
    }
    // The parent is silent for far longer than its length, and lives as long as somebody works for it.
    for (let at = 0; at < 2_000; at += 30) {
      fresh.time.pass(30_000);
      await fresh.ask("get_me", {}, below);
      expect(await left(fresh, main)).toBeGreaterThanOrEqual(900_000);
      expect(await left(fresh, main)).toBeLessThanOrEqual(905_000);
    }
    await fresh.ask("end_session", { session_id: child.sessionId }, child);
    fresh.time.pass(899_000);
    expect(await fresh.claim(id, main)).toMatchObject({ claimed_by_session_id: main.sessionId });
  });

  test("a lease that the parent took before shows the end that its child carried it to", async () => {
    const fresh = await FreshStore.open();
    const main = await fresh.session(await fresh.agent("ann"), { ttl_seconds: 30 });
    const { id } = await fresh.task();
    expect(await fresh.claim(id, main, { lease_seconds: 3600 })).toMatchObject({ lease_remaining_ms: 30_000 });
    const child = await childOf(fresh, main, { ttl_seconds: 300 });
    expect(await fresh.read(id)).toMatchObject({ lease_remaining_ms: 300_000 });
    fresh.time.pass(299_000);
    await fresh.ask("get_me", {}, child);
    expect(await fresh.claim((await fresh.task()).id, main, { lease_seconds: 3600 })).toMatchObject({
      lease_remaining_ms: 300_000,
    });
    expect(await fresh.read(id)).toMatchObject({ status: "claimed", lease_remaining_ms: 300_000 });
  });

  test("no parent ends before one under it, however long each may be silent", async () => {
    for (const lengths of [
      [30, 900, 30],
      [900, 30, 300],
      [60, 30, 900],
    ] as const) {
      const fresh = await FreshStore.open();
      const agent = await fresh.agent("ann");
      const [main, child, below] = await family(fresh, agent, lengths);
      for (const who of [below, child, below, main, below]) {
        fresh.time.pass(29_000);
        await fresh.ask("get_me", {}, who);
        const ends = [await left(fresh, below), await left(fresh, child), await left(fresh, main)];
        expect(ends).toEqual([...ends].sort((a, b) => (a ?? 0) - (b ?? 0)));
      }
    }
  });

  test("an implicit parent never dies of silence, and ends its children when it is ended (R13)", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.agent("ann");
    const held = await fresh.claim((await fresh.task()).id, ann);
    const parent = held.claimed_by_session_id ?? "";
    const child = await fresh.session(ann, { parent_session_id: parent, ttl_seconds: 60 });
    fresh.time.pass(59_999);
    await fresh.ask("get_me", {}, child);
    expect(await left(fresh, child)).toBe(60_000);
    expect(await fresh.ask("end_session", { session_id: parent }, ann)).toMatchObject({
      children_ended: 1,
      tasks_released: 1,
    });
    expect(await stateOf(fresh, child)).toMatchObject({ state: "ended" });
  });
});

describe("a parent that shares what it holds (R65)", () => {
  test("lets its children write it, as its own hands; what ends is the parent's lease", async () => {
    const fresh = await FreshStore.open();
    const main = await fresh.session(await fresh.agent("ann"), { share_with_children: true });
    const [x1, x2] = [await childOf(fresh, main), await childOf(fresh, main)];
    const { id } = await fresh.task();
    const { lease_id } = await fresh.claim(id, main);
    fresh.time.pass(100_000);
    // Asking for it is a renewal (R5), and tells the child the lease.
    expect(await fresh.claim(id, x1)).toMatchObject({
      lease_id,
      fence: 1,
      claimed_by_session_id: main.sessionId,
      lease_remaining_ms: 300_000,
    });
    const said = await fresh.ask("heartbeat_task", { task_id: id, progress: 1, detail: "half" }, x2);
    expect(said).toMatchObject({ progress: 1, state_detail: "half", claimed_by_session_id: main.sessionId });
    const done = { task_id: id, lease_id: lease_id ?? "", result: "ok" };
    expect(await fresh.ask("complete_task", done, x1)).toMatchObject({ status: "completed" });
    // A repeat by whoever did it is answered alike; anybody else's is late.
    expect(await fresh.ask("complete_task", done, x1)).toMatchObject({ status: "completed" });
    expect(await fresh.refusal("complete_task", { ...done, result: "other" }, x2)).toMatchObject({
      code: "lease_lost",
      reason: "completed",
    });
    const [event] = await fresh.ask("list_events", { types: ["task.completed"] }, main);
    expect(event).toMatchObject({ actor: { session_id: x1.sessionId }, data: { session_id: main.sessionId } });
  });

  test("shares it with its children alone: not with theirs, nor theirs with it, nor after it is taken back", async () => {
    const fresh = await FreshStore.open();
    const agent = await fresh.agent("ann");
    const main = await fresh.session(agent, { share_with_children: true, harness_id: "h" });
    const child = await childOf(fresh, main);
    const below = await childOf(fresh, child);
    const own = await fresh.task();
    await fresh.claim(own.id, main);
    const childs = await fresh.task();
    await fresh.claim(childs.id, child);
    expect(await fresh.refusal("heartbeat_task", { task_id: own.id }, below)).toMatchObject({ reason: "never_held" });
    expect(await fresh.refusal("heartbeat_task", { task_id: childs.id }, main)).toMatchObject({ reason: "never_held" });
    await fresh.ask("heartbeat_task", { task_id: own.id }, child);
    await fresh.ask("open_session", { harness_id: "h", share_with_children: false }, agent);
    expect(await fresh.refusal("heartbeat_task", { task_id: own.id }, child)).toMatchObject({ reason: "never_held" });
  });
});
