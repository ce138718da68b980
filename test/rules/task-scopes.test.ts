import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

/** Field reports here: C10 (a task whose scopes aren't free stops nobody). */

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

type Scopes = NonNullable<Input<"create_task">["scopes"]>;
const task = (content: string, scopes: Scopes, more: object = {}) => fresh.task({ content, scopes, ...more });
const claimScopes = (as: Actor, scopes: Scopes, more: object = {}) =>
  fresh.ask("claim_scopes", { scopes, intent: "mine", ...more }, as);
const next = (as: Actor, more: object = {}) => fresh.ask("claim_next_task", more, as);
const complete = (as: Actor, id: string) => fresh.ask("complete_task", { task_id: id }, as);
const names = async (filter: object = {}) =>
  (await fresh.ask("list_claims", filter, fresh.root)).filter(({ kind }) => kind !== "task");

describe("a task with scopes (R16)", () => {
  test("is claimed with all of them or not at all, and they live by its lease", async () => {
    const { id } = await task("login", ["path:src/auth", { scope: "db:main", mode: "shared" }]);
    expect((await fresh.read(id)).scopes).toEqual([
      { scope: "path:src/auth", mode: "exclusive" },
      { scope: "db:main", mode: "shared" },
    ]);
    const { task: granted } = await next(ann, { lease_seconds: 60 });
    expect(await names()).toMatchObject([
      { scope: "path:src/auth", task_id: id, intent: "login", agent_name: "ann", remaining_ms: 60_000, fence: 1 },
      { scope: "db:main", task_id: id, mode: "shared" },
    ]);
    fresh.time.pass(50_000);
    await fresh.ask("heartbeat_task", { task_id: id, lease_id: granted?.lease_id as string }, ann);
    fresh.time.pass(50_000);
    expect(await names()).toMatchObject([{ remaining_ms: 10_000 }, { remaining_ms: 10_000 }]);
    await complete(ann, id);
    expect(await names()).toEqual([]);
    await claimScopes(ben, ["path:src", "db:main"]);
  });

  test("frees its scopes when its lease ends by the clock, at that instant", async () => {
    const { id } = await task("login", ["path:src/auth"]);
    await fresh.claim(id, ann, { lease_seconds: 30 });
    fresh.time.pass(29_999);
    expect((await fresh.ask("check_scope", { scope: "path:src" }, ben)).free).toBe(false);
    fresh.time.pass(1);
    expect((await fresh.ask("check_scope", { scope: "path:src" }, ben)).free).toBe(true);
    expect(await names()).toEqual([]);
    const endedAt = fresh.time.iso();
    fresh.time.pass(5_000);
    await claimScopes(ben, ["path:src"]);
    const past = await fresh.ask("list_scope_history", { scope: "path:src/auth" }, ben);
    expect(past).toMatchObject([
      { agent_name: "ben", ended_how: null },
      // When it ended, not when somebody noticed.
      { agent_name: "ann", task_id: id, ended_how: "expired", ended_at: endedAt },
    ]);
  });

  test.each([
    ["release", (id: string) => fresh.ask("release_task", { task_id: id }, ann)],
    ["failure", (id: string) => fresh.ask("fail_task", { task_id: id, reason: "x" }, ann)],
    ["cancellation", (id: string) => fresh.ask("cancel_task", { task_id: id }, ann)],
    ["delegation", (id: string) => fresh.ask("delegate_task", { task_id: id, content: "x" }, ann)],
    ["a forced release", (id: string) => fresh.ask("force_release_task", { task_id: id, reason: "x" }, fresh.root)],
    ["the end of its session", () => fresh.ask("end_session", { session_id: ann.sessionId }, ann)],
  ])("frees its scopes with its lease: by %s", async (_how, end) => {
    const { id } = await task("login", ["path:src/auth"]);
    await fresh.claim(id, ann);
    await end(id);
    expect(await names()).toEqual([]);
    await claimScopes(ben, ["path:src"]);
  });

  test("takes its scopes along when it is taken over", async () => {
    const { id } = await task("login", ["path:src/auth"]);
    await fresh.claim(id, ann);
    const other = await fresh.session(ann);
    await fresh.claim(id, other, { takeover: true, reason: "my laptop died" });
    expect(await names()).toMatchObject([{ session_id: other.sessionId, task_id: id, fence: 2 }]);
  });
});

describe("a task whose scopes aren't free", () => {
  test("is passed over, and said to be, and is next when they are free (C10)", async () => {
    const [first, second, free] = [
      await task("first", ["path:src/a"], { priority: 4 }),
      await task("second", ["path:src/**"]),
      await task("free", ["path:docs"]),
    ];
    await fresh.claim(first.id, ann);
    const got = await next(ben);
    expect(got).toMatchObject({
      task: { id: free.id },
      skipped: [
        { id: second.id, content: "second", code: "scope_conflict", holder: { agent_name: "ann", task_id: first.id } },
      ],
      skipped_count: 1,
    });
    expect(await next(cat)).toMatchObject({ task: null, skipped_count: 1 });
    // It is still ready, only not now.
    expect(await fresh.read(second.id)).toMatchObject({ ready: true, status: "open" });
    await complete(ann, first.id);
    expect(await next(cat)).toMatchObject({ task: { id: second.id }, skipped: [], skipped_count: 0 });
  });

  test("is counted up to 1,000 others, of which ten are shown", async () => {
    await fresh.ask("claim_scopes", { scopes: ["path:src"], intent: "x" }, ann);
    const many = (count: number) =>
      Array.from({ length: count }, (_, nth) => ({ content: `${nth}`, scopes: ["path:src"] }));
    await fresh.ask("create_tasks", { tasks: many(999) }, fresh.root);
    const first = await next(ben);
    expect([first.skipped.length, first.skipped_count]).toEqual([10, 999]);
    await fresh.ask("create_tasks", { tasks: many(2) }, fresh.root);
    expect((await next(ben)).skipped_count).toBe(1_000);
  });

  test("is refused by id with every holder in the way, last of all causes; `why` agrees", async () => {
    const { id } = await task("wide", ["path:src", "port:1"]);
    await claimScopes(ann, ["path:src/a"]);
    await claimScopes(ben, ["port:1"]);
    const refused = await fresh.refusal("claim_task", { task_id: id }, cat);
    expect(refused).toMatchObject({
      code: "scope_conflict",
      conflicts: [
        { requested: "path:src", holder: { agent_name: "ann", scope: "path:src/a" } },
        { requested: "port:1", holder: { agent_name: "ben" } },
      ],
    });
    const why = await fresh.ask("get_task_why", { task_id: id }, cat);
    expect(why).toMatchObject({ claimable: false, code: "scope_conflict", explanation: refused.message });
    expect(await fresh.read(id)).toMatchObject({ status: "open", fence: 0 });
    expect(await names({ agent_id: cat.id })).toEqual([]);
    await fresh.ask("update_task", { task_id: id, assigned_to_agent_id: ann.id }, fresh.root);
    expect((await fresh.refusal("claim_task", { task_id: id }, cat)).code).toBe("task_assigned");
  });

  test("of the session's own free-standing claims is no bar; of another task of it, it is", async () => {
    await claimScopes(ann, ["path:src"]);
    const [mine, other] = [await task("mine", ["path:src/a"]), await task("other", ["path:src/a/b"])];
    expect(await next(ben)).toMatchObject({ task: null, skipped_count: 2 });
    expect(await next(ann)).toMatchObject({ task: { id: mine.id } });
    expect(await next(ann)).toMatchObject({ task: null, skipped: [{ id: other.id }] });
    expect((await fresh.refusal("claim_task", { task_id: other.id }, ann)).code).toBe("scope_conflict");
  });

  test("comes by the clock when the claim it met was not renewed, and not before if it was", async () => {
    const { claims } = await claimScopes(ann, ["path:src"], { ttl_seconds: 60 });
    const { id } = await task("waits", ["path:src/a"]);
    expect((await next(ben)).task).toBeNull();
    fresh.time.pass(50_000);
    await fresh.ask("heartbeat_scopes", { claim_ids: claims.map((claim) => claim.id) }, ann);
    fresh.time.pass(50_000);
    expect(await next(ben)).toMatchObject({ task: null, skipped: [{ id }] });
    fresh.time.pass(10_000);
    expect(await next(ben)).toMatchObject({ task: { id } });
  });

  test("wakes who waits for it as soon as they are free (R21)", async () => {
    const real = await FreshStore.open({ realTime: true });
    const [one, two] = [await real.worker("one"), await real.worker("two")];
    await real.task({ content: "a", scopes: ["path:src"] });
    const held = await real.next(one);
    const { id } = await real.task({ content: "b", scopes: ["path:src/x"] });
    const waiting = real.ask("claim_next_task", { wait_seconds: 30 }, two);
    await real.ask("complete_task", { task_id: held?.id as string }, one);
    expect((await waiting).task?.id).toBe(id);
  });

  test("stands in nobody's way: 10,000 of them in front of the one that is free, over and over", {
    timeout: 120_000,
  }, async () => {
    await claimScopes(ann, ["path:src"], { ttl_seconds: 3600 });
    for (let part = 0; part < 10; part += 1) {
      const tasks = Array.from({ length: 1_000 }, (_, nth) => ({
        content: "blocked",
        priority: 4,
        scopes: [`path:src/${part}/${nth}.ts`],
      }));
      await fresh.ask("create_tasks", { tasks }, fresh.root);
    }
    for (let nth = 0; nth < 20; nth += 1) await task(`free ${nth}`, [`path:docs/${nth}`]);
    const took: number[] = [];
    for (let nth = 0; nth < 20; nth += 1) {
      const startedAt = performance.now();
      const got = await next(nth % 2 ? ben : cat);
      took.push(performance.now() - startedAt);
      expect(got.task?.content).toBe(`free ${nth}`);
      expect(got).toMatchObject({ skipped_count: 1_000 });
    }
    // The first looks at them all, once.
    expect(Math.min(...took.slice(1))).toBeLessThan(100);
    await fresh.ask("release_scopes", { all: true }, ann);
    expect(await next(ben)).toMatchObject({ task: { content: "blocked" }, skipped_count: 0 });
  });
});

describe("changing what a task touches", () => {
  test("of an open task counts from its next claim", async () => {
    const { id } = await task("login", ["path:src"]);
    await claimScopes(ann, ["path:src"]);
    expect((await next(ben)).task).toBeNull();
    await fresh.ask("update_task", { task_id: id, scopes: ["path:docs"] }, fresh.root);
    expect(await next(ben)).toMatchObject({ task: { id, scopes: [{ scope: "path:docs" }] } });
    await fresh.ask("release_task", { task_id: id }, ben);
    await fresh.ask("update_task", { task_id: id, scopes: null }, fresh.root);
    expect((await fresh.claim(id, ben)).scopes).toEqual([]);
    expect(await names({ agent_id: ben.id })).toEqual([]);
  });

  test("by its holder claims the new ones, or is refused whole, and frees the others (R16)", async () => {
    const { id } = await task("login", ["path:src", "path:docs"]);
    await fresh.claim(id, ann);
    await claimScopes(ben, ["port:1"]);
    const change = (scopes: Scopes) => fresh.ask("update_task", { task_id: id, scopes }, ann);
    const wide = { task_id: id, scopes: ["path:src", "port:1", "port:2"] };
    expect((await fresh.refusal("update_task", wide, ann)).code).toBe("scope_conflict");
    expect((await names({ agent_id: ann.id })).map(({ scope }) => scope)).toEqual(["path:src", "path:docs"]);
    expect((await fresh.read(id)).scopes).toHaveLength(2);
    await change(["path:src", "port:2"]);
    expect((await names({ agent_id: ann.id })).map(({ scope }) => scope)).toEqual(["path:src", "port:2"]);
    await claimScopes(ben, ["path:docs"]);
  });

  test("more may be claimed for a task while it is held; it ends with the task", async () => {
    const { id } = await fresh.task({ content: "plain" });
    await fresh.claim(id, ann);
    await claimScopes(ann, ["path:src"], { task_id: id });
    expect(await names()).toMatchObject([{ task_id: id }]);
    expect((await fresh.refusal("claim_scopes", { scopes: ["path:x"], intent: "x", task_id: id }, ben)).code).toBe(
      "lease_lost",
    );
    const kept = await fresh.ask("release_scopes", { scopes: ["path:src"] }, ann);
    expect(kept).toMatchObject({ released: 0 });
    await complete(ann, id);
    expect(await names()).toEqual([]);
  });

  test("that another task of the same session holds it may let go of, and neither waits for itself nor asks itself to yield (R34)", async () => {
    const [own, other] = [await task("one", ["path:src"]), await task("two", ["path:src/x"])];
    await fresh.claim(own.id, ann);
    const plain = await fresh.task({ content: "plain" });
    await fresh.claim(plain.id, ann);
    const named = { scopes: ["path:src/x"], intent: "x", task_id: plain.id };
    const refusals = [
      await fresh.refusal("claim_task", { task_id: other.id }, ann),
      await fresh.refusal("claim_scopes", named, ann),
      await fresh.refusal("claim_scopes", { ...named, wait: true }, ann),
    ];
    expect(refusals.map(({ code }) => code)).toEqual(["scope_conflict", "scope_conflict", "would_deadlock"]);
    for (const { next } of refusals) {
      expect(next).toContain(`Let go of path:src, which your own session holds: release or complete task ${own.id}.`);
      expect(next?.filter((move) => /yield|Wait in line|Try again/.test(move))).toEqual([]);
    }
    // Of others who are in the way as well it may still ask.
    await claimScopes(ben, ["port:1"]);
    const both = await fresh.refusal("claim_scopes", { ...named, scopes: ["path:src/x", "port:1"] }, ann);
    expect(both.next?.filter((move) => /yield|Wait in line/.test(move))).toMatchObject([
      expect.stringContaining("Ask ben to yield"),
    ]);
  });

  test("end with its session as what that claimed by itself does, and are taken away with a task that is (R10)", async () => {
    const { id } = await task("login", ["path:src"]);
    await fresh.claim(id, ann);
    await claimScopes(ann, ["path:docs"]);
    await fresh.ask("end_session", { session_id: ann.sessionId }, ann);
    await fresh.claim(id, ben);
    await fresh.ask("force_release_task", { task_id: id, reason: "x" }, fresh.root);
    const ends = async (scope: string) =>
      (await fresh.ask("list_scope_history", { scope }, ben)).map(({ ended_how }) => ended_how);
    expect([await ends("path:src"), await ends("path:docs")]).toEqual([["revoked", "released"], ["released"]]);
  });

  test("a scope that is none is refused with its task, and no task is made", async () => {
    const tasks = [{ content: "a" }, { content: "b", scopes: ["path:a/../b"] }];
    const refused = await fresh.refusal("create_tasks", { tasks }, fresh.root);
    expect(refused).toMatchObject({ code: "invalid_scope", scope: "path:a/../b", segment: ".." });
    expect(await fresh.ask("list_tasks", {}, ann)).toEqual([]);
  });
});
