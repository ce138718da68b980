import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, byKey, FreshStore } from "../support/fresh-store.js";

/** Field reports here: C39 (the graph's size: `dependency-graphs.test.ts`), C41, C42, C44. */

const UNKNOWN = "0123456789abcdef0123456789abcdef";
let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
});

const task = async (content: string, ...depends_on: string[]) => (await fresh.task({ content, depends_on })).id;
const finish = async (id: string, as = ann) => {
  const { lease_id } = await fresh.claim(id, as);
  return fresh.ask("complete_task", { task_id: id, lease_id: lease_id as string }, as);
};
const shown = async (id: string) => {
  const { status, ready, stalled, depends_on, blocked_by } = await fresh.read(id);
  return { status, ready, stalled, depends_on, blocked_by };
};
const events = async (id: string, type: string) => {
  const history = await fresh.ask("get_task_history", { task_id: id, limit: 1000 }, fresh.root);
  return history.filter((event) => event.type === type).map(({ data, actor }) => ({ data, by: actor?.agent_name }));
};
const add = (task_id: string, ...depends_on: string[]) =>
  fresh.ask("add_dependencies", { task_id, depends_on }, fresh.root);
const remove = (task_id: string, blocker_id: string) =>
  fresh.ask("remove_dependency", { task_id, blocker_id }, fresh.root);

describe("a task that waits for others (R14, R23)", () => {
  test("is handed out when the last of them is completed, not before, and shows what it waits for", async () => {
    const [a, b] = [await task("A"), await task("B")];
    const z = await task("Z", b, a, b);
    expect(await fresh.read(z)).toMatchObject({
      ready: false,
      stalled: false,
      depends_on: [a, b],
      depends_on_count: 2,
      blocked_by: [a, b],
      blocked_by_count: 2,
    });
    await finish(a);
    expect(await shown(z)).toMatchObject({ ready: false, depends_on: [a, b], blocked_by: [b] });
    expect((await fresh.ask("claim_next_task", { count: 9 }, ben)).tasks?.map(({ id }) => id)).toEqual([b]);
    await fresh.ask("complete_task", { task_id: b }, ben);
    expect(await shown(z)).toMatchObject({ ready: true, depends_on: [a, b], blocked_by: [] });
    expect(await events(z, "task.ready")).toEqual([{ data: { blocker_id: b }, by: "ben" }]);
    expect((await fresh.next(ann))?.id).toBe(z);
  });

  test("comes before younger work in the very batch that completes its blocker", async () => {
    const a = await task("A");
    const z = (await fresh.task({ content: "Z", priority: 4, depends_on: [a], labels: ["web"] })).id;
    for (const content of ["other", "another", "third"]) await fresh.task({ content, labels: ["web"] });
    const { lease_id } = await fresh.claim(a, ann);
    // Read ahead of the queue before Z is in it.
    expect((await fresh.next(ben))?.content).toBe("other");
    const [, next] = await Promise.all([
      fresh.ask("complete_task", { task_id: a, lease_id: lease_id as string }, ann),
      fresh.next(ben, { labels: ["web"] }),
    ]);
    expect(next?.id).toBe(z);
  });

  test("whose time has not come when its blocker is completed sleeps until then", async () => {
    const a = await task("A");
    const at = new Date(Date.parse(fresh.time.iso()) + 60_000).toISOString();
    const { id } = await fresh.task({ content: "Z", depends_on: [a], not_before: at });
    expect(await fresh.refusal("claim_task", { task_id: id }, ben)).toMatchObject({ code: "task_scheduled" });
    await finish(a);
    expect(await fresh.next(ben)).toBeNull();
    expect(await events(id, "task.ready")).toEqual([]);
    fresh.time.pass(60_000);
    expect((await fresh.next(ben))?.id).toBe(id);
  });

  test("that was completed under a claim stays completed, whatever becomes of its blocker", async () => {
    const a = await task("A");
    const z = await task("Z", a);
    await finish(a);
    await finish(z);
    await fresh.ask("reopen_task", { task_id: a }, fresh.root);
    expect(await shown(z)).toMatchObject({ status: "completed", ready: false, stalled: false, blocked_by: [a] });
    // Opened again itself, it waits.
    await fresh.ask("reopen_task", { task_id: z }, fresh.root);
    expect(await shown(z)).toMatchObject({ status: "open", ready: false });
    await finish(a);
    expect(await shown(z)).toMatchObject({ ready: true });
  });
});

describe("a blocker that is opened again (R24)", () => {
  test("takes an unclaimed dependent out of the queue, and leaves a claimed one with its holder, who is told", async () => {
    const a = await task("A");
    const [held, free] = [await task("held", a), await task("free", a)];
    await finish(a);
    const { lease_id } = await fresh.claim(held, ben, { lease_seconds: 60 });
    await fresh.ask("reopen_task", { task_id: a }, fresh.root);
    expect(await shown(free)).toMatchObject({ ready: false, blocked_by: [a] });
    expect(await events(free, "task.blocked")).toEqual([{ data: { blocker_id: a }, by: "admin" }]);
    const beat = await fresh.ask("heartbeat_task", { task_id: held, lease_id: lease_id as string }, ben);
    expect(beat).toMatchObject({ status: "claimed", blocked_by: [a] });
    expect(beat.notices).toMatchObject([{ type: "blocker.reopened", task_id: held, data: { blocker_id: a } }]);
    // Its lease over, it waits like the other: also before anybody noticed the end.
    fresh.time.pass(60_000);
    expect(await shown(held)).toMatchObject({ status: "open", ready: false, stalled: false });
    await fresh.sweep();
    expect(await shown(held)).toMatchObject({ status: "open", ready: false });
    expect((await fresh.ask("claim_next_task", { count: 9 }, ann)).tasks?.map(({ id }) => id)).toEqual([a]);
  });

  test("of several that are opened again its holder is told of each", async () => {
    const blockers = [await task("A"), await task("B")];
    const held = await task("held", ...blockers);
    for (const each of blockers) await finish(each);
    await fresh.claim(held, ben);
    for (const each of blockers) await fresh.ask("reopen_task", { task_id: each }, fresh.root);
    const { notices } = await fresh.ask("heartbeat_task", { task_id: held }, ben);
    expect(notices.map(({ data }) => data.blocker_id).reverse()).toEqual(blockers);
  });

  test("is no cause to refuse its holder's completion, nor a takeover", async () => {
    const a = await task("A");
    const z = await task("Z", a);
    await finish(a);
    await fresh.claim(z, ben);
    await fresh.ask("reopen_task", { task_id: a }, fresh.root);
    const taken = await fresh.claim(z, fresh.root, { takeover: true, reason: "mine" });
    await fresh.ask("complete_task", { task_id: z, lease_id: taken.lease_id as string }, fresh.root);
    expect(await shown(z)).toMatchObject({ status: "completed" });
  });
});

describe("a blocker that will never be completed (R23, C42)", () => {
  const broken: readonly [string, (id: string) => Promise<unknown>, status: string, unblocks: string][] = [
    ["is cancelled", (id) => fresh.ask("cancel_task", { task_id: id }, fresh.root), "cancelled", "reopen_task"],
    [
      "fails",
      async (id) => {
        await fresh.claim(id, ann);
        await fresh.ask("fail_task", { task_id: id, reason: "broken" }, ann);
      },
      "failed",
      "retry_task",
    ],
    [
      "loses its last attempt to the clock, whether or not anybody noticed (R20)",
      async (id) => {
        await fresh.ask("update_task", { task_id: id, max_attempts: 1 }, fresh.root);
        await fresh.claim(id, ann, { lease_seconds: 30 });
        fresh.time.pass(30_000);
      },
      "failed",
      "retry_task",
    ],
    [
      "lapses after a request to cancel it",
      async (id) => {
        await fresh.claim(id, ann, { lease_seconds: 30 });
        await fresh.ask("cancel_task", { task_id: id }, fresh.root);
        fresh.time.pass(30_000);
      },
      "cancelled",
      "reopen_task",
    ],
  ];
  test.each(broken)(
    "%s: what waits for it is stalled at that instant, and why names the call",
    async (_w, end, status, call) => {
      const [x, y] = [await task("X"), await task("Y")];
      const z = await task("Z", x, y);
      await finish(x);
      await end(y);
      // Read before anything is written: no job has run.
      expect(await shown(z)).toMatchObject({ status: "open", ready: false, stalled: true, blocked_by: [y] });
      const stalled = await fresh.ask("list_tasks", { stalled: true }, fresh.root);
      expect(stalled.map(({ id }) => id)).toEqual([z]);
      const why = await fresh.ask("get_task_why", { task_id: z }, ben);
      expect(why).toMatchObject({ code: "task_blocked", details: { blockers: [{ id: y, content: "Y", status }] } });
      expect(why.next[0]).toContain(`${y}`);
      expect(why.next[0]).toContain(call);
      await fresh.sweep();
      expect(await events(z, "task.stalled")).toMatchObject([{ data: { blocker_id: y, blocker_status: status } }]);
      expect(await shown(z)).toMatchObject({ stalled: true });
      await fresh.ask(call as "reopen_task", { task_id: y, reason: "again" }, fresh.root);
      expect(await shown(z)).toMatchObject({ stalled: false, ready: false });
      await finish(y);
      expect(await shown(z)).toMatchObject({ ready: true });
    },
  );

  test("is not deleted unless forced; forced, it frees what waits for it, and the log says why", async () => {
    const y = await task("Y");
    const z = await task("Z", y);
    const refused = await fresh.refusal("delete_task", { task_id: y }, fresh.root);
    expect(refused).toMatchObject({ code: "has_dependents", dependents: [{ id: z, content: "Z", status: "open" }] });
    await fresh.ask("delete_task", { task_id: y, force: true, reason: "gone" }, fresh.root);
    expect(await shown(z)).toEqual({ status: "open", ready: true, stalled: false, depends_on: [], blocked_by: [] });
    expect(await events(z, "task.ready")).toEqual([{ data: { blocker_id: y, deleted: true }, by: "admin" }]);
    expect((await fresh.next(ben))?.id).toBe(z);
  });

  test("is let go by removing the edge: ready at once, with one event", async () => {
    const y = await task("Y");
    const z = await task("Z", y);
    await fresh.ask("cancel_task", { task_id: y }, fresh.root);
    expect(await remove(z, y)).toMatchObject({ ready: true, stalled: false, depends_on: [] });
    expect(await events(z, "task.ready")).toHaveLength(1);
    // Once more changes nothing.
    expect(await remove(z, y)).toMatchObject({ ready: true, version: 2 });
  });

  test("may be named by a new task, which is stalled from the start", async () => {
    const y = await task("Y");
    await fresh.ask("cancel_task", { task_id: y }, fresh.root);
    const z = await task("Z", y);
    expect(await shown(z)).toMatchObject({ stalled: true });
    expect(await events(z, "task.stalled")).toHaveLength(1);
  });
});

describe("what can't be waited for (R23, C41)", () => {
  test("is the task itself, and a cycle of two, which is spelled out", async () => {
    const a = await task("A");
    expect(await fresh.refusal("add_dependencies", { task_id: a, depends_on: [a] }, fresh.root)).toMatchObject({
      code: "dependency_cycle",
      cycle: [{ id: a }, { id: a }],
      cycle_length: 1,
    });
    const b = await task("B", a);
    const refused = await fresh.refusal("add_dependencies", { task_id: a, depends_on: [b] }, fresh.root);
    expect(refused).toMatchObject({ code: "dependency_cycle", cycle: [{ id: a }, { id: b }, { id: a }] });
    expect(refused.message).toBe(
      `The tasks would wait for each other: "A" (${a}) waits for "B" (${b}) waits for "A" (${a}).`,
    );
    expect(await shown(a)).toMatchObject({ ready: true, depends_on: [] });
  });

  test("is an unknown task, and another workspace's exactly like it (R47); the rest of the call does nothing", async () => {
    const elsewhere = await fresh.store.createWorkspace("elsewhere");
    const theirs = await fresh.ask("create_task", { content: "theirs" }, byKey(elsewhere.key));
    const [a, z] = [await task("A"), await task("Z")];
    for (const id of [UNKNOWN, theirs.id]) {
      const refused = await fresh.refusal("add_dependencies", { task_id: z, depends_on: [a, id] }, fresh.root);
      expect(refused).toMatchObject({ code: "unknown_dependency", id });
      expect(refused.message.replace(id, UNKNOWN)).toBe(
        `depends_on: there is no task ${UNKNOWN}; see GET /v1/tasks (dibs task list).`,
      );
    }
    expect(await shown(z)).toMatchObject({ depends_on: [] });
  });

  test("the same edge twice is one, and changes nothing", async () => {
    const a = await task("A");
    const z = await task("Z", a);
    expect(await add(z, a, a)).toMatchObject({ depends_on: [a], version: 1 });
    expect(await fresh.history(z)).toEqual(["task.created"]);
  });

  test("a list as a whole replaces what was there, counts right, and null clears it", async () => {
    const [a, b, c] = [await task("A"), await task("B"), await task("C")];
    const z = await task("Z", a, b);
    await finish(b);
    const set = (depends_on: string[] | null) => fresh.ask("update_task", { task_id: z, depends_on }, fresh.root);
    expect(await set([b, c])).toMatchObject({ depends_on: [b, c], blocked_by: [c], ready: false, depends_on_count: 2 });
    expect(await set([b])).toMatchObject({ depends_on: [b], blocked_by: [], ready: true });
    expect(await set([a])).toMatchObject({ depends_on: [a], blocked_by_count: 1, ready: false });
    expect(await set(null)).toMatchObject({ depends_on: [], depends_on_count: 0, ready: true });
    expect(await fresh.kept.broken()).toEqual([]);
  });
});

describe("who may change what waits for what (R19, R46)", () => {
  test("its holder, also while it works; nobody else then", async () => {
    const [a, z] = [await task("A"), await task("Z")];
    await fresh.claim(z, ben);
    expect(await fresh.refusal("add_dependencies", { task_id: z, depends_on: [a] }, ann)).toMatchObject({
      code: "task_claimed",
    });
    await fresh.ask("add_dependencies", { task_id: z, depends_on: [a] }, ben);
    expect(await shown(z)).toMatchObject({ status: "claimed", blocked_by: [a], stalled: false });
    await fresh.ask("release_task", { task_id: z }, ben);
    expect(await shown(z)).toMatchObject({ status: "open", ready: false });
    await finish(a);
    expect(await shown(z)).toMatchObject({ ready: true });
  });
});
