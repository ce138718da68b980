import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

/** How many steps of a plan can run at once, as their scopes allow (R27, R16). */

type Step = Input<"create_plan">["steps"][number];

let fresh: FreshStore;
let ann: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
});

const step = (key: string, scopes: Step["scopes"], more: Partial<Step> = {}): Step => ({
  key,
  content: key,
  scopes,
  ...more,
});
const create = async (steps: Step[], project_id?: string) => {
  await fresh.ask("create_plan", { slug: "p", steps, ...(project_id && { project_id }) }, ann);
  return widths(project_id);
};
const widths = async (project_id?: string) => {
  const plan = await fresh.ask("get_plan", { slug: "p", ...(project_id && { project_id }) }, ann);
  return [plan.claimable_at_once, plan.widest_front, plan.widest_front_with_scopes];
};
/** What workers get who claim one after another, each in a session of its own. */
const claimed = async (project_id?: string) => {
  const keys: string[] = [];
  for (;;) {
    const worker = await fresh.worker(`w${keys.length}`);
    const task = await fresh.next(worker, { plan: "p", ...(project_id && { project_id }) });
    if (!task) return keys;
    keys.push(task.content);
  }
};
const alone = (scope: string) => ({ scope, mode: "exclusive" as const });
const shared = (scope: string) => ({ scope, mode: "shared" as const });

describe("the steps of a plan that can run at once (R27)", () => {
  test("are counted in hand-out order, beside what would be without scopes, and are those that workers get", async () => {
    // By priority the tree comes first, and leaves only what lies outside: two, though three files would fit.
    const steps = [
      step("a", ["path:src/a.ts"]),
      step("b", ["path:src/b.ts"]),
      step("c", ["path:src/*.ts"]),
      step("tree", ["path:src"], { priority: 3 }),
      step("docs", ["path:docs"]),
    ];
    expect(await create(steps)).toEqual([2, 5, 2]);
    expect(await claimed()).toEqual(["tree", "docs"]);
  });

  test("share what all of them share, and have the places that a name has", async () => {
    await fresh.ask("set_scope_capacity", { scope: "slot:gpu", capacity: 2 }, fresh.root);
    const steps = [
      step("r1", [shared("path:src")]),
      step("r2", [shared("path:src")]),
      step("w", [alone("path:src/x")]),
      step("g1", ["slot:gpu"]),
      step("g2", ["slot:gpu"]),
      step("g3", ["slot:gpu"]),
      step("any", ["slot:g*"]),
    ];
    expect(await create(steps)).toEqual([4, 7, 4]);
    expect(await claimed()).toEqual(["r1", "r2", "g1", "g2"]);
  });

  test("know letters of either case as one in a project that does", async () => {
    const steps = [step("a", ["path:SRC/a"]), step("b", ["path:src/A"])];
    await fresh.ask("create_project", { key: "mac", case_insensitive: true }, fresh.root);
    expect(await create(steps, "mac")).toEqual([1, 2, 1]);
    expect(await create(steps)).toEqual([2, 2, 2]);
  });

  test("are counted now beside those that are held, and for the rest of the plan row by row", async () => {
    const ids = await create([
      step("a", ["path:a"]),
      step("b", ["path:a/x"]),
      step("c", ["path:c"]),
      step("d", ["path:d"], { depends_on: ["c"] }),
      step("e", ["path:e"], { depends_on: ["c"] }),
      step("f", ["path:f"], { depends_on: ["c"] }),
    ]);
    expect(ids).toEqual([2, 3, 3]);
    const [a, , c] = (await fresh.ask("get_plan", { slug: "p" }, ann)).steps;
    await fresh.claim(a?.task_id ?? "", ann);
    expect(await widths()).toEqual([1, 3, 3]);
    const lease = await fresh.claim(c?.task_id ?? "", ann);
    // `b` is claimable but for the names that `a` holds.
    expect(await widths()).toEqual([0, 3, 3]);
    await fresh.ask("complete_task", { task_id: c?.task_id ?? "", lease_id: lease?.lease_id as string }, ann);
    expect(await widths()).toEqual([3, 5, 4]);
    fresh.time.pass(400_000);
    // By the clock alone `a` is free again, and comes before `b`.
    expect(await widths()).toEqual([4, 5, 4]);
  });

  test("leave out what is frozen for who asks, and what waits for its time", async () => {
    const at = new Date(Date.parse(fresh.time.iso()) + 60_000).toISOString();
    await create([step("a", ["path:a"]), step("b", ["path:b"]), step("later", [], { not_before: at })]);
    const hold = { scope: "path:b", reason: "release", ttl_seconds: 600 };
    await fresh.ask("place_hold", hold, fresh.root);
    expect(await widths()).toEqual([1, 3, 3]);
  });
});
