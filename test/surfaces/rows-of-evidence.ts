import type { Row, Stage } from "./stage.js";

const A = "a".repeat(40);
const B = "b".repeat(40);
const CONTEXT = { repo: "web", build: { node: 20, flags: ["a"] }, draft: true };
const CHECK = {
  kind: "check",
  ref: "ci/test — ünïcode 🦉",
  url: "https://example.org/8",
  title: "Tests",
  detail: "812\npassed",
};

/** A task of ann's own with a context. */
async function withContext(at: Stage) {
  const { id } = await at.task({ context: CONTEXT }, at.ann);
  return { task_id: id };
}

const contexts: Row[] = [
  {
    does: "reads a context with who wrote it",
    operation: "get_task_context",
    given: async (at) => ({ input: await withContext(at) }),
    answers: {
      task_id: "task 1",
      context: CONTEXT,
      version: 1,
      agent_name: "ann",
      session_id: null,
      created_at: "<time>",
    },
  },
  {
    does: "reads a context as it was in an older version",
    operation: "get_task_context",
    given: async (at) => {
      const task = await withContext(at);
      await at.ann.dibs.changeTaskContext({ ...task, context: { draft: null } });
      return { input: { ...task, version: 1 } };
    },
    answers: { context: CONTEXT, version: 1 },
  },
  {
    does: "refuses a version that is not there",
    operation: "get_task_context",
    given: async (at) => ({ input: { ...(await withContext(at)), version: 2 } }),
    refused: { code: "not_found" },
  },
  {
    does: "merges into a context, if the version is the one expected",
    operation: "change_task_context",
    given: async (at) => ({
      input: { ...(await withContext(at)), context: { build: { node: 22 }, draft: null } },
      ifVersion: 1,
    }),
    answers: { context: { repo: "web", build: { node: 22, flags: ["a"] } }, version: 2 },
    tools: false,
  },
  {
    does: "replaces a context",
    operation: "change_task_context",
    given: async (at) => ({ input: { ...(await withContext(at)), context: { done: null }, replace: true } }),
    answers: { context: { done: null }, version: 2 },
    tools: false,
  },
  {
    does: "merges into it as its task's holder, under the lease",
    operation: "change_task_context",
    given: async (at) => ({
      input: { ...(await at.held(at.ann, { context: CONTEXT })), context: { done: 1 }, expected_version: 1 },
    }),
    answers: { context: { ...CONTEXT, done: 1 }, version: 2, task_id: "task 1" },
  },
  {
    does: "refuses a change of another version, and says which it is",
    operation: "change_task_context",
    given: async (at) => ({ input: { ...(await withContext(at)), context: { a: 1 }, expected_version: 7 } }),
    refused: { code: "version_mismatch", version: 1 },
  },
  {
    does: "refuses to change the context of what somebody else holds (R19)",
    operation: "change_task_context",
    given: async (at) => ({
      input: { task_id: (await at.held(at.bob, {}, undefined, at.ann)).task_id, context: { a: 1 } },
    }),
    refused: { code: "task_claimed", holder: { agent_name: "bob" } },
  },
  {
    does: "refuses a holder whose lease is over (R3)",
    operation: "change_task_context",
    given: async (at) => ({ input: { ...(await at.lapsed()), context: { late: true } } }),
    refused: { code: "lease_lost", reason: "expired" },
  },
  {
    does: "lists who changed a context, newest first",
    operation: "list_context_versions",
    given: async (at) => {
      const task = await withContext(at);
      await at.ann.dibs.changeTaskContext({ ...task, context: { draft: null, a: 1 } });
      return { input: { ...task, limit: 1 } };
    },
    answers: [{ version: 2, changed: ["draft", "a"], agent_name: "ann", session_id: "ann's session" }],
    goesOn: true,
  },
];

const verdicts: Row[] = [
  {
    does: "completes a task with evidence and a verdict about a commit",
    operation: "complete_task",
    given: async (at) => ({
      input: {
        ...(await at.held(at.ann)),
        verdict: "pass",
        commit: A,
        branch: "main",
        is_head: true,
        evidence: [CHECK],
      },
    }),
    answers: {
      status: "completed",
      verdict: {
        outcome: "pass",
        note: null,
        commit: A,
        branch: "main",
        stale: false,
        agent_id: "ann",
        created_at: "<time>",
      },
    },
  },
  {
    does: "refuses to complete without the verdict that is required, and says what to do",
    operation: "complete_task",
    given: async (at) => ({ input: await at.held(at.ann, { requires_verdict: true }) }),
    refused: { code: "verdict_required", verdict: null, head: null },
  },
  {
    does: "refuses to complete with a verdict that is stale",
    operation: "complete_task",
    given: async (at) => {
      await at.bob.dibs.reportHead({ branch: "main", commit: B, project_id: at.project });
      const task = await at.held(at.ann, { requires_verdict: true });
      return { input: { ...task, verdict: "pass", commit: A, branch: "main" } };
    },
    refused: { code: "verdict_required", head: B, verdict: { outcome: "pass", stale: true } },
  },
  {
    does: "judges what somebody else holds",
    operation: "judge_task",
    given: async (at) => ({
      input: {
        task_id: (await at.held(at.bob)).task_id,
        verdict: "fail",
        verdict_note: "no tests",
        commit: A.slice(0, 9),
      },
    }),
    answers: { id: "task 1", status: "claimed", verdict: { outcome: "fail", note: "no tests", commit: A.slice(0, 9) } },
  },
  {
    does: "adds evidence to what is closed",
    operation: "judge_task",
    given: async (at) => ({ input: { task_id: await at.completed(), evidence: [CHECK] } }),
    answers: { status: "completed" },
  },
  {
    does: "refuses to judge without a verdict or evidence",
    operation: "judge_task",
    given: async (at) => ({ input: { task_id: (await at.task()).id } }),
    refused: { code: "invalid_input" },
  },
  {
    does: "reads what was judged at an older commit as stale",
    operation: "get_task",
    given: async (at) => {
      const task_id = await at.completed();
      await at.ann.dibs.judgeTask({ task_id, verdict: "pass", commit: A, branch: "main", evidence: [CHECK as never] });
      await at.bob.dibs.reportHead({ branch: "main", commit: B, project_id: at.project });
      return { input: { task_id } };
    },
    answers: {
      verdict: { outcome: "pass", stale: true, commit: A },
      evidence: [{ ...CHECK, stale: true, commit: A, branch: "main", agent_id: "ann", created_at: "<time>" }],
    },
  },
  {
    does: "lists what was judged at an older commit",
    operation: "list_tasks",
    given: async (at) => {
      await at.task();
      const task_id = await at.completed();
      await at.ann.dibs.judgeTask({ task_id, verdict: "pass", commit: A, branch: "main" });
      await at.bob.dibs.reportHead({ branch: "main", commit: B, project_id: at.project });
      return { input: { project_id: at.project, verdict: "stale", limit: 10 } };
    },
    answers: [{ status: "completed", verdict: { outcome: "pass", stale: true } }],
    tools: false,
  },
  {
    does: "says where a branch is",
    operation: "report_head",
    given: (at) => ({ input: { branch: "feat/ünïcode", commit: A, project_id: at.project } }),
    answers: { project_id: "the project", branch: "feat/ünïcode", commit: A, agent_id: "ann", updated_at: "<time>" },
  },
  {
    does: "refuses to say it of a project that is not there",
    operation: "report_head",
    given: () => ({ input: { branch: "main", commit: A, project_id: "nowhere" } }),
    refused: { code: "not_found" },
  },
  {
    does: "lists where branches are",
    operation: "list_heads",
    given: async (at) => {
      for (const [branch, commit] of [
        ["main", A],
        ["other", A],
        ["main", B],
      ] as const)
        await at.ann.dibs.reportHead({ branch, commit, project_id: at.project });
      return { input: { project_id: at.project, limit: 1 } };
    },
    answers: [{ branch: "main", commit: B }],
    goesOn: true,
  },
];

/** Contexts with their versions, evidence, verdicts, and where branches are (R28). */
export const rowsOfEvidence: readonly Row[] = [...contexts, ...verdicts];
