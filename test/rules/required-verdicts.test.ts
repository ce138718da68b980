import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

/** A task or step that is completed only with a passing verdict that isn't stale (R28). */

const A = "a".repeat(40);
const B = "b".repeat(40);
let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
});

async function held() {
  const { id } = await fresh.task({ content: "ship it", requires_verdict: true });
  const { lease_id } = await fresh.claim(id, ann);
  return { task_id: id, lease_id: lease_id as string };
}
type Said = Omit<Input<"judge_task">, "task_id">;
const judge = (task_id: string, said: Said) => fresh.ask("judge_task", { task_id, ...said }, ben);
const complete = (task: { task_id: string; lease_id: string }, said: Said = {}) =>
  fresh.ask("complete_task", { ...task, ...said }, ann);
const refused = (task: { task_id: string; lease_id: string }, said: Said = {}) =>
  fresh.refusal("complete_task", { ...task, ...said }, ann);
const why = async (task_id: string) => (await fresh.ask("get_task_why", { task_id }, ann)).explanation;

describe("completing it", () => {
  test("without a verdict is refused with what can be done, and the holder keeps it", async () => {
    const task = await held();
    const refusal = await refused(task, { evidence: [{ kind: "check", ref: "ci" }] });
    expect(refusal).toMatchObject({ code: "verdict_required", verdict: null, head: null });
    expect(refusal.message).toBe('Task "ship it" is completed only with a passing verdict, and has none.');
    expect(refusal.next?.join(" ")).toMatch(/complete_task.*judge_task/);
    expect(await fresh.read(task.task_id)).toMatchObject({ status: "claimed", evidence: [], lease_id: task.lease_id });
    expect(await why(task.task_id)).toContain("It is completed only with a passing verdict, and has none.");
  });

  test("with a failing verdict is refused with its note", async () => {
    const task = await held();
    await judge(task.task_id, { verdict: "fail", verdict_note: "no tests" });
    expect(await refused(task)).toMatchObject({
      code: "verdict_required",
      verdict: { outcome: "fail", note: "no tests", agent_id: ben.id },
      message: expect.stringContaining("its verdict is fail (no tests)"),
    });
    expect(await refused(task, { verdict: "fail" })).toMatchObject({ verdict: { agent_id: ann.id } });
    // What was refused left nothing.
    expect((await fresh.read(task.task_id)).verdict).toMatchObject({ agent_id: ben.id });
  });

  test("with a passing verdict is done: its holder's own, or somebody else's before", async () => {
    expect(await complete(await held(), { verdict: "pass" })).toMatchObject({ status: "completed" });
    const task = await held();
    await judge(task.task_id, { verdict: "pass", commit: A, branch: "main" });
    expect(await why(task.task_id)).not.toContain("verdict");
    expect(await complete(task)).toMatchObject({ status: "completed", verdict: { agent_id: ben.id } });
  });

  test("with one that is stale is refused with both commits; at the branch's head it is done", async () => {
    const task = await held();
    await judge(task.task_id, { verdict: "pass", commit: A, branch: "main" });
    await fresh.ask("report_head", { branch: "main", commit: B }, ben);
    const refusal = await refused(task);
    expect(refusal).toMatchObject({ code: "verdict_required", verdict: { stale: true }, head: B });
    expect(refusal.message).toContain(`it is about ${A.slice(0, 12)}, and main is at ${B.slice(0, 12)}`);
    expect(refusal.next?.join(" ")).toContain("is_head: true, or report_head");
    expect(await refused(task, { verdict: "pass", commit: A, branch: "main" })).toMatchObject({ head: B });
    // Refused, it says nothing of where the branch is either.
    expect(await refused(task, { verdict: "fail", commit: A, branch: "main", is_head: true })).toMatchObject({
      code: "verdict_required",
    });
    expect(await fresh.ask("list_heads", {}, ann)).toMatchObject([{ commit: B }]);
    expect(await complete(task, { verdict: "pass", commit: A, branch: "main", is_head: true })).toMatchObject({
      status: "completed",
      verdict: { stale: false },
    });
  });

  test("what reads stale later stays completed, and says so wherever it is spoken of", async () => {
    const task = await held();
    await complete(task, { verdict: "pass", commit: A, branch: "main", is_head: true });
    await fresh.ask("report_head", { branch: "main", commit: B }, ben);
    expect(await fresh.read(task.task_id)).toMatchObject({ status: "completed", verdict: { stale: true } });
    expect(await why(task.task_id)).toMatch(/is completed by ann since .*, judged pass but stale\.$/);
    const claim = await fresh.refusal("claim_task", { task_id: task.task_id }, ben);
    expect(claim.message).toBe(await why(task.task_id));
  });

  test("opened again it needs a verdict anew", async () => {
    const task = await held();
    await complete(task, { verdict: "pass" });
    await fresh.ask("reopen_task", { task_id: task.task_id }, fresh.root);
    const { lease_id } = await fresh.claim(task.task_id, ann);
    const again = { task_id: task.task_id, lease_id: lease_id as string };
    expect(await refused(again)).toMatchObject({ code: "verdict_required", verdict: null });
  });
});

describe("who says that it is required", () => {
  test("its creator or a coordinator, when it is made and later; not who is to fulfil it", async () => {
    const { id } = await fresh.task({}, ben);
    const require = (requires_verdict: boolean, as: Actor) =>
      fresh.ask("update_task", { task_id: id, requires_verdict }, as);
    expect(await require(true, ben)).toMatchObject({ requires_verdict: true });
    await fresh.ask("update_task", { task_id: id, assigned_to_agent_id: ann.id }, fresh.root);
    const lift = { task_id: id, requires_verdict: false };
    expect(await fresh.refusal("update_task", lift, ann)).toMatchObject({ code: "forbidden" });
    await fresh.claim(id, ann);
    expect(await fresh.refusal("update_task", lift, ann)).toMatchObject({ code: "forbidden" });
    expect(await fresh.ask("update_task", { task_id: id, requires_verdict: true, priority: 4 }, ann)).toMatchObject({
      priority: 4,
    });
    const refusal = await fresh.refusal("update_task", { task_id: id, requires_verdict: null as never }, ann);
    expect(refusal.message).toMatch(/requires_verdict: .*can't be cleared/);
  });
});

describe("steps of a plan (R27)", () => {
  const steps = (requires_verdict?: boolean) => [
    { key: "build", content: "build", ...(requires_verdict === undefined ? {} : { requires_verdict }) },
    { key: "ship", content: "ship", depends_on: ["build"] },
  ];
  const create = (requires_verdict?: boolean) =>
    fresh.ask("create_plan", { slug: "p", steps: steps(requires_verdict) }, ann);

  test("may require it; what waits for the step waits for its verdict, and the plan shows how it was judged", async () => {
    const [build] = (await create(true)).steps;
    expect(build).toMatchObject({ requires_verdict: true, verdict: null, verdict_stale: false });
    const task_id = build?.task_id as string;
    const { lease_id } = await fresh.claim(task_id, ann);
    const task = { task_id, lease_id: lease_id as string };
    expect(await refused(task)).toMatchObject({ code: "verdict_required" });
    expect((await fresh.ask("get_plan", { slug: "p" }, ann)).progress).toMatchObject({ blocked: 1, in_flight: 1 });
    await complete(task, { verdict: "pass", commit: A, branch: "main", is_head: true });
    const shown = async () => (await fresh.ask("get_plan", { slug: "p" }, ann)).steps;
    expect(await shown()).toMatchObject([
      { verdict: "pass", verdict_stale: false },
      { ready: true, verdict: null },
    ]);
    await fresh.ask("report_head", { branch: "main", commit: B }, ben);
    expect((await shown())[0]).toMatchObject({ verdict: "pass", verdict_stale: true });
    const { text } = await fresh.ask("get_plan_graph", { slug: "p", format: "mermaid" }, ann);
    expect(text).toContain('["build · completed · pass, stale"]');
  });

  test("the requirement is a part of what the plan says; not to require is what goes without saying", async () => {
    await create();
    expect(await create(false)).toMatchObject({ steps_created: 0 });
    const other = await fresh.refusal("create_plan", { slug: "p", steps: steps(true) }, ann);
    expect(other).toMatchObject({ differences: ["step build has another requires_verdict"] });
    await fresh.ask("create_plan", { slug: "q", steps: steps(true) }, ann);
    const looser = await fresh.refusal("create_plan", { slug: "q", steps: steps() }, ann);
    expect(looser).toMatchObject({ differences: ["step build has another requires_verdict"] });
  });
});
