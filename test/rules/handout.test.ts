import { describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** Field reports here: C02 (the order of one caller), C10 (as far as tasks without scopes go). */

/** So many leases of somebody else's that all lapse 30 s from now, or longer. */
async function leases(fresh: FreshStore, count: number, input: object, by: Actor, seconds = 30): Promise<string[]> {
  const ids = [];
  for (let at = 0; at < count; at += 100) {
    const tasks = Array.from({ length: Math.min(100, count - at) }, (_, n) => ({ content: `${at + n}`, ...input }));
    const made = await fresh.ask("create_tasks", { tasks }, by);
    const count_ = { count: made.length, lease_seconds: seconds };
    await fresh.ask("claim_next_task", count_, by);
    ids.push(...made.map((task) => task.id));
  }
  return ids;
}

describe("tasks are handed out by priority, then age (R15)", () => {
  test("priority first, then the oldest, whatever the order of creation", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    for (const [content, priority] of [
      ["a", 2],
      ["b", 4],
      ["c", 1],
      ["d", 4],
      ["e", 3],
      ["f", 2],
    ] as const) {
      await fresh.task({ content, priority });
    }
    const order = [];
    for (let task = await fresh.next(ann); task; task = await fresh.next(ann)) order.push(task.content);
    expect(order.join("")).toBe("bdeafc");
  });

  test("only unassigned ones and the caller's own, in one order", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    await fresh.task({ content: "ben's", assigned_to_agent_id: ben.id, priority: 4 });
    await fresh.task({ content: "first" });
    await fresh.task({ content: "ann's", assigned_to_agent_id: ann.id });
    await fresh.task({ content: "last" });
    const got = [await fresh.next(ann), await fresh.next(ann), await fresh.next(ann), await fresh.next(ann)];
    expect(got.map((task) => task?.content)).toEqual(["first", "ann's", "last", undefined]);
    expect(await fresh.next(ben)).toMatchObject({ content: "ben's", assigned_to_agent_id: ben.id });
  });

  test("all labels given must be there; a project given is the only one looked into", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    await fresh.ask("create_project", { key: "site" }, fresh.root);
    await fresh.task({ content: "a", labels: ["x"] });
    await fresh.task({ content: "b", labels: ["y", "x"] });
    await fresh.task({ content: "c", labels: ["x", "y"], project_id: "site" });
    expect(await fresh.next(ann, { labels: ["x", "y", "z"] })).toBeNull();
    expect(await fresh.next(ann, { labels: ["x", "y"], project_id: "site" })).toMatchObject({ content: "c" });
    expect(await fresh.next(ann, { labels: ["y", "x"] })).toMatchObject({ content: "b" });
    expect(await fresh.next(ann, { labels: ["X"] })).toBeNull();
    expect(await fresh.refusal("claim_next_task", { project_id: "nowhere" }, ann)).toMatchObject({ code: "not_found" });
  });

  test("count gives up to that many, each under its own lease (R22)", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    for (const content of ["a", "b", "c"]) await fresh.task({ content });
    const { tasks = [] } = await fresh.ask("claim_next_task", { count: 100 }, ann);
    expect(tasks.map((task) => task.content)).toEqual(["a", "b", "c"]);
    expect(new Set(tasks.map((task) => task.lease_id)).size).toBe(3);
    expect((await fresh.ask("claim_next_task", { count: 2 }, ann)).tasks).toEqual([]);
    for (const count of [0, 101, 1.5]) {
      const refused = await fresh.refusal("claim_next_task", { count }, ann);
      expect(refused).toMatchObject({ code: "invalid_input", fields: [{ field: "count" }] });
    }
  });

  test("count without a session opens one implicit session for all of them (R13, R22)", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.agent("ann");
    for (const content of ["a", "b", "c"]) await fresh.task({ content });
    const { tasks = [] } = await fresh.ask("claim_next_task", { count: 3 }, ann);
    expect(new Set(tasks.map((task) => task.claimed_by_session_id)).size).toBe(1);
    const sessions = await fresh.ask("list_sessions", { agent_id: ann.id }, ann);
    expect(sessions).toMatchObject([{ implicit: true, tasks_held: 3 }]);
  });
});

describe("what can't be taken never keeps others from what can", () => {
  test("C10: 200 tasks with all attempts lapsed stand in front of the one that is ready (R20)", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const spent = await leases(fresh, 200, { priority: 4, max_attempts: 1 }, fresh.root);
    const { id } = await fresh.task({ priority: 1 });
    fresh.time.pass(30_000);
    // The very first call after the lapse, before anybody has noticed any of it.
    expect(await fresh.next(ann)).toMatchObject({ id });
    expect(await fresh.next(ben)).toBeNull();
    const failed = await fresh.ask("list_tasks", { status: "failed", limit: 1000 }, ann);
    expect(failed.map((task) => task.id)).toEqual(spent);
    expect(failed.every((task) => task.failure_reason === "attempts_exhausted" && !task.ready)).toBe(true);
  });

  test("leases that lapsed by the thousand come back in exact order, from the first call on (R12, R15)", {
    timeout: 60_000,
  }, async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    // More than one claim looks through; low ones first, so that age and priority disagree.
    const low = await leases(fresh, 2_000, { priority: 1 }, fresh.root);
    const high = await leases(fresh, 260, { priority: 3 }, fresh.root);
    const { id: between } = await fresh.task({ priority: 2 });
    fresh.time.pass(30_000);
    const got = [];
    for (let n = 0; n < 40; n += 1) got.push((await fresh.next(ann))?.id);
    expect(got).toEqual(high.slice(0, 40));
    const { tasks = [] } = await fresh.ask("claim_next_task", { count: 100 }, ann);
    expect(tasks.map((task) => task.id)).toEqual(high.slice(40, 140));
    const rest = [];
    for (let n = 0; n < 3; n += 1)
      rest.push(...((await fresh.ask("claim_next_task", { count: 100 }, ann)).tasks ?? []));
    expect(rest.map((task) => task.id)).toEqual([...high, between, ...low].slice(140, 440));
  });

  test("a lapsed task is found behind thousands that others hold, with hundreds due (R12, R15)", {
    timeout: 60_000,
  }, async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    await leases(fresh, 2_100, { priority: 4 }, fresh.root, 3600);
    await leases(fresh, 100, { priority: 2, max_attempts: 1 }, fresh.root);
    const [id] = await leases(fresh, 1, { priority: 1 }, fresh.root, 31);
    fresh.time.pass(31_000);
    expect(await fresh.next(ann)).toMatchObject({ id });
    expect(await fresh.next(ann)).toBeNull();
  });

  test("so also by label, where a worse one of the caller's own would be found at once (R15)", {
    timeout: 60_000,
  }, async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    await leases(fresh, 2_100, { priority: 4, labels: ["a"] }, fresh.root, 3600);
    await leases(fresh, 100, { priority: 2, max_attempts: 1 }, fresh.root);
    const [better] = await leases(fresh, 1, { priority: 2, labels: ["a"] }, fresh.root, 31);
    const own = await fresh.task({ priority: 1, labels: ["a"], assigned_to_agent_id: ann.id });
    await fresh.claim(own.id, ann, { lease_seconds: 31 });
    fresh.time.pass(31_000);
    expect(await fresh.next(ann, { labels: ["a"] })).toMatchObject({ id: better });
    expect(await fresh.next(ann, { labels: ["a"] })).toMatchObject({ id: own.id });
  });

  test("a lapse that somebody's late call puts on record doesn't lose its place (R15)", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    await leases(fresh, 100, { priority: 1, max_attempts: 1 }, fresh.root);
    const middle = await fresh.task({ content: "middle", priority: 3 });
    await fresh.claim(middle.id, ann, { lease_seconds: 31 });
    for (const priority of [4, 2]) await fresh.task({ content: String(priority), priority });
    fresh.time.pass(31_000);
    const [first, , second] = await Promise.all([
      fresh.next(ben),
      fresh.refusal("heartbeat_task", { task_id: middle.id }, ann),
      fresh.next(ben),
    ]);
    expect([first?.content, second?.content]).toEqual(["4", "middle"]);
  });

  test("a session's heartbeat answers for what it holds though hundreds of leases lapsed unnoticed (R9)", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    await leases(fresh, 200, {}, fresh.root);
    const [short, long] = [await fresh.task(), await fresh.task()];
    await fresh.claim(short.id, ann, { lease_seconds: 31 });
    await fresh.claim(long.id, ann, { lease_seconds: 300 });
    fresh.time.pass(31_000);
    const { items } = await fresh.ask("heartbeat_session", { session_id: ann.sessionId }, ann);
    expect(items.map((item) => [item.task_id, item.outcome, item.reason])).toEqual([
      [long.id, "renewed", null],
      [short.id, "lost", "expired"],
    ]);
  });
});
