import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
let cat: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
  cat = await fresh.worker("cat");
});

type Scopes = Input<"claim_scopes">["scopes"];
const claim = async (as: Actor, scopes: Scopes, more: object = {}) => {
  const { claims } = await fresh.ask("claim_scopes", { scopes, intent: "mine", ...more }, as);
  return claims[0] as (typeof claims)[number];
};
const offer = (held: { id: string }, to: Actor, as = ann) =>
  fresh.ask("handoff_claim", { claim_id: held.id, to_agent_id: to.id }, as);
const offerTask = (id: string, to: Actor, as = ann) =>
  fresh.ask("handoff_task", { task_id: id, to_agent_id: to.id }, as);
const accept = (handoff: { id: string }, as: Actor) => fresh.ask("accept_handoff", { handoff_id: handoff.id }, as);
const refused = (handoff: { id: string }, as: Actor) => fresh.refusal("accept_handoff", { handoff_id: handoff.id }, as);
const rows = async (filter: object = {}) =>
  (await fresh.ask("list_claims", filter, fresh.root)).filter(({ kind }) => kind !== "task");

describe("a claim of a scope that is handed over (R39)", () => {
  test("has in the answer to a repeat the fence of now: it is its holder's alone since", async () => {
    const offered = await offer(await claim(ann, ["path:src"], { mode: "shared" }), ben);
    const before = await accept(offered, ben);
    const { id, fence } = await claim(ben, ["path:src"]);
    const again = await accept(offered, ben);
    expect(again).toMatchObject({ lease_id: id, fence, claim: { fence } });
    expect(again.fence).toBeGreaterThan(before.fence ?? 0);
  });

  test("is waited for no more by the receiver, which has it now", async () => {
    const held = await claim(ann, ["path:src"]);
    const { ticket = "" } = await fresh.ask("claim_scopes", { scopes: ["path:src"], intent: "x", wait: true }, ben);
    const { lease_id } = await accept(await offer(held, ben), ben);
    expect(await fresh.ask("get_wait", { ticket }, ben)).toMatchObject({
      state: "granted",
      claims: [{ id: lease_id, agent_name: "ben" }],
    });
  });

  test("is the receiver's under a new lease of full length, with a higher fence (R4)", async () => {
    const held = await claim(ann, ["path:src"], { ttl_seconds: 60, mode: "shared" });
    fresh.time.pass(10_000);
    const offered = await offer(held, ben);
    expect(offered).toMatchObject({ scope: "path:src", claim_id: held.id, task_id: null, remaining_ms: 50_000 });
    const accepted = await accept(offered, ben);
    expect(accepted.claim).toMatchObject({
      scope: "path:src",
      mode: "shared",
      intent: "mine",
      agent_name: "ben",
      session_id: ben.sessionId,
      fence: held.fence + 1,
      remaining_ms: 60_000,
    });
    expect(accepted).toMatchObject({ task: null, lease_id: accepted.claim?.id, fence: held.fence + 1 });
    expect(await rows()).toMatchObject([{ id: accepted.claim?.id }]);
    const { items } = await fresh.ask("heartbeat_scopes", { claim_ids: [held.id] }, ann);
    expect(items).toMatchObject([{ outcome: "lost", reason: "transferred" }]);
    const { notices } = await fresh.ask("get_session", { session_id: ann.sessionId }, ann);
    expect(notices).toMatchObject([{ type: "lease.lost", data: { reason: "transferred", scope: "path:src" } }]);
    expect(await fresh.refusal("handoff_claim", { claim_id: held.id, to_agent_id: cat.id }, ann)).toMatchObject({
      code: "lease_lost",
      reason: "transferred",
      holder: { agent_name: "ben" },
    });
    const past = await fresh.ask("list_scope_history", { scope: "path:src" }, cat);
    expect(past).toMatchObject([{ ended_how: null }, { agent_name: "ann", ended_how: "transferred" }]);
    const types = (await fresh.ask("list_events", {}, cat))
      .map(({ type }) => type)
      .filter((type) => /scope/.test(type));
    expect(types).toEqual(["scope.claimed", "scope.handoff_offered", "scope.handed_off"]);
  });

  test("is refused when it has ended, with who holds it or a part of it now, and nobody says that it is free (R3)", async () => {
    const held = await claim(ann, ["path:src/a"]);
    await fresh.ask("release_scopes", { all: true }, ann);
    const again = () => fresh.refusal("handoff_claim", { claim_id: held.id, to_agent_id: cat.id }, ann);
    expect((await again()).message).toBe("path:src/a is not your session's to hand over. Your claim of it has ended.");
    const wide = await claim(ben, ["path:src"]);
    const refusal = await again();
    expect(refusal).toMatchObject({ code: "lease_lost", reason: "released", holder: { id: wide.id } });
    expect(refusal.message).toContain(`ben (session ${ben.sessionId}) holds path:src now.`);
  });

  test("is free at no instant: who waits for it by asking again gets it at none", async () => {
    const offered = await offer(await claim(ann, ["path:src"]), ben);
    expect((await fresh.refusal("claim_scopes", { scopes: ["path:src/a"], intent: "x" }, cat)).code).toBe(
      "scope_conflict",
    );
    await accept(offered, ben);
    expect(await fresh.refusal("claim_scopes", { scopes: ["path:src/a"], intent: "x" }, cat)).toMatchObject({
      conflicts: [{ holder: { agent_name: "ben" } }],
    });
    await fresh.ask("release_scopes", { all: true }, ben);
    await claim(cat, ["path:src/a"]);
  });

  test("doesn't leave two with what overlaps: the giver's other claims are in the receiver's way", async () => {
    const wide = await claim(ann, ["path:src"]);
    const narrow = await claim(ann, ["path:src/a"]);
    const offered = await offer(narrow, ben);
    expect(await refused(offered, ben)).toMatchObject({
      code: "scope_conflict",
      conflicts: [{ requested: "path:src/a", holder: { id: wide.id, agent_name: "ann" } }],
    });
    expect(await rows({ agent_id: ann.id })).toHaveLength(2);
    await fresh.ask("release_scopes", { claim_ids: [wide.id] }, ann);
    expect((await accept(offered, ben)).claim?.agent_name).toBe("ben");
  });

  test("nor what its giver is offered: it was in no way of that, but who receives it would be (R36)", async () => {
    await claim(ben, ["path:src/b"]);
    const narrow = await claim(ann, ["path:src/a"]);
    const { ticket } = await fresh.ask("claim_scopes", { scopes: ["path:src"], intent: "all", wait: true }, ann);
    const offered = await offer(narrow, cat);
    await fresh.ask("release_scopes", { all: true }, ben);
    expect(await refused(offered, cat)).toMatchObject({
      code: "scope_conflict",
      conflicts: [{ holder: { id: ticket } }],
    });
    expect((await fresh.ask("accept_wait", { ticket: ticket as string }, ann)).state).toBe("granted");
  });

  test("nor what a task of the giver's holds beside it", async () => {
    const held = await claim(ann, ["path:src"]);
    const { id } = await fresh.task({ scopes: ["path:src/a"] });
    await fresh.claim(id, ann);
    expect((await refused(await offer(held, ben), ben)).code).toBe("scope_conflict");
    expect((await refused(await offerTask(id, ben), ben)).code).toBe("scope_conflict");
    expect(await fresh.read(id)).toMatchObject({ claimed_by_agent_id: ann.id });
    await fresh.ask("release_scopes", { all: true }, ann);
    expect((await accept(await offerTask(id, ben), ben)).task?.claimed_by_agent_id).toBe(ben.id);
  });

  test("is one claim with what the receiver has of that name already, with a higher fence than both (R4, R33)", async () => {
    const held = await claim(ann, ["db:main"], { mode: "shared" });
    const own = await claim(ben, ["db:main"], { mode: "shared" });
    const { claim: after } = await accept(await offer(held, ben), ben);
    expect(after).toMatchObject({ id: own.id, fence: own.fence + 1 });
    expect(await rows()).toMatchObject([{ id: own.id }]);
    expect(await fresh.ask("release_scopes", { scopes: ["db:main"] }, ben)).toMatchObject({ released: 0 });
    expect(await fresh.ask("release_scopes", { scopes: ["db:main"] }, ben)).toMatchObject({ released: 1 });
  });

  test("goes on at most three times without a heartbeat that says what it is held for now", async () => {
    let held = await claim(ann, ["path:src"]);
    let [giver, taker] = [ann, ben];
    for (let hop = 0; hop < 3; hop += 1) {
      held = (await accept(await offer(held, taker, giver), taker)).claim as typeof held;
      await fresh.ask("heartbeat_scopes", { claim_ids: [held.id] }, taker);
      [giver, taker] = [taker, giver];
    }
    const input = { claim_id: held.id, to_agent_id: taker.id };
    expect((await fresh.refusal("handoff_claim", input, giver)).code).toBe("limit_exceeded");
    await fresh.ask("heartbeat_scopes", { claim_ids: [held.id], intent: "the parser is done" }, giver);
    expect((await accept(await offer(held, taker, giver), taker)).claim?.intent).toBe("the parser is done");
  });
});

describe("a task's scopes", () => {
  test("go with it, each under a new lease and a higher fence, and end with it (R16)", async () => {
    const { id } = await fresh.task({
      content: "login",
      scopes: ["path:src/auth", { scope: "db:main", mode: "shared" }],
    });
    await fresh.claim(id, ann);
    await fresh.ask("claim_scopes", { scopes: ["path:docs"], intent: "beside it", task_id: id }, ann);
    const before = await rows();
    const { task } = await accept(await offerTask(id, ben), ben);
    const after = await rows();
    expect(after).toMatchObject([
      { scope: "path:src/auth", task_id: id, agent_name: "ben", intent: "login", remaining_ms: 300_000 },
      { scope: "db:main", mode: "shared", task_id: id, agent_name: "ben" },
      { scope: "path:docs", task_id: id, agent_name: "ben", intent: "beside it" },
    ]);
    expect(Math.min(...after.map(({ fence }) => fence))).toBeGreaterThan(Math.max(...before.map(({ fence }) => fence)));
    expect(after.some(({ id: lease }) => before.some((row) => row.id === lease))).toBe(false);
    await fresh.ask("complete_task", { task_id: id, lease_id: task?.lease_id as string }, ben);
    expect(await rows()).toEqual([]);
    const past = await fresh.ask("list_scope_history", { scope: "path:src/auth" }, cat);
    expect(past).toMatchObject([{ ended_how: "released" }, { agent_name: "ann", ended_how: "transferred" }]);
  });

  test("aren't handed over while a hold freezes any of them, also one claimed beside what it declares (R41)", async () => {
    const { id } = await fresh.task();
    await fresh.claim(id, ann);
    await fresh.ask("claim_scopes", { scopes: ["path:docs"], intent: "beside it", task_id: id }, ann);
    const offered = await offerTask(id, ben);
    await fresh.ask("place_hold", { scope: "path:docs", reason: "release", ttl_seconds: 60 }, fresh.root);
    expect((await refused(offered, ben)).code).toBe("frozen");
    fresh.time.pass(60_000);
    expect((await accept(offered, ben)).task?.claimed_by_agent_id).toBe(ben.id);
  });

  test("aren't handed over one by one", async () => {
    const { id } = await fresh.task({ scopes: ["path:src"] });
    await fresh.claim(id, ann);
    const [row] = await rows();
    const input = { claim_id: row?.id as string, to_agent_id: ben.id };
    const refusal = await fresh.refusal("handoff_claim", input, ann);
    expect(refusal).toMatchObject({ code: "invalid_input" });
    expect(refusal.message).toMatch(/hand over the task \(handoff_task\)/);
  });

  test("go where the receiver shares them, or has others by itself", async () => {
    const { id } = await fresh.task({ scopes: [{ scope: "db:main", mode: "shared" }] });
    const other = await fresh.task({ scopes: [{ scope: "db:main", mode: "shared" }] });
    await fresh.claim(id, ann);
    await fresh.claim(other.id, ben);
    await accept(await offerTask(id, ben), ben);
    const third = await fresh.task({ scopes: ["path:x"] });
    await fresh.claim(third.id, ann);
    await claim(ben, ["path:z"]);
    expect((await accept(await offerTask(third.id, ben), ben)).task?.claimed_by_agent_id).toBe(ben.id);
  });

  test("a task that sleeps because of them wakes when the receiver lets go", async () => {
    const { id } = await fresh.task({ content: "first", scopes: ["path:src"], priority: 4 });
    await fresh.claim(id, ann);
    const waits = await fresh.task({ content: "waits", scopes: ["path:src/a"] });
    expect(await fresh.next(cat)).toBeNull();
    await accept(await offerTask(id, ben), ben);
    expect(await fresh.next(cat)).toBeNull();
    await fresh.ask("complete_task", { task_id: id }, ben);
    expect((await fresh.next(cat))?.id).toBe(waits.id);
  });
});
