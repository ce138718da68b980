import { beforeEach, describe, expect, test } from "vitest";
import { ON_SQLITE } from "../support/any-store.js";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
let cleo: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
  cleo = await fresh.worker("cleo", "coordinator");
});

const place = (input: Partial<Input<"place_hold">>) =>
  fresh.ask("place_hold", { reason: "release", ttl_seconds: 60, ...input }, cleo);
const lift = (id: string) => fresh.ask("lift_hold", { hold_id: id }, cleo);
const next = (as: Actor, more: object = {}) => fresh.ask("claim_next_task", more, as);

describe("a task that is frozen", () => {
  test("by what it declares or by its project: its holder goes on, nobody else gets it", async () => {
    const held = await fresh.task({ content: "held", scopes: ["path:src/a"] });
    await fresh.claim(held.id, ann);
    const { id } = await fresh.task({ content: "frozen", scopes: ["path:src/b"] });
    const hold = await place({ scope: "path:src" });
    await fresh.ask("heartbeat_task", { task_id: held.id }, ann);
    expect(await fresh.claim(held.id, ann)).toMatchObject({ status: "claimed" });
    const more = { task_id: held.id, scopes: ["path:src/a", "path:src/c"] };
    expect((await fresh.refusal("update_task", more, ann)).code).toBe("frozen");
    await fresh.ask("update_task", { task_id: held.id, scopes: ["path:src/a", "path:docs"] }, ann);
    const taking = { task_id: held.id, takeover: true, reason: "mine" };
    expect((await fresh.refusal("claim_task", taking, await fresh.session(ann))).code).toBe("frozen");
    await fresh.ask("complete_task", { task_id: held.id }, ann);
    const skipped = { id, content: "frozen", code: "frozen", holder: null, hold: { id: hold.id } };
    expect(await next(ben)).toMatchObject({ task: null, skipped: [skipped], skipped_count: 1 });
    expect(await fresh.refusal("claim_task", { task_id: id }, ben)).toMatchObject({ code: "frozen" });
    await lift(hold.id);
    expect(await next(ben)).toMatchObject({ task: { id }, skipped: [] });
  });

  test("comes back at the instant the hold ends, noticed or not, in its place", async () => {
    const first = await fresh.task({ content: "first", priority: 4, scopes: ["path:src/a"] });
    await place({ scope: "path:src", ttl_seconds: 60 });
    expect((await next(ann)).task).toBeNull();
    await fresh.task({ content: "second" });
    fresh.time.pass(60_000);
    expect((await next(ann)).task?.id).toBe(first.id);
  });

  test("is still the turn of agents that the hold lets pass, in hand-out order", async () => {
    const low = await fresh.task({ content: "low", scopes: ["path:src/l"], priority: 1 });
    const high = await fresh.task({ content: "high", scopes: ["path:src/h"], priority: 4, labels: ["x"] });
    const free = await fresh.task({ content: "free" });
    await place({ scope: "path:src", allow_agent_ids: [ann.id] });
    expect((await next(ben)).task?.id).toBe(free.id);
    expect((await next(ben)).task).toBeNull();
    expect(await fresh.read(high.id, ann)).toMatchObject({ ready: true, frozen: false });
    expect(await fresh.read(high.id, ben)).toMatchObject({ ready: false, frozen: true });
    expect((await next(ann, { labels: ["y"] })).task).toBeNull();
    expect((await next(ann, { labels: ["x"] })).task?.id).toBe(high.id);
    expect((await next(ben)).task).toBeNull();
    const { tasks } = await next(ann, { count: 5 });
    expect(tasks?.map(({ id }) => id)).toEqual([low.id]);
  });

  test("of a frozen project is passed over by claims of all projects", async () => {
    await fresh.ask("create_project", { key: "web" }, cleo);
    const frozen = await fresh.task({ content: "web", project_id: "web", priority: 4, labels: ["x"] });
    const free = await fresh.task({ content: "free", labels: ["x"] });
    await place({ project: true, project_id: "web" });
    expect(await next(ann, { labels: ["x"] })).toMatchObject({
      task: { id: free.id },
      skipped: [{ id: frozen.id, code: "frozen", hold: { scope: null } }],
    });
    expect((await next(ann, { project_id: "web" })).task).toBeNull();
    expect((await fresh.refusal("claim_task", { task_id: frozen.id }, ann)).code).toBe("frozen");
  });

  test("is counted as frozen in its plan, and drawn so", async () => {
    const steps = [
      { key: "a", content: "a", scopes: ["path:src"] },
      { key: "b", content: "b" },
    ];
    await fresh.ask("create_plan", { slug: "p", steps }, cleo);
    await place({ scope: "path:src/x" });
    const plan = await fresh.ask("get_plan", { slug: "p" }, ann);
    expect(plan.progress).toMatchObject({ total: 2, claimable: 1, frozen: 1, scheduled: 0 });
    expect(plan.steps.map(({ ready, frozen }) => [ready, frozen])).toEqual([
      [false, true],
      [true, false],
    ]);
    expect((await fresh.ask("get_plan_graph", { slug: "p", format: "dot" }, ann)).text).toMatch(/a · frozen/);
  });

  test("behind two holds waits for both", async () => {
    const { id } = await fresh.task({ scopes: ["path:src", "port:1"] });
    const [one, two] = [await place({ scope: "path:src" }), await place({ scope: "port:1", ttl_seconds: 600 })];
    expect((await next(ann)).task).toBeNull();
    await lift(two.id);
    expect(await next(ann)).toMatchObject({ task: null, skipped: [{ id, hold: { id: one.id } }] });
    fresh.time.pass(60_000);
    expect((await next(ann)).task?.id).toBe(id);
  });

  test("wakes who waits for it within a second of the hold's end, by the clock or by call (R21)", async () => {
    const real = await FreshStore.open({ realTime: true });
    const [one, two] = [await real.worker("one"), await real.worker("two")];
    const frozen = { reason: "x", scope: "path:src" };
    await real.ask("place_hold", { ...frozen, ttl_seconds: 1 }, real.root);
    const { id } = await real.task({ scopes: ["path:src/a"] });
    expect((await real.ask("claim_next_task", { wait_seconds: 30 }, one)).task?.id).toBe(id);
    const hold = await real.ask("place_hold", { ...frozen, ttl_seconds: 600 }, real.root);
    const other = await real.task({ scopes: ["path:src/b"] });
    const waiting = real.ask("claim_next_task", { wait_seconds: 30 }, two);
    expect((await real.refusal("claim_task", { task_id: other.id }, one)).code).toBe("frozen");
    await real.ask("lift_hold", { hold_id: hold.id }, real.root);
    expect((await waiting).task?.id).toBe(other.id);
  });

  test.each([
    ["a scope", { scope: "path:src" }],
    ["a project", { project: true, project_id: "web" }],
  ])(
    "stands in nobody's way: thousands of them, by %s, in front of the one that is free",
    {
      timeout: 120_000,
    },
    async (_what, on) => {
      await fresh.ask("create_project", { key: "web" }, cleo);
      await place({ ...on, allow_agent_ids: [cleo.id] });
      for (let part = 0; part < (ON_SQLITE ? 10 : 3); part += 1) {
        const tasks = Array.from({ length: 1_000 }, (_, nth) => ({
          content: "frozen",
          priority: 4,
          ...("scope" in on ? { scopes: [`path:src/${part}/${nth}.ts`] } : { project_id: "web" }),
        }));
        await fresh.ask("create_tasks", { tasks }, fresh.root);
      }
      for (let nth = 0; nth < 20; nth += 1) await fresh.task({ content: `free ${nth}`, scopes: [`path:docs/${nth}`] });
      const took: number[] = [];
      for (let nth = 0; nth < 20; nth += 1) {
        const startedAt = performance.now();
        const got = await next(nth % 2 ? ben : ann);
        took.push(performance.now() - startedAt);
        expect(got.task?.content).toBe(`free ${nth}`);
        expect(got.skipped_count).toBe(1_000);
        // Whom the hold lets pass takes from the front meanwhile.
        if (nth % 5 === 0) expect((await next(cleo)).task?.content).toBe("frozen");
      }
      // The first looks at all of them; each of the others at one.
      expect(took.slice(1).sort((a, b) => a - b)[9]).toBeLessThan(200);
      expect(await fresh.ask("list_tasks", { ready: true }, ann)).toEqual([]);
      expect(await fresh.ask("list_tasks", { ready: false, limit: 10 }, ann)).toHaveLength(10);
    },
  );
});
