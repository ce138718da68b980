import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, byKey } from "../support/fresh-store.js";
import { type LineScene, lineScene } from "../support/line-scene.js";

let { fresh, ann, ben, cat, dan, lead, claim, refused, wait, release, ticket, accept, line, held } = {} as LineScene;
beforeEach(async () => {
  ({ fresh, ann, ben, cat, dan, lead, claim, refused, wait, release, ticket, accept, line, held } = await lineScene());
});

const events = async (...types: string[]) =>
  (await fresh.ask("list_events", { types }, fresh.root)).map(({ type }) => type);

describe("waiting in line (R35, R36)", () => {
  test("who waits gets a ticket, is offered what becomes free, and has it when it accepts", async () => {
    await claim(ann, ["path:src"]);
    const id = await wait(ben, ["path:src/a", "port:1"]);
    expect(await ticket(id, ben)).toMatchObject({
      state: "waiting",
      position: 1,
      scopes: [{ scope: "path:src/a" }, { scope: "port:1" }],
      behind: [{ scope: "path:src", agent_name: "ann", intent: "ann's" }],
    });
    expect(await accept(id, ben)).toMatchObject({ state: "waiting", claims: [] });
    await release(ann, "path:src");
    const offered = await ticket(id, ben);
    expect(offered).toMatchObject({ state: "offered", offer_remaining_ms: 30_000, behind: [] });
    expect(offered.notices).toMatchObject([{ type: "wait.offered", data: { ticket: id } }]);
    const granted = await accept(id, ben);
    expect(granted).toMatchObject({ state: "granted", position: null, ended_how: "granted" });
    expect(granted.claims).toMatchObject([{ scope: "path:src/a" }, { scope: "port:1" }]);
    expect(await held()).toEqual(["path:src/a ben", "port:1 ben"]);
    expect(await accept(id, ben)).toMatchObject({ state: "granted", claims: [{ scope: "path:src/a" }, {}] });
    expect(await events("scope.queued", "scope.offered")).toEqual(["scope.queued", "scope.offered"]);
  });

  test("who waits in no session yet is told its own place", async () => {
    await claim(ann, ["path:a"]);
    const { key } = await fresh.ask("create_agent", { name: "eve", role: "worker" }, fresh.root);
    const first = await fresh.ask("claim_scopes", { scopes: ["path:a"], intent: "x", wait: true }, byKey(key));
    expect(first).toMatchObject({ position: 1 });
  });

  test("asking again keeps the place, and takes what is offered", async () => {
    await claim(ann, ["path:a"]);
    const id = await wait(ben, ["path:a"]);
    const later = await wait(cat, ["path:a"]);
    fresh.time.pass(1000);
    expect(await wait(ben, ["path:a"])).toBe(id);
    expect(await ticket(later, cat)).toMatchObject({ position: 2 });
    await release(ann, "path:a");
    expect((await claim(ben, ["path:a"])).claims).toMatchObject([{ scope: "path:a", agent_name: "ben" }]);
    expect(await line()).toEqual(["cat waiting"]);
  });

  test("higher priority first, then first come; and a quarter of an hour outweighs any priority", async () => {
    await claim(ann, ["path:a"], { ttl_seconds: 3600 });
    await wait(ben, ["path:a"]);
    await wait(cat, ["path:a"]);
    await wait(dan, ["path:a"], { priority: 4 });
    expect(await line()).toEqual(["dan waiting", "ben waiting", "cat waiting"]);
    fresh.time.pass(601_000);
    const eve = await fresh.worker("eve");
    const calls = await Promise.all([ben, cat, dan].map((each) => claim(each, ["path:a"], { wait: true })));
    expect(calls.map(({ position }) => position)).toEqual([2, 3, 1]);
    await wait(eve, ["path:a"], { priority: 4 });
    expect(await line()).toEqual(["dan waiting", "ben waiting", "cat waiting", "eve waiting"]);
  });

  test("an exclusive waiter stops later requests that overlap, shared ones too, and the refusal says so and the place", async () => {
    await claim(ann, ["path:src"], { mode: "shared" });
    await wait(ben, ["path:src/a"]);
    const shared = await refused(cat, ["path:src/a/b"], { mode: "shared" });
    expect(shared.conflicts).toMatchObject([
      { reason: "somebody is before you in line", holder: { agent_name: "ben", scope: "path:src/a", fence: 0 } },
    ]);
    expect(shared.next?.[0]).toContain("number 2");
    expect(await fresh.ask("check_scope", { scope: "path:src/a", mode: "shared" }, cat)).toMatchObject({ free: false });
    await claim(cat, ["path:src/b"], { mode: "shared" });
    // What ann has already is renewed, whoever waits.
    await claim(ann, ["path:src"], { mode: "shared" });
    const plain = await refused(cat, ["path:src"]);
    expect(plain.next?.some((move) => move.includes("request_yield"))).toBe(true);
  });

  test("whether it is free is what a claim would say: also of what is shared and wanted alone, and of one's own turn", async () => {
    const check = async (as: Actor, more: object = {}) => {
      const { free, held: has } = await fresh.ask("check_scope", { scope: "path:a", ...more }, as);
      return { free, held: has };
    };
    await claim(ann, ["path:a"], { mode: "shared" });
    await claim(dan, ["path:b"]);
    const id = await wait(ben, ["path:a", "path:b"], { mode: "shared" });
    expect(await check(ann)).toEqual({ free: false, held: false });
    expect((await refused(ann, ["path:a"])).code).toBe("scope_conflict");
    expect(await check(ann, { mode: "shared" })).toEqual({ free: true, held: true });
    await fresh.ask("cancel_wait", { ticket: id }, ben);
    await wait(ben, ["path:a"]);
    await wait(cat, ["path:a"], { priority: 3 });
    fresh.time.pass(1);
    await release(ann, "path:a");
    expect([await check(cat), await check(ben)]).toEqual([
      { free: true, held: false },
      { free: false, held: false },
    ]);
    await claim(cat, ["path:a"]);
  });

  test("a silent one loses its turn to the next at the offer's end, whoever looks", async () => {
    await claim(ann, ["path:a"]);
    const first = await wait(ben, ["path:a"]);
    const second = await wait(cat, ["path:a"]);
    await release(ann, "path:a");
    expect(await line()).toEqual(["ben offered", "cat waiting"]);
    expect((await refused(dan, ["path:a"])).conflicts).toMatchObject([
      { reason: "it is offered to the first in line", holder: { agent_name: "ben" } },
      { reason: "somebody is before you in line", holder: { agent_name: "cat" } },
    ]);
    fresh.time.pass(29_999);
    expect(await ticket(first, ben)).toMatchObject({ state: "offered", offer_remaining_ms: 1 });
    fresh.time.pass(1);
    expect(await ticket(first, cat)).toMatchObject({ state: "ended", ended_how: "offer_expired" });
    expect(await ticket(second, cat)).toMatchObject({ state: "offered", offer_remaining_ms: 30_000 });
    expect((await ticket(first, ben)).notices.map(({ type }) => type)).toContain("wait.ended");
    expect(await accept(first, ben)).toMatchObject({ state: "ended", claims: [] });
    expect(await events("scope.offer_expired")).toEqual(["scope.offer_expired"]);
  });

  test("who lost its turn and then fell silent lost its turn, whoever notices which when", async () => {
    await claim(ann, ["path:a"]);
    const mortal = await fresh.session(ben, { ttl_seconds: 60 });
    const id = await wait(mortal, ["path:a"]);
    await release(ann, "path:a");
    fresh.time.pass(60_000);
    await claim(cat, ["path:z"]);
    expect(await ticket(id, cat)).toMatchObject({ ended_how: "offer_expired", ended_at: fresh.time.iso(-30_000) });
  });

  test("a lease that ends by the clock is offered to the first who can have all, others behind it go on", async () => {
    await claim(ann, ["path:a"], { ttl_seconds: 30 });
    await claim(dan, ["path:b"]);
    const wide = await wait(ben, ["path:a", "path:b"]);
    const narrow = await wait(cat, ["path:a"]);
    fresh.time.pass(30_000);
    // ben is before cat, and can't have all yet.
    expect(await ticket(narrow, cat)).toMatchObject({ state: "waiting", position: 2 });
    expect(await ticket(wide, ben)).toMatchObject({ state: "waiting", behind: [{ agent_name: "dan" }] });
    await release(dan, "path:b");
    expect(await line()).toEqual(["ben offered", "cat waiting"]);
    await accept(wide, ben);
    await release(ben, "path:a");
    expect(await line()).toEqual(["cat offered"]);
  });

  test("C08: a stream of sharers keeps nobody out: they are queued behind the one who wants it alone, and served together", async () => {
    await claim(ann, ["path:docs"], { mode: "shared" });
    const alone = await wait(ben, ["path:docs"]);
    const readers: Actor[] = [];
    for (let nth = 2; nth <= 8; nth += 1) {
      fresh.time.pass(2_000);
      const reader = await fresh.worker(`reader-${nth}`);
      readers.push(reader);
      expect((await claim(reader, ["path:docs"], { mode: "shared", wait: true })).position).toBe(nth);
    }
    await claim(ann, ["path:docs"], { mode: "shared" });
    await fresh.ask("release_scopes", { all: true }, ann);
    await accept(alone, ben);
    await release(ben, "path:docs");
    expect(await line()).toEqual(readers.map(({ name }) => `${name} offered`));
    for (const reader of readers) await claim(reader, ["path:docs"], { mode: "shared" });
    expect(await held()).toEqual(readers.map(({ name }) => `path:docs ${name}`));
  });

  test("one who waits by two tickets is offered both, though they overlap", async () => {
    await claim(ann, ["path:a"]);
    await wait(ben, ["path:a"]);
    await wait(ben, ["path:a/b", "port:1"]);
    await release(ann, "path:a");
    expect(await line()).toEqual(["ben offered", "ben offered"]);
  });

  test("who gets by several calls all that it waits for waits no more, and keeps it from nobody after its release", async () => {
    await claim(ann, ["path:a"]);
    const both = await wait(ben, ["path:a", "path:b"]);
    await release(ann, "path:a");
    await claim(ben, ["path:a"]);
    await claim(ben, ["path:b"]);
    expect(await ticket(both, ben)).toMatchObject({ state: "granted", claims: [{ scope: "path:a" }, {}] });
    await fresh.ask("release_scopes", { all: true }, ben);
    await claim(cat, ["path:a"]);
  });

  test("shared waiters are offered together", async () => {
    await claim(ann, ["path:a"]);
    await wait(ben, ["path:a"], { mode: "shared" });
    await wait(cat, ["path:a/b"], { mode: "shared" });
    await wait(dan, ["path:a"]);
    await release(ann, "path:a");
    expect(await line()).toEqual(["ben offered", "cat offered", "dan waiting"]);
  });

  test("a ticket ends with its session, by call or by silence, and by leaving the line", async () => {
    await claim(ann, ["path:a"], { ttl_seconds: 3600 });
    const mortal = await fresh.session(ben, { ttl_seconds: 30 });
    const first = await wait(mortal, ["path:a"]);
    const second = await wait(cat, ["path:a"]);
    const third = await wait(dan, ["path:a"]);
    fresh.time.pass(30_000);
    expect(await ticket(first, dan)).toMatchObject({ state: "ended", ended_how: "session_ended" });
    expect(await ticket(second, dan)).toMatchObject({ position: 1 });
    expect((await fresh.refusal("cancel_wait", { ticket: second }, dan)).code).toBe("forbidden");
    expect(await fresh.ask("cancel_wait", { ticket: second }, cat)).toMatchObject({ ended_how: "cancelled" });
    await fresh.ask("end_session", { session_id: dan.sessionId }, dan);
    expect(await ticket(third, cat)).toMatchObject({ state: "ended", ended_how: "session_ended" });
    await release(ann, "path:a");
    expect(await line()).toEqual([]);
    expect((await claim(cat, ["path:a"])).claims).toHaveLength(1);
  });

  test("nobody waits for more than the workspace allows", async () => {
    await fresh.ask("update_workspace", { waits_per_agent_max: 2 }, fresh.root);
    await claim(ann, ["path:a"]);
    await wait(ben, ["path:a/1"]);
    await wait(ben, ["path:a/2"]);
    expect(await refused(ben, ["path:a/3"], { wait: true })).toMatchObject({
      code: "limit_exceeded",
      setting: "waits_per_agent_max",
    });
  });

  test("nobody waits for more than it may ever hold", async () => {
    await fresh.ask("update_workspace", { claims_per_agent_max: 2 }, fresh.root);
    await claim(ann, ["path:a"]);
    const three = ["path:a/1", "path:a/2", "path:a/3"];
    expect(await refused(ben, three, { wait: true })).toMatchObject({ setting: "claims_per_agent_max", limit: 2 });
    await wait(ben, three.slice(1));
  });

  test("for a task: the ticket lives by its lease, and what it gets ends with it", async () => {
    const { id } = await fresh.task();
    await fresh.claim(id, ben);
    await claim(ann, ["path:a"]);
    const first = await wait(ben, ["path:a"], { task_id: id });
    await release(ann, "path:a");
    expect((await accept(first, ben)).claims).toMatchObject([{ task_id: id }]);
    await claim(cat, ["path:b"], { ttl_seconds: 3600 });
    const second = await wait(ben, ["path:b"], { task_id: id });
    fresh.time.pass(300_000);
    expect(await ticket(second, dan)).toMatchObject({ state: "ended", ended_how: "task_lost" });
  });
});

test("a refusal says who holds, who waits, and who was offered it", async () => {
  await claim(ann, ["path:a"], { mode: "shared" });
  await wait(ben, ["path:a"]);
  const asked = async () => (await refused(cat, ["path:a"], { mode: "shared" })).message;
  expect(await asked()).toMatch(/is not free: path:a \(exclusive, waited for by ben, "[^"]+"\)\./);
  await release(ann, "path:a");
  expect(await asked()).toMatch(/is not free: path:a \(exclusive, offered to ben, "[^"]+"\)\./);
});

describe("overruling the line (R40)", () => {
  test("a coordinator gives a waiter its scopes, with a reason; who had them is told", async () => {
    const { id } = await fresh.task({ scopes: ["path:a/task"] });
    await fresh.claim(id, cat);
    await claim(ann, ["path:a/1"]);
    await wait(dan, ["path:a"]);
    const second = await wait(ben, ["path:a"]);
    expect((await fresh.refusal("grant_wait", { ticket: second, reason: "now" }, ann)).code).toBe("forbidden");
    expect((await fresh.refusal("grant_wait", { ticket: second }, lead)).code).toBe("reason_required");
    const granted = await fresh.ask("grant_wait", { ticket: second, reason: "the release" }, lead);
    expect(granted).toMatchObject({ state: "granted", claims: [{ scope: "path:a", agent_name: "ben" }] });
    expect(await held()).toEqual(["path:a ben"]);
    const notices = (await fresh.ask("list_claims", {}, ann)) && (await fresh.next(ann));
    expect(notices).toBeNull();
    const told = (await fresh.ask("heartbeat_scopes", { scopes: ["path:a/1"] }, ann)).notices;
    expect(told).toMatchObject([{ type: "lease.lost", data: { scope: "path:a/1" } }]);
    expect(told[0]?.message).toContain("the release");
    expect(await fresh.read(id)).toMatchObject({ status: "open" });
    expect(await line()).toEqual(["dan waiting"]);
    expect(await events("scope.overruled")).toEqual(["scope.overruled"]);
  });
});
