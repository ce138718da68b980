import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

/** Evidence and verdicts (R28): what shows a result, how it is judged, and when that reads stale. */

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

async function held(by = ann, more: Partial<Input<"create_task">> = {}) {
  const { id } = await fresh.task(more);
  const { lease_id } = await fresh.claim(id, by);
  return { task_id: id, lease_id: lease_id as string };
}
const head = (branch: string, commit: string, more: object = {}) =>
  fresh.ask("report_head", { branch, commit, ...more }, ben);
const standing = async (id: string) => {
  const { verdict, evidence } = await fresh.read(id);
  return { verdict: verdict && [verdict.outcome, verdict.stale], evidence: evidence.map((each) => each.stale) };
};

describe("what a completion carries (R28)", () => {
  test("evidence of every kind and a verdict, kept with who, when, and the commit they are about", async () => {
    const task = await held();
    const done = await fresh.ask(
      "complete_task",
      {
        ...task,
        result: "done",
        verdict: "pass",
        verdict_note: "all 812 tests",
        commit: A,
        branch: "feat/pay",
        evidence: [
          { kind: "commit", ref: A.slice(0, 8), title: "Pay by card" },
          { kind: "pull_request", ref: "#7", url: "https://example.org/pull/7" },
          { kind: "check", ref: "ci/test" },
          { kind: "artifact", url: "https://example.org/build.zip" },
          { kind: "output", detail: "812 passed\n0 failed" },
        ],
      },
      ann,
    );
    const said = { branch: "feat/pay", stale: false, agent_id: ann.id, created_at: fresh.time.iso() };
    expect(done.verdict).toEqual({ outcome: "pass", note: "all 812 tests", commit: A, ...said });
    const none = { ref: null, url: null, title: null, detail: null };
    expect(done.evidence).toEqual([
      { ...none, kind: "commit", ref: A.slice(0, 8), title: "Pay by card", commit: A.slice(0, 8), ...said },
      { ...none, kind: "pull_request", ref: "#7", url: "https://example.org/pull/7", commit: A, ...said },
      { ...none, kind: "check", ref: "ci/test", commit: A, ...said },
      { ...none, kind: "artifact", url: "https://example.org/build.zip", commit: A, ...said },
      { ...none, kind: "output", detail: "812 passed\n0 failed", commit: A, ...said },
    ]);
    expect(await fresh.read(task.task_id)).toEqual(done);
    const [event] = await fresh.ask("list_events", { types: ["task.completed"] }, ben);
    const kinds = ["commit", "pull_request", "check", "artifact", "output"];
    expect(event?.data).toMatchObject({ verdict: "pass", evidence: kinds, commit: A, branch: "feat/pay" });
  });

  test("nothing of it is needed, and a task without any says so", async () => {
    const done = await fresh.ask("complete_task", await held(), ann);
    expect(done).toMatchObject({ status: "completed", evidence: [], verdict: null, requires_verdict: false });
  });

  test("the same completion again adds nothing; a late one is refused and leaves nothing but its comment", async () => {
    const task = await held();
    const call = { ...task, verdict: "pass" as const, evidence: [{ kind: "check" as const, ref: "ci" }] };
    const done = await fresh.ask("complete_task", call, ann);
    expect(await fresh.ask("complete_task", call, ann)).toEqual(done);
    const other = await held(ann);
    fresh.time.pass(300_000);
    expect(await fresh.refusal("complete_task", { ...call, ...other }, ann)).toMatchObject({ code: "lease_lost" });
    expect(await standing(other.task_id)).toEqual({ verdict: null, evidence: [] });
  });

  test.each([
    ["verdict_note", { verdict_note: "why" }, /needs a verdict/],
    ["branch", { verdict: "pass", branch: "main" }, /needs commit/],
    ["is_head", { verdict: "pass", commit: A, is_head: true }, /needs commit and branch/],
    ["commit", { verdict: "pass", commit: A.slice(0, 9), branch: "main", is_head: true }, /whole hash/],
    ["commit", { commit: A }, /says what a verdict or evidence is about; give one/],
  ] as const)("%s that has nothing to go with is refused, and nothing is done", async (field, said, words) => {
    const task = await held();
    const refused = await fresh.refusal("complete_task", { ...task, ...said }, ann);
    expect(refused).toMatchObject({ code: "invalid_input", fields: [{ field }] });
    expect(refused.message).toMatch(words);
    expect(await fresh.read(task.task_id)).toMatchObject({ status: "claimed", verdict: null });
    expect(await fresh.ask("list_heads", {}, ann)).toEqual([]);
  });
});

describe("what others say of it", () => {
  test("anybody judges and adds evidence, whoever holds it and when it is closed; the last verdict counts", async () => {
    const task = await held();
    const judge = (said: object, as = ben) => fresh.ask("judge_task", { task_id: task.task_id, ...said }, as);
    const failed = await judge({ verdict: "fail", verdict_note: "no tests", commit: A, branch: "main" });
    expect(failed).toMatchObject({
      status: "claimed",
      claimed_by_agent_id: ann.id,
      verdict: { outcome: "fail", agent_id: ben.id },
    });
    await fresh.ask("complete_task", { ...task, evidence: [{ kind: "output", detail: "ok" }] }, ann);
    expect(await standing(task.task_id)).toEqual({ verdict: ["fail", false], evidence: [false] });
    await judge({ evidence: [{ kind: "check", ref: "review" }] });
    const passed = await judge({ verdict: "pass" });
    expect(passed).toMatchObject({ status: "completed", verdict: { outcome: "pass", note: null, commit: null } });
    expect(passed.evidence.map(({ kind, agent_id }) => [kind, agent_id])).toEqual([
      ["output", ann.id],
      ["check", ben.id],
    ]);
    const types = ["task.judged", "task.evidence_added"];
    expect((await fresh.ask("list_events", { types }, ben)).map(({ type, data }) => [type, data.verdict])).toEqual([
      ["task.judged", "fail"],
      ["task.evidence_added", undefined],
      ["task.judged", "pass"],
    ]);
  });

  test("says a verdict or evidence; a task keeps 50 pieces", async () => {
    const { task_id } = await held();
    const refused = (said: object) => fresh.refusal("judge_task", { task_id, ...said }, ben);
    for (const nothing of [{}, { evidence: [] }])
      expect(await refused(nothing)).toMatchObject({ code: "invalid_input", fields: [{ field: "verdict" }] });
    const some = (count: number) => ({ evidence: Array(count).fill({ kind: "check", ref: "ci" }) });
    for (const count of [20, 20]) await fresh.ask("judge_task", { task_id, ...some(count) }, ben);
    const full = await refused(some(11));
    expect(full).toMatchObject({ code: "invalid_input", fields: [{ field: "evidence" }] });
    expect(full.message).toContain("at most 10 entries: a task has 50, this one 40 already");
    await fresh.ask("judge_task", { task_id, ...some(10) }, ben);
  });

  test("a passing verdict goes when the task is opened again; a failing one tells the next holder why", async () => {
    const { task_id } = await held();
    for (const [outcome, left] of [
      ["pass", null],
      ["fail", "fail"],
    ] as const) {
      const { lease_id } = await fresh.claim(task_id, ann);
      await fresh.ask("complete_task", { task_id, lease_id: lease_id as string, verdict: outcome }, ann);
      const open = await fresh.ask("reopen_task", { task_id }, fresh.root);
      expect(open.verdict?.outcome ?? null).toBe(left);
    }
  });
});

describe("where branches are", () => {
  test("a verdict and evidence read stale from the moment their branch is known to be at another commit", async () => {
    const task = await held();
    const said = {
      verdict: "pass" as const,
      commit: A.slice(0, 12),
      branch: "main",
      evidence: [{ kind: "check" as const, ref: "ci" }],
    };
    await fresh.ask("complete_task", { ...task, ...said }, ann);
    expect(await standing(task.task_id)).toEqual({ verdict: ["pass", false], evidence: [false] });
    await head("main", A);
    await head("other", B);
    expect(await standing(task.task_id)).toEqual({ verdict: ["pass", false], evidence: [false] });
    const before = await fresh.read(task.task_id);
    await head("main", B);
    expect(await standing(task.task_id)).toEqual({ verdict: ["pass", true], evidence: [true] });
    // Nobody wrote to the task: like a lapsed lease it reads so.
    expect(await fresh.read(task.task_id)).toMatchObject({ version: before.version, updated_at: before.updated_at });
    expect((await fresh.ask("list_tasks", { status: "completed" }, ben))[0]?.verdict).toMatchObject({ stale: true });
    await head("main", A);
    expect(await standing(task.task_id)).toEqual({ verdict: ["pass", false], evidence: [false] });
  });

  test("what is said of a commit that the branch has left already is stale at once", async () => {
    await head("main", B);
    const task = await held();
    const judged = await fresh.ask(
      "judge_task",
      { task_id: task.task_id, verdict: "pass", commit: A, branch: "main" },
      ben,
    );
    expect(judged.verdict).toMatchObject({ outcome: "pass", stale: true });
  });

  test("with is_head the same call says where the branch is, and what was said before reads stale", async () => {
    const [first, second] = [await held(), await held()];
    const complete = (task: object, commit: string) =>
      fresh.ask("complete_task", { ...task, verdict: "pass", commit, branch: "main", is_head: true } as never, ann);
    await complete(first, A);
    await complete(second, B);
    expect(await standing(first.task_id)).toMatchObject({ verdict: ["pass", true] });
    expect(await standing(second.task_id)).toMatchObject({ verdict: ["pass", false] });
    expect(await fresh.ask("list_heads", {}, ben)).toMatchObject([{ branch: "main", commit: B, agent_id: ann.id }]);
  });

  test("lists are narrowed to those that read pass, fail or stale at that instant, or weren't judged", async () => {
    const judged = async (said: object) => {
      const { task_id } = await held();
      await fresh.ask("judge_task", { task_id, ...said } as never, ben);
      return task_id;
    };
    const passed = await judged({ verdict: "pass", commit: A.slice(0, 7), branch: "main" });
    const failed = await judged({ verdict: "fail", commit: A, branch: "main" });
    const alone = await judged({ verdict: "pass" });
    const none = await judged({ evidence: [{ kind: "output", detail: "x" }] });
    const listed = async (verdict: "pass" | "fail" | "stale" | "none") =>
      (await fresh.ask("list_tasks", { verdict, sort: "created" }, ann)).map(({ id }) => id);
    const all = async () => [await listed("pass"), await listed("fail"), await listed("stale"), await listed("none")];
    expect(await all()).toEqual([[passed, alone], [failed], [], [none]]);
    await head("main", A);
    expect(await all()).toEqual([[passed, alone], [failed], [], [none]]);
    await head("main", B);
    expect(await all()).toEqual([[alone], [], [passed, failed], [none]]);
    for (const task of await fresh.ask("list_tasks", {}, ann)) {
      const reads = task.verdict?.stale ? "stale" : (task.verdict?.outcome ?? "none");
      expect(await listed(reads)).toContain(task.id);
    }
  });

  test("without a commit, or without a branch, nothing ever reads stale", async () => {
    const task = await held();
    await fresh.ask("judge_task", { task_id: task.task_id, verdict: "pass", commit: A }, ben);
    await head("main", B);
    expect(await standing(task.task_id)).toMatchObject({ verdict: ["pass", false] });
  });

  test("a branch is a project's own; its head moves with an event that says from where, the same again with none", async () => {
    await fresh.ask("create_project", { key: "web" }, fresh.root);
    const first = await head("main", A);
    fresh.time.pass(1_000);
    expect(await head("main", A)).toEqual(first);
    await head("main", B);
    await head("main", A, { project_id: "web" });
    const heads = await fresh.ask("list_heads", { branch: "main" }, ann);
    expect(heads.map(({ commit }) => commit)).toEqual([B, A]);
    expect(await fresh.ask("list_heads", { project_id: "web" }, ann)).toEqual([heads[1]]);
    expect(await fresh.ask("list_heads", { branch: "none" }, ann)).toEqual([]);
    const events = await fresh.ask("list_events", { types: ["branch.moved"] }, ben);
    expect(events.map(({ data }) => data)).toEqual([
      { branch: "main", commit: A },
      { branch: "main", commit: B, was: A },
      { branch: "main", commit: A },
    ]);
    const task = await held(ann, { project_id: "web" });
    await fresh.ask("judge_task", { task_id: task.task_id, verdict: "pass", commit: A, branch: "main" }, ben);
    expect(await standing(task.task_id)).toMatchObject({ verdict: ["pass", false] });
  });
});
