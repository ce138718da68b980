import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
let lead: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
  lead = await fresh.worker("lead", "coordinator");
});

const events = async (id: string, type: string) => {
  const history = await fresh.ask("get_task_history", { task_id: id, limit: 1000 }, fresh.root);
  return history.filter((event) => event.type === type).map(({ data }) => data);
};
/** A task that ann holds, and what she has of it. */
async function held(more: object = {}) {
  const { id } = await fresh.task({ content: "release 2.0", ...more });
  const { lease_id, fence } = await fresh.claim(id, ann);
  return { id, lease_id: lease_id as string, fence };
}
const delegate = (id: string, content: string, as: Actor, more: object = {}) =>
  fresh.ask("delegate_task", { task_id: id, content, ...more }, as);
async function finish(id: string, as: Actor) {
  await fresh.claim(id, as);
  await fresh.ask("complete_task", { task_id: id }, as);
}
const chain = async (id: string) => (await fresh.ask("get_task_chain", { task_id: id }, ann)).chain;

const saying = (text: RegExp) => expect.stringMatching(text);

describe("delegating a part of what one holds (R25)", () => {
  test("ends the lease, and the task waits for its part and then goes on with who delegated it", async () => {
    const { id, lease_id, fence } = await held({ labels: ["release"] });
    const part = await delegate(id, "write the notes", ann, { lease_id, fence, assigned_to_agent_id: ben.id });
    expect(part).toMatchObject({
      status: "open",
      ready: true,
      parent_task_id: id,
      accountable_agent_id: ann.id,
      assigned_to_agent_id: ben.id,
      created_by_agent_id: ann.id,
    });
    expect(await fresh.read(id)).toMatchObject({
      status: "delegated",
      ready: false,
      stalled: false,
      lease_id: null,
      claimed_by_agent_id: null,
      accountable_agent_id: ann.id,
      assigned_to_agent_id: ann.id,
      depends_on: [part.id],
      blocked_by: [part.id],
      attempts: 0,
    });
    expect(await events(id, "task.delegated")).toMatchObject([
      { lease_id, fence, child_id: part.id, accountable_agent_id: ann.id },
    ]);
    expect(await fresh.next(ann)).toBeNull();
    await finish(part.id, ben);
    expect(await fresh.read(id)).toMatchObject({ status: "open", ready: true });
    expect(await events(id, "task.ready")).toEqual([{ blocker_id: part.id }]);
    expect(await fresh.next(ben)).toBeNull();
    expect(await fresh.next(ann)).toMatchObject({ id, fence: fence + 1, attempts: 1 });
  });

  test("leaves its note for whoever goes on", async () => {
    const { id } = await held();
    const part = await delegate(id, "write the notes", ann, { handoff: "merge when they are there" });
    await finish(part.id, ben);
    expect(await fresh.claim(id, ann)).toMatchObject({ handoff_note: "merge when they are there" });
  });

  test("takes the former holder's rights: what it writes late is refused as handed over, and kept as a comment", async () => {
    const { id, lease_id, fence } = await held();
    await delegate(id, "write the notes", ann, { lease_id, fence });
    const late = { task_id: id, lease_id, fence };
    // What waits for its parts can't be claimed again.
    for (const refused of [
      await fresh.refusal("heartbeat_task", late, ann),
      await fresh.refusal("complete_task", { ...late, result: { done: true } }, ann),
      await fresh.refusal("delegate_task", { ...late, content: "more" }, ann),
    ])
      expect(refused).toMatchObject({
        code: "lease_lost",
        reason: "transferred",
        next: [/Stop/, /claim_next_task/].map(saying),
      });
    expect(await fresh.ask("list_comments", { task_id: id }, ann)).toMatchObject([{ kind: "late_result" }]);
    expect(await fresh.read(id)).toMatchObject({ status: "delegated", depends_on_count: 1 });
  });

  test("to several: its agent adds parts, and it waits for all of them", async () => {
    const { id } = await held();
    const notes = await delegate(id, "write the notes", ann);
    const build = await delegate(id, "build it", ann, { depends_on: [notes.id] });
    expect((await fresh.refusal("claim_task", { task_id: build.id }, ben)).code).toBe("task_blocked");
    await finish(notes.id, ben);
    expect(await fresh.read(id)).toMatchObject({ status: "delegated", blocked_by: [build.id] });
    await finish(build.id, ben);
    expect(await fresh.read(id)).toMatchObject({ status: "open", ready: true });
    await finish(id, ann);
  });

  test("is stalled when a part fails, with the call that lets it go on, and waits again when the part does", async () => {
    const { id } = await held();
    const part = await delegate(id, "write the notes", ann);
    await fresh.claim(part.id, ben);
    await fresh.ask("fail_task", { task_id: part.id, reason: "no access" }, ben);
    expect(await fresh.read(id)).toMatchObject({ status: "delegated", stalled: true });
    expect(await events(id, "task.stalled")).toMatchObject([{ blocker_id: part.id, blocker_status: "failed" }]);
    expect((await fresh.ask("list_tasks", { stalled: true }, ann)).map((task) => task.id)).toEqual([id]);
    const refused = await fresh.refusal("claim_task", { task_id: id }, ann);
    expect(refused).toMatchObject({
      code: "task_delegated",
      children: [{ id: part.id, content: "write the notes", status: "failed" }],
      children_count: 1,
    });
    expect((refused.next as string[])[0]).toContain(`retry the failed ${part.id}`);
    await fresh.ask("retry_task", { task_id: part.id, reason: "has access now" }, lead);
    expect(await fresh.read(id)).toMatchObject({ status: "delegated", stalled: false });
    await finish(part.id, ben);
    expect(await fresh.read(id)).toMatchObject({ status: "open", ready: true });
  });

  test("goes further down: each agent answers for what it gave away, and all shows in one tree", async () => {
    const { id } = await held();
    const part = await delegate(id, "write the notes", ann, { assigned_to_agent_id: ben.id });
    await fresh.claim(part.id, ben);
    const deeper = await delegate(part.id, "collect the changes", ben, { assigned_to_agent_id: lead.id });
    await fresh.task({ content: "remember the date", parent_task_id: part.id }, ann);
    const expected = [
      { id, depth: 0, status: "delegated", delegated: false, accountable_agent_id: ann.id, parent_task_id: null },
      { id: part.id, depth: 1, status: "delegated", delegated: true, accountable_agent_id: ben.id, parent_task_id: id },
      { id: deeper.id, depth: 2, status: "open", delegated: true, accountable_agent_id: ben.id },
      { content: "remember the date", depth: 2, status: "open", delegated: false, accountable_agent_id: null },
    ];
    for (const from of [id, part.id, deeper.id]) expect(await chain(from)).toMatchObject(expected);
    await finish(deeper.id, lead);
    expect((await fresh.next(ben))?.id).not.toBe(id);
    await fresh.ask("complete_task", { task_id: part.id }, ben);
    expect(await fresh.read(id)).toMatchObject({ status: "open", ready: true });
    const whole = await fresh.ask("get_task_chain", { task_id: id }, ann);
    expect(whole).toMatchObject({ root_id: id, depth: 2, total_count: 4, completed_count: 2, truncated: false });
  });

  test("keeps the part in its task's project and plan, so that whoever drains the plan finds it", async () => {
    await fresh.ask("create_project", { key: "web" }, fresh.root);
    const plan = { slug: "p", project_id: "web", steps: [{ key: "a", content: "a step" }] };
    const made = await fresh.ask("create_plan", plan, fresh.root);
    const step = made.steps[0]?.task_id as string;
    await fresh.claim(step, ann);
    const part = await delegate(step, "a part", ann);
    expect(part).toMatchObject({ plan: "p", project_id: (await fresh.read(step)).project_id });
    const progress = async () => (await fresh.ask("get_plan", { slug: "p", project_id: "web" }, ann)).progress;
    expect(await progress()).toMatchObject({ total: 2, in_flight: 1, claimable: 1 });
    expect((await fresh.next(ben, { plan: "p", project_id: "web" }))?.id).toBe(part.id);
    expect(await progress()).toMatchObject({ in_flight: 2, claimable: 0 });
    // The same plan again is still the same.
    expect(await fresh.ask("create_plan", plan, fresh.root)).toMatchObject({ id: made.id, steps_created: 0 });
  });
});

describe("who may delegate (R19, R46)", () => {
  test("nobody what another holds; a worker nothing that nobody holds; a coordinator any open task", async () => {
    const { id } = await held();
    expect(await fresh.refusal("delegate_task", { task_id: id, content: "x" }, ben)).toMatchObject({
      code: "task_claimed",
      holder: { agent_id: ann.id },
    });
    expect((await fresh.refusal("delegate_task", { task_id: id, content: "x" }, lead)).code).toBe("task_claimed");
    const free = await fresh.task({ content: "free" });
    const refused = await fresh.refusal("delegate_task", { task_id: free.id, content: "x" }, ben);
    expect(refused.code).toBe("forbidden");
    expect(refused.message).toContain("claim it first");
    const part = await delegate(free.id, "x", lead);
    expect(await fresh.read(free.id)).toMatchObject({ status: "delegated", accountable_agent_id: lead.id });
    // It is accountable for it, and so may give away more; another worker may not.
    expect((await fresh.refusal("delegate_task", { task_id: free.id, content: "y" }, ann)).code).toBe("forbidden");
    await finish(part.id, ben);
    expect((await fresh.refusal("claim_task", { task_id: free.id }, ben)).code).toBe("task_assigned");
  });

  test("of what was assigned, the assignee stays the one who goes on", async () => {
    const { id } = await fresh.task({ content: "ben's", assigned_to_agent_id: ben.id });
    await delegate(id, "x", lead);
    expect(await fresh.read(id)).toMatchObject({ accountable_agent_id: ben.id, assigned_to_agent_id: ben.id });
  });

  test("what is closed, or is to be cancelled, is not delegated", async () => {
    const { id } = await held();
    await fresh.ask("cancel_task", { task_id: id }, fresh.root);
    expect((await fresh.refusal("delegate_task", { task_id: id, content: "x" }, ann)).message).toContain("cancelled");
    await fresh.ask("release_task", { task_id: id }, ann);
    expect(await fresh.refusal("delegate_task", { task_id: id, content: "x" }, lead)).toMatchObject({
      code: "task_closed",
      status: "cancelled",
    });
  });

  test("a part that waits for the task itself, over any number of others, closes a cycle and is refused whole", async () => {
    const { id } = await held();
    const after = await fresh.task({ content: "afterwards", depends_on: [id] });
    for (const depends_on of [[id], [after.id]])
      expect((await fresh.refusal("delegate_task", { task_id: id, content: "x", depends_on }, ann)).code).toBe(
        "dependency_cycle",
      );
    expect(await fresh.read(id)).toMatchObject({ status: "claimed", depends_on: [] });
    expect(await fresh.ask("list_tasks", {}, ann)).toHaveLength(2);
  });
});

describe("a delegated task (R17, R24)", () => {
  test("can be cancelled as any that nobody holds; its parts go on", async () => {
    const { id } = await held();
    const part = await delegate(id, "x", ann);
    await fresh.ask("cancel_task", { task_id: id }, ann);
    expect(await fresh.read(id)).toMatchObject({ status: "cancelled" });
    await finish(part.id, ben);
    expect(await fresh.read(id)).toMatchObject({ status: "cancelled" });
    // Opened again it waits for nothing any more.
    await fresh.ask("reopen_task", { task_id: id }, lead);
    expect(await fresh.read(id)).toMatchObject({ status: "open", ready: true, assigned_to_agent_id: ann.id });
  });

  test("whose part is opened again waits once more, also when it was claimed and lapsed since", async () => {
    const { id } = await held();
    const part = await delegate(id, "x", ann);
    await finish(part.id, ben);
    await fresh.claim(id, ann, { lease_seconds: 30 });
    await fresh.ask("reopen_task", { task_id: part.id }, lead);
    expect(await fresh.read(id)).toMatchObject({ status: "claimed", blocked_by: [part.id] });
    fresh.time.pass(30_000);
    expect(await fresh.read(id)).toMatchObject({ status: "delegated", lapsed: true });
    await fresh.sweep();
    expect(await fresh.read(id)).toMatchObject({ status: "delegated", lapsed: true });
    expect((await fresh.ask("list_tasks", { status: "delegated" }, ann)).map((task) => task.id)).toEqual([id]);
    expect((await fresh.ask("list_tasks", { blocked: true }, ann)).map((task) => task.id)).toEqual([]);
    await finish(part.id, ben);
    expect((await fresh.next(ann))?.id).toBe(id);
  });

  test("whose agent is deleted goes to anybody when its parts are done (R48)", async () => {
    const { id } = await held();
    const part = await delegate(id, "x", ann);
    await fresh.ask("delete_agent", { agent_id: ann.id }, fresh.root);
    await finish(part.id, ben);
    expect((await fresh.next(ben))?.id).toBe(id);
  });
});

describe("subtasks (R25)", () => {
  test("group under a task, in its project, and wait for nothing; nor does the task", async () => {
    await fresh.ask("create_project", { key: "web" }, fresh.root);
    const parent = await fresh.task({ content: "parent", project_id: "web" });
    const part = await fresh.task({ content: "part", parent_task_id: parent.id });
    expect(part).toMatchObject({ parent_task_id: parent.id, project_id: parent.project_id, ready: true });
    expect(await fresh.read(parent.id)).toMatchObject({ status: "open", ready: true, depends_on: [] });
    expect(await chain(part.id)).toMatchObject([{ id: parent.id }, { id: part.id, depth: 1, delegated: false }]);
  });

  test("lose their parent when it is deleted, and stay", async () => {
    const parent = await fresh.task({ content: "parent" });
    const part = await fresh.task({ content: "part", parent_task_id: parent.id });
    await fresh.ask("delete_task", { task_id: parent.id }, fresh.root);
    expect(await fresh.read(part.id)).toMatchObject({ parent_task_id: null, ready: true });
  });

  test("of a task that isn't there are refused, and nothing is made", async () => {
    const tasks = [{ content: "a" }, { content: "b", parent_task_id: "0".repeat(32) }];
    expect((await fresh.refusal("create_tasks", { tasks }, fresh.root)).code).toBe("not_found");
    expect(await fresh.ask("list_tasks", {}, ann)).toEqual([]);
  });

  test("of a large family are shown nearest to the root first, and said to be more", async () => {
    const parent = await fresh.task({ content: "parent" });
    const tasks = Array.from({ length: 1000 }, (_, nth) => ({ content: `${nth}`, parent_task_id: parent.id }));
    const made = await fresh.ask("create_tasks", { tasks }, fresh.root);
    await fresh.task({ content: "deep", parent_task_id: made[0]?.id as string });
    const whole = await fresh.ask("get_task_chain", { task_id: parent.id }, ann);
    expect(whole).toMatchObject({ depth: 1, total_count: 1000, truncated: true });
    expect(whole.chain[0]).toMatchObject({ id: parent.id });
  });
});
