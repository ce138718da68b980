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

const claim = async (as: Actor, scope: string, more: Partial<Input<"claim_scopes">> = {}) => {
  const { claims } = await fresh.ask("claim_scopes", { scopes: [scope], intent: `${as.name}'s`, ...more }, as);
  return claims[0]?.id ?? "";
};
const wait = async (as: Actor, ...scopes: string[]) =>
  (await fresh.ask("claim_scopes", { scopes, intent: `${as.name}'s`, wait: true }, as)).ticket ?? "";
const ask = (as: Actor, claimId: string) => fresh.ask("request_yield", { claim_id: claimId, reason: "two lines" }, as);
const answer = (as: Actor, id: string, input: Omit<Input<"answer_yield">, "yield_id">) =>
  fresh.ask("answer_yield", { yield_id: id, ...input }, as);
const noticesOf = async (as: Actor) =>
  (await fresh.ask("heartbeat_session", { session_id: as.sessionId }, as)).notices.map(({ type }) => type);
const held = async () =>
  (await fresh.ask("list_claims", {}, fresh.root)).map(({ scope, agent_name }) => `${scope} ${agent_name}`);

describe("asking a holder to yield (R38)", () => {
  test("tells the holder who asks and why, once however often it is asked", async () => {
    const id = await claim(ann, "path:src");
    const asked = await ask(ben, id);
    expect(await ask(ben, id)).toEqual(asked);
    const { notices } = await fresh.ask("heartbeat_session", { session_id: ann.sessionId }, ann);
    expect(notices).toMatchObject([{ type: "yield.requested", data: { yield_id: asked.id, reason: "two lines" } }]);
    expect(notices[0]?.message).toContain('ben asks you to yield path:src ("two lines")');
    expect((await fresh.refusal("request_yield", { claim_id: id }, ben)).code).toBe("reason_required");
    expect((await fresh.refusal("request_yield", { claim_id: id, reason: "x" }, ann)).code).toBe("invalid_input");
    expect(await fresh.ask("list_yields", { open: true, holder_session_id: ann.sessionId }, ben)).toMatchObject([
      asked,
    ]);
  });

  test("is open no more when the claim has ended, whoever or whatever ended it", async () => {
    const open = async (is = true) => (await fresh.ask("list_yields", { open: is }, ben)).map(({ scope }) => scope);
    await ask(ben, await claim(ann, "path:a"));
    await ask(ben, await claim(ann, "path:b", { ttl_seconds: 30 }));
    const { id } = await fresh.task({ scopes: ["path:c"] });
    await fresh.claim(id, ann);
    const [ofTask] = await fresh.ask("list_claims", { scope: "path:c" }, ben);
    await ask(ben, ofTask?.id ?? "");
    await fresh.ask("release_scopes", { scopes: ["path:a"] }, ann);
    expect([await open(), await open(false)]).toEqual([["path:b", "path:c"], ["path:a"]]);
    fresh.time.pass(30_000);
    expect(await open()).toEqual(["path:c"]);
    await fresh.ask("release_task", { task_id: id }, ann);
    expect([await open(), await open(false)]).toEqual([[], ["path:a", "path:b", "path:c"]]);
  });

  test("silence means hold", async () => {
    const asked = await ask(ben, await claim(ann, "path:src"));
    fresh.time.pass(299_000);
    expect(await held()).toEqual(["path:src ann"]);
    expect(await fresh.ask("list_yields", {}, ben)).toMatchObject([{ id: asked.id, answer: null }]);
  });

  test("hold says why, and may become a yield later", async () => {
    const asked = await ask(ben, await claim(ann, "path:src"));
    expect((await fresh.refusal("answer_yield", { yield_id: asked.id, answer: "hold" }, ann)).code).toBe(
      "reason_required",
    );
    await answer(ann, asked.id, { answer: "hold", reason: "done at noon" });
    expect(await held()).toEqual(["path:src ann"]);
    expect(await noticesOf(ben)).toEqual(["yield.answered"]);
    expect(await answer(ann, asked.id, { answer: "yield" })).toMatchObject({ answer: "yield" });
    expect(await held()).toEqual([]);
    // Said again, it is answered alike.
    expect(await answer(ann, asked.id, { answer: "yield" })).toMatchObject({ answer: "yield" });
  });

  test("is told to who asked, once for the same answer, and to all who asked when it is let go of", async () => {
    const id = await claim(ann, "path:src");
    const [first, second] = [await ask(ben, id), await ask(cat, id)];
    for (let time = 0; time < 2; time += 1) await answer(ann, first.id, { answer: "hold", reason: "done at noon" });
    expect([await noticesOf(ben), await noticesOf(cat)]).toEqual([["yield.answered"], []]);
    const again = await ask(ben, id);
    await answer(ann, again.id, { answer: "yield" });
    expect((await noticesOf(cat)).filter((type) => type === "yield.answered")).toHaveLength(1);
    const rows = await fresh.ask("list_yields", {}, ann);
    expect(rows.map((row) => [row.id, row.answer])).toEqual([
      [first.id, "hold"],
      [second.id, "yield"],
      [again.id, "yield"],
    ]);
  });

  test("what is yielded goes to the first in line, however often it was claimed", async () => {
    const id = await claim(ann, "path:src");
    await claim(ann, "path:src");
    const first = await wait(cat, "path:src/a");
    await wait(ben, "path:src");
    await answer(ann, (await ask(ben, id)).id, { answer: "yield" });
    expect(await fresh.ask("get_wait", { ticket: first }, cat)).toMatchObject({ state: "offered" });
    expect((await fresh.refusal("claim_scopes", { scopes: ["path:src/b"], intent: "x" }, ann)).code).toBe(
      "scope_conflict",
    );
  });

  test("narrow keeps smaller scopes within it under the same intent, with new fences, free at no instant", async () => {
    const id = await claim(ann, "path:src", { ttl_seconds: 600 });
    const outside = await wait(ben, "path:src/b");
    await wait(cat, "path:src/a/x");
    const asked = await ask(ben, id);
    for (const scopes of [["path:docs"], ["path:src"], ["path:**"], ["path:src/a", "port:1"]])
      expect((await fresh.refusal("answer_yield", { yield_id: asked.id, answer: "narrow", scopes }, ann)).code).toBe(
        "invalid_input",
      );
    expect((await fresh.refusal("answer_yield", { yield_id: asked.id, answer: "narrow" }, ann)).code).toBe(
      "invalid_input",
    );
    await answer(ann, asked.id, { answer: "narrow", scopes: ["path:src/a", "path:src/*.ts"] });
    const claims = await fresh.ask("list_claims", {}, fresh.root);
    expect(claims).toMatchObject([
      { scope: "path:src/a", intent: "ann's", fence: 2, remaining_ms: 600_000 },
      { scope: "path:src/*.ts", fence: 3 },
    ]);
    expect(await fresh.ask("get_wait", { ticket: outside }, ben)).toMatchObject({ state: "offered" });
    expect((await fresh.ask("list_waits", {}, cat)).map(({ state }) => state)).toEqual(["offered", "waiting"]);
  });

  test("narrow keeps how often it was claimed, and who keeps the old claim alive is told what it is now", async () => {
    const id = await claim(ann, "path:src");
    await claim(ann, "path:src");
    const own = await claim(ann, "path:src/b");
    await answer(ann, (await ask(ben, id)).id, { answer: "narrow", scopes: ["path:src/a", "path:src/b"] });
    const ids = (await fresh.ask("list_claims", {}, ben)).map((row) => row.id);
    const told = [{ outcome: "lost", reason: "narrowed", now: [ids.find((each) => each !== own), own] }];
    for (const named of [{ claim_ids: [id] }, { scopes: ["path:src"] }])
      expect((await fresh.ask("heartbeat_scopes", named, ann)).items).toMatchObject(told);
    const release = async () => (await fresh.ask("release_scopes", { claim_ids: ids }, ann)).released;
    expect([await release(), await release(), await release()]).toEqual([0, 1, 1]);
  });

  test("narrow says each of them once, however often it is named, and parts of the whole tree are parts of it", async () => {
    const asked = await ask(ben, await claim(ann, "path:**"));
    await answer(ann, asked.id, { answer: "narrow", scopes: ["path:src/*.ts", "path:src/a", "path:src/a"] });
    expect(await held()).toEqual(["path:src/*.ts ann", "path:src/a ann"]);
  });

  test("what is made smaller has changed hands as often as before (R39)", async () => {
    let [giver, taker] = [ann, ben];
    let id = await claim(ann, "path:src");
    const offer = () => ({ claim_id: id, to_agent_id: taker.id });
    for (let hop = 0; hop < 3; hop += 1) {
      const { id: handoff } = await fresh.ask("handoff_claim", offer(), giver);
      id = (await fresh.ask("accept_handoff", { handoff_id: handoff }, taker)).claim?.id ?? "";
      [giver, taker] = [taker, giver];
    }
    await answer(giver, (await ask(cat, id)).id, { answer: "narrow", scopes: ["path:src/a"] });
    id = (await fresh.ask("list_claims", {}, fresh.root))[0]?.id ?? "";
    expect((await fresh.refusal("handoff_claim", offer(), giver)).code).toBe("limit_exceeded");
  });

  test("yielding a task's scope gives the task back, with a note; narrowing it keeps the task", async () => {
    const { id } = await fresh.task({ scopes: ["path:src", "path:docs"] });
    await fresh.claim(id, ann);
    const idOf = async (scope: string) =>
      (await fresh.ask("list_claims", { scope }, ben)).find((each) => each.scope === scope)?.id ?? "";
    await answer(ann, (await ask(ben, await idOf("path:src"))).id, { answer: "narrow", scopes: ["path:src/a"] });
    expect(await held()).toEqual([`task:${id} ann`, "path:docs ann", "path:src/a ann"]);
    await answer(ann, (await ask(ben, await idOf("path:docs"))).id, { answer: "yield", handoff: "half done" });
    expect(await held()).toEqual([]);
    expect(await fresh.read(id)).toMatchObject({ status: "open", handoff_note: "half done", attempts: 0 });
  });

  test("only the session that holds it answers, while it does", async () => {
    const asked = await ask(ben, await claim(ann, "path:src", { ttl_seconds: 30 }));
    const other = await fresh.session(ann);
    for (const who of [cat, ben, other])
      expect(await fresh.refusal("answer_yield", { yield_id: asked.id, answer: "yield" }, who)).toMatchObject({
        code: "lease_lost",
        reason: "never_held",
      });
    fresh.time.pass(30_000);
    expect(await fresh.refusal("answer_yield", { yield_id: asked.id, answer: "yield" }, ann)).toMatchObject({
      code: "lease_lost",
      reason: "expired",
    });
  });
});

test("the story of waiting: a holder, an exclusive waiter, shared ones behind it, a dead one, a deadlock refused, a yield narrowed", async () => {
  const told = async () =>
    (await fresh.ask("list_events", { newest: true, limit: 1000 }, fresh.root))
      .filter(({ type }) => type.startsWith("scope.") || type === "session.expired")
      .map(({ type, data }) => {
        const scopes = (data.scopes as { scope: string }[] | undefined)?.map(({ scope }) => scope).join("+");
        return `${type} ${data.scope ?? scopes ?? ""}`.trim();
      });
  const [dan, eve, fay] = [await fresh.worker("dan"), await fresh.worker("eve"), await fresh.worker("fay")];
  const states = async (...tickets: string[]) =>
    Promise.all(tickets.map(async (id) => (await fresh.ask("get_wait", { ticket: id }, fresh.root)).state));
  // ann holds all of src; ben wants its login for himself; cat and dan would share it, dan in a session about to die.
  const whole = await claim(ann, "path:src", { ttl_seconds: 3600 });
  const exclusive = await wait(ben, "path:src/login");
  const shared = await fresh.ask(
    "claim_scopes",
    { scopes: ["path:src/login"], mode: "shared", intent: "read", wait: true },
    cat,
  );
  const mortal = await fresh.session(dan, { ttl_seconds: 30 });
  const dead = await fresh.ask(
    "claim_scopes",
    { scopes: ["path:src/login"], mode: "shared", intent: "read", wait: true },
    mortal,
  );
  expect([shared.position, dead.position]).toEqual([2, 3]);
  // eve holds docs and waits for src; ann, who would wait for docs, is told of the cycle and waits for nothing.
  await claim(eve, "path:docs", { ttl_seconds: 3600 });
  const wide = await wait(eve, "path:src/db");
  const cycle = await fresh.refusal("claim_scopes", { scopes: ["path:docs/a"], intent: "x", wait: true }, ann);
  expect(cycle).toMatchObject({ code: "would_deadlock", cycle: [{ agent_name: "ann" }, { agent_name: "eve" }] });
  // dan's session falls silent: its ticket is over, and nobody waits for it.
  fresh.time.pass(30_000);
  const tickets = [exclusive, shared.ticket ?? "", dead.ticket ?? "", wide];
  expect(await states(...tickets)).toEqual(["waiting", "waiting", "ended", "waiting"]);
  // fay asks ann to yield, and gets the answer: ann keeps the database alone.
  const asked = await ask(fay, whole);
  await answer(ann, asked.id, { answer: "narrow", scopes: ["path:src/db"], reason: "the migration" });
  expect(await states(...tickets)).toEqual(["offered", "waiting", "ended", "waiting"]);
  await fresh.ask("accept_wait", { ticket: exclusive }, ben);
  await fresh.ask("release_scopes", { all: true }, ben);
  expect(await states(...tickets)).toEqual(["granted", "offered", "ended", "waiting"]);
  // cat says nothing; ann releases what eve waits for.
  fresh.time.pass(30_000);
  await fresh.ask("release_scopes", { all: true }, ann);
  expect(await states(...tickets)).toEqual(["granted", "ended", "ended", "offered"]);
  await fresh.ask("accept_wait", { ticket: wide }, eve);
  expect(await held()).toEqual(["path:docs eve", "path:src/db eve"]);
  expect(await told()).toEqual([
    "scope.claimed path:src",
    "scope.queued path:src/login",
    "scope.queued path:src/login",
    "scope.queued path:src/login",
    "scope.claimed path:docs",
    "scope.queued path:src/db",
    "scope.refused path:docs/a",
    "scope.wait_ended path:src/login",
    "session.expired",
    "scope.yield_requested path:src",
    "scope.released path:src",
    "scope.claimed path:src/db",
    "scope.yield_answered path:src",
    "scope.offered path:src/login",
    "scope.claimed path:src/login",
    "scope.released path:src/login",
    "scope.offered path:src/login",
    "scope.offer_expired path:src/login",
    "scope.released path:src/db",
    "scope.offered path:src/db",
    "scope.claimed path:src/db",
  ]);
});
