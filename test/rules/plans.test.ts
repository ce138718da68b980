import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, type Body, byKey, FreshStore, type Input } from "../support/fresh-store.js";

/** Plans (R27): steps written down as one, created as tasks that wait for each other. */

type Step = Input<"create_plan">["steps"][number];

let fresh: FreshStore;
let ann: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
});

/** `"a b<-a c<-a,b"`: steps by their keys, each behind an arrow those it waits for. */
function steps(text: string): Step[] {
  return text.split(" ").map((word) => {
    const [key = "", waits] = word.split("<-");
    return { key, content: `step ${key}`, ...(waits && { depends_on: waits.split(",") }) };
  });
}
const create = (slug: string, text: string, more: Partial<Input<"create_plan">> = {}, as = ann) =>
  fresh.ask("create_plan", { slug, steps: steps(text), ...more }, as);
const add = (slug: string, all: Step[], as = ann) => fresh.ask("add_plan_steps", { slug, steps: all }, as);
const shown = (slug: string) => fresh.ask("get_plan", { slug }, fresh.root);
const idsOf = ({ steps: all }: Body<"get_plan">) => Object.fromEntries(all.map((each) => [each.key, each.task_id]));
const keysOf = ({ steps: all }: Body<"get_plan">, ids: readonly string[]) =>
  ids.map((id) => all.find((each) => each.task_id === id)?.key);
const finish = async (id: string, as = ann) => {
  const grant = await fresh.claim(id, as);
  return fresh.ask("complete_task", { task_id: id, lease_id: grant?.lease_id as string }, as);
};
const tasks = () => fresh.ask("list_tasks", {}, fresh.root);
const planEvents = async () =>
  (await fresh.ask("list_events", { types: ["plan.created", "plan.extended"] }, fresh.root)).map(
    ({ type, data, project_id, actor }) => ({ type, data, inProject: project_id !== null, by: actor?.agent_name }),
  );

describe("a plan that is created (R27)", () => {
  test("is its steps as tasks, which wait for each other, and one event beside the tasks' own", async () => {
    const plan = await create("release", "build test<-build docs ship<-test,docs", { title: "Release 1.0" });
    expect(plan).toMatchObject({
      slug: "release",
      title: "Release 1.0",
      steps_created: 4,
      created_by_agent_id: ann.id,
      progress: { total: 4, completed: 0, claimable: 2, in_flight: 0, blocked: 2, stalled: 0, scheduled: 0 },
      widest_front: 2,
    });
    const ids = idsOf(plan);
    expect(keysOf(plan, plan.critical_path)).toEqual(["build", "test", "ship"]);
    expect(await fresh.read(ids.ship ?? "")).toMatchObject({
      plan: "release",
      ready: false,
      depends_on: [ids.test, ids.docs],
      created_by_agent_id: ann.id,
    });
    expect(plan.steps.map(({ key, waits_for }) => [key, keysOf(plan, waits_for)])).toEqual([
      ["build", []],
      ["test", ["build"]],
      ["docs", []],
      ["ship", ["test", "docs"]],
    ]);
    expect(await planEvents()).toEqual([
      { type: "plan.created", data: { plan: "release", plan_id: plan.id, steps: 4 }, inProject: true, by: "ann" },
    ]);
    expect(await fresh.history(ids.ship ?? "")).toEqual(["task.created"]);
    expect(await fresh.kept.broken()).toEqual([]);
  });

  test("again changes nothing, in whatever order its keys, labels and dependencies are written", async () => {
    const at = new Date(Date.parse(fresh.time.iso()) + 60_000).toISOString();
    const first: Step = {
      key: "a",
      content: "A",
      labels: ["x", "y"],
      not_before: at,
      context: { one: 1, deep: { b: [1, { d: 1, c: 2 }], a: null } },
    };
    const waits: Step = { key: "z", content: "Z", depends_on: ["a", "b"] };
    const plan = await fresh.ask("create_plan", { slug: "p", steps: [first, waits, ...steps("b")] }, ann);
    const same: Step = {
      context: { deep: { a: null, b: [1, { c: 2, d: 1 }] }, one: 1 },
      not_before: at.replace("Z", "+00:00"),
      labels: ["y", "x", "y"],
      content: "A",
      key: "a",
      priority: null as never,
    };
    await finish(idsOf(plan).b ?? "");
    const again = await fresh.ask(
      "create_plan",
      { slug: "p", steps: [{ ...waits, depends_on: ["b", "a", "b"] }, same, ...steps("b")] },
      fresh.root,
    );
    expect(again).toMatchObject({ id: plan.id, steps_created: 0, progress: { completed: 1 } });
    expect(await tasks()).toHaveLength(3);
    expect(await planEvents()).toHaveLength(1);
  });

  test("that says something else under the same name is refused with the differences, and changes nothing", async () => {
    await create("p", "a b<-a c");
    const other = [...steps("a"), { key: "b", content: "step b", priority: 4, depends_on: [] }, ...steps("d")];
    const refused = await fresh.refusal("create_plan", { slug: "p", title: "T", steps: other }, ann);
    expect(refused).toMatchObject({
      code: "already_exists",
      differences: [
        "its title is null",
        "step b has another depends_on, priority",
        "step d is not in it",
        "its step c is missing here",
      ],
    });
    for (const each of refused.differences as string[]) expect(refused.message).toContain(each);
    expect(await tasks()).toHaveLength(3);
    // The same name in another project is another plan.
    await fresh.ask("create_project", { key: "web" }, fresh.root);
    expect(await create("p", "a", { project_id: "web" })).toMatchObject({ steps_created: 1 });
  });

  test.each([
    ["a step that waits for nobody's key", "a b<-a,x", { code: "unknown_dependency", id: "x" }, "steps.1.depends_on.1"],
    [
      "a step that waits for no task",
      "a b<-0123456789abcdef0123456789abcdef",
      { code: "unknown_dependency", id: "0123456789abcdef0123456789abcdef" },
      "steps.1.depends_on.0",
    ],
    ["a step that waits for itself", "a b<-b", { code: "dependency_cycle", cycle_length: 1 }, "steps.1.depends_on.0"],
    [
      "a cycle, by keys and titles",
      "a<-c b<-a c<-b d",
      {
        code: "dependency_cycle",
        cycle_length: 3,
        cycle: [{ id: "a", content: "step a" }, { id: "c" }, { id: "b" }, { id: "a" }],
      },
      '"step a" (a) waits for "step c" (c) waits for "step b" (b) waits for "step a" (a)',
    ],
    ["a key twice", "a b a", { code: "invalid_input", fields: [{ field: "steps.2.key" }] }, "steps.2.key"],
  ])("with %s creates nothing, and says where it is wrong", async (_what, text, refusal, says) => {
    const refused = await fresh.refusal("create_plan", { slug: "p", steps: steps(text) }, ann);
    expect(refused).toMatchObject(refusal);
    expect(refused.message).toContain(says);
    expect(await tasks()).toEqual([]);
    expect(await fresh.ask("list_plans", {}, ann)).toEqual([]);
    // Nothing is in the way of the plan mended.
    expect(await create("p", "a b<-a")).toMatchObject({ steps_created: 2 });
  });

  test("waits for tasks outside, of its workspace alone (R47), and is stalled by what never completes", async () => {
    const elsewhere = await fresh.store.createWorkspace("elsewhere");
    const theirs = await fresh.ask("create_task", { content: "theirs" }, byKey(elsewhere.key));
    expect(
      await fresh.refusal("create_plan", { slug: "p", steps: steps(`a<-${theirs.id}`) }, fresh.root),
    ).toMatchObject({ code: "unknown_dependency", id: theirs.id });
    const [done, gone] = [await fresh.task({ content: "done" }), await fresh.task({ content: "gone" })];
    await finish(done.id);
    await fresh.ask("cancel_task", { task_id: gone.id }, fresh.root);
    const plan = await create("p", `a<-${done.id} b<-${gone.id} c<-b`);
    expect(plan.steps.map(({ key, ready, stalled }) => [key, ready, stalled])).toEqual([
      ["a", true, false],
      ["b", false, true],
      ["c", false, false],
    ]);
    expect(plan.progress).toMatchObject({ claimable: 1, stalled: 1, blocked: 1 });
    const graph = await fresh.ask("get_plan_graph", { slug: "p" }, ann);
    expect(graph.nodes.map(({ content, in_plan }) => [content, in_plan])).toEqual([
      ["done", false],
      ["gone", false],
      ["step a", true],
      ["step b", true],
      ["step c", true],
    ]);
  });

  test("of one that waits for a task by a key and by its id waits once", async () => {
    const plan = await create("p", "a");
    const [id] = plan.steps.map(({ task_id }) => task_id);
    await add("p", steps(`b<-a,${id}`));
    const [waiting] = await fresh.ask("list_tasks", { blocked: true }, ann);
    expect(waiting).toMatchObject({ depends_on: [id], depends_on_count: 1 });
    await finish(id ?? "");
    expect(await fresh.kept.broken()).toEqual([]);
    expect(await fresh.next(ann, { plan: "p" })).toMatchObject({ content: "step b" });
  });
});

describe("steps that are added (R27)", () => {
  test("wait for those that are there, whose blockers they move; those that are there already stay", async () => {
    const before = idsOf(await create("p", "a b<-a"));
    await finish(before.a ?? "");
    const after = await add("p", steps("a b<-a c<-a d<-b,c"));
    expect(after).toMatchObject({ steps_created: 2, progress: { total: 4, completed: 1, claimable: 2, blocked: 1 } });
    expect(idsOf(after)).toMatchObject(before);
    expect(keysOf(after, after.critical_path)).toEqual(["b", "d"]);
    expect((await planEvents()).map(({ type, data }) => [type, data])).toEqual([
      ["plan.created", expect.anything()],
      ["plan.extended", { plan: "p", plan_id: after.id, steps: 2 }],
    ]);
    expect(await add("p", steps("d<-b,c"))).toMatchObject({ steps_created: 0 });
    expect(await planEvents()).toHaveLength(2);
    // The plan as it is now, written as one, is the same plan.
    expect(await create("p", "a b<-a c<-a d<-b,c")).toMatchObject({ steps_created: 0 });
  });

  test("under a key that means something else are refused, the rest with them", async () => {
    await create("p", "a");
    const refused = await fresh.refusal(
      "add_plan_steps",
      { slug: "p", steps: [...steps("z"), { key: "a", content: "B" }] },
      ann,
    );
    expect(refused).toMatchObject({ code: "already_exists", differences: ["step a has another content"] });
    expect(await tasks()).toHaveLength(1);
    expect(await fresh.refusal("add_plan_steps", { slug: "nope", steps: steps("a") }, ann)).toMatchObject({
      code: "not_found",
    });
  });

  test("can't wait for a step whose task was deleted, which is out of the plan and known as a step of it", async () => {
    const { a } = idsOf(await create("p", "a b"));
    await fresh.ask("delete_task", { task_id: a ?? "" }, ann);
    expect((await shown("p")).steps.map(({ key }) => key)).toEqual(["b"]);
    expect(await fresh.refusal("add_plan_steps", { slug: "p", steps: steps("c<-a") }, ann)).toMatchObject({
      code: "unknown_dependency",
      id: "a",
      message: expect.stringContaining("whose task was deleted"),
    });
    expect(await create("p", "a b")).toMatchObject({ steps_created: 0, progress: { total: 1 } });
  });
});

describe("a plan under way (R27)", () => {
  test("counts what its steps are at this instant, and what bounds the rest", async () => {
    const at = new Date(Date.parse(fresh.time.iso()) + 60_000).toISOString();
    const later: Step = { key: "later", content: "later", not_before: at };
    const plan = await fresh.ask("create_plan", { slug: "p", steps: [...steps("a b<-a c d e<-d"), later] }, ann);
    const ids = idsOf(plan);
    await finish(ids.a ?? "");
    await fresh.claim(ids.c ?? "", ann, { lease_seconds: 30 });
    await fresh.ask("cancel_task", { task_id: ids.d ?? "" }, fresh.root);
    const now = await shown("p");
    const counts = { claimable: 1, in_flight: 1, blocked: 0, stalled: 1, scheduled: 1, frozen: 0 };
    expect(now.progress).toEqual({ total: 6, completed: 1, ...counts, failed: 0, cancelled: 1 });
    expect(now.steps.find(({ key }) => key === "c")).toMatchObject({ status: "claimed", claimed_by_agent_id: ann.id });
    expect(keysOf(now, now.critical_path)).toEqual(["b"]);
    expect(now.widest_front).toBe(4);
    // By the clock alone: the lease is over, and the time has come.
    fresh.time.pass(60_000);
    expect((await shown("p")).progress).toMatchObject({ claimable: 3, in_flight: 0, scheduled: 0 });
    expect((await fresh.ask("list_plans", {}, ann)).map(({ slug, progress }) => [slug, progress.claimable])).toEqual([
      ["p", 3],
    ]);
  });

  test("gives its own tasks to who claims from it, lists them, and takes tasks made one by one", async () => {
    await fresh.task({ content: "other", priority: 4 });
    await create("p", "a b<-a");
    const { id } = await fresh.task({ content: "more", plan: "p", priority: 3 });
    expect((await shown("p")).steps.map(({ key }) => key)).toEqual(["a", "b", null]);
    expect(await fresh.next(ann, { plan: "p" })).toMatchObject({ id });
    expect(await fresh.next(ann, { plan: "p" })).toMatchObject({ content: "step a" });
    expect(await fresh.next(ann, { plan: "p" })).toBeNull();
    const listed = await fresh.ask("list_tasks", { plan: "p" }, ann);
    expect(listed.map(({ content }) => content)).toEqual(["step a", "step b", "more"]);
    const lost = { content: "x", plan: "nope" };
    expect(await fresh.refusal("create_task", lost, ann)).toMatchObject({ code: "not_found" });
    expect(await fresh.refusal("claim_next_task", { plan: "nope" }, ann)).toMatchObject({ code: "not_found" });
    // An empty list would say that such a plan has no tasks (R58).
    const misspelt = { plan: "nope", project_id: "default" };
    expect(await fresh.refusal("list_tasks", misspelt, ann)).toMatchObject({ code: "not_found" });
  });

  test("keeps its tasks in its project: moving one is refused, naming it where it is changes nothing", async () => {
    const { a } = idsOf(await create("p", "a"));
    await fresh.ask("create_project", { key: "web" }, fresh.root);
    const move = { task_id: a ?? "", project_id: "web" };
    expect(await fresh.refusal("update_task", move, fresh.root)).toMatchObject({
      code: "invalid_input",
      fields: [{ field: "project_id" }],
    });
    expect(await fresh.ask("update_task", { ...move, project_id: "default" }, fresh.root)).toMatchObject({ plan: "p" });
  });

  test("is another workspace's like one that is not there (R47)", async () => {
    await create("p", "a");
    const { key } = await fresh.store.createWorkspace("elsewhere");
    const theirs = byKey(key);
    expect(await fresh.ask("list_plans", {}, theirs)).toEqual([]);
    for (const call of ["get_plan", "get_plan_graph"] as const)
      expect(await fresh.refusal(call, { slug: "p" }, theirs)).toMatchObject({ code: "not_found" });
    expect(await fresh.refusal("claim_next_task", { plan: "p" }, theirs)).toMatchObject({ code: "not_found" });
  });
});
