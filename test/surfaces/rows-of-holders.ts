import { expect } from "vitest";
import { type Row, refusalOf, type Stage } from "./stage.js";

const theTask = async (at: Stage, fields = {}) => ({ input: { task_id: (await at.task(fields)).id } });

const keep: Row[] = [
  {
    does: "renews a lease, with progress and a checkpoint",
    operation: "heartbeat_task",
    given: async (at) => ({
      input: {
        ...(await at.held(at.ann, {}, 30)),
        lease_seconds: 900,
        state: "waiting_input",
        detail: "which branch?",
        progress: { done: 1, of: 3 },
        checkpoint: ["a", { b: null }],
      },
    }),
    answers: {
      id: "task 1",
      fence: 1,
      lease_remaining_ms: "within 15 min",
      state: "waiting_input",
      state_detail: "which branch?",
      progress: { done: 1, of: 3 },
      checkpoint: ["a", { b: null }],
    },
  },
  {
    does: "renews by its running length what the session holds, without being told the lease",
    operation: "heartbeat_task",
    given: async (at) => ({ input: { task_id: (await at.held(at.ann, {}, 120)).task_id } }),
    answers: { fence: 1, lease_remaining_ms: "within 2 min" },
  },
  {
    does: "refuses at the instant the lease ends (R1)",
    operation: "heartbeat_task",
    given: async (at) => ({ input: await at.lapsed() }),
    refused: { code: "lease_lost", reason: "expired" },
  },
  {
    does: "refuses who never had it, and names who has",
    operation: "heartbeat_task",
    given: async (at) => ({ input: { task_id: (await at.held(at.bob)).task_id } }),
    refused: { code: "lease_lost", reason: "never_held", holder: { agent_name: "bob" } },
  },
  {
    does: "refuses the lease before the present one (R3)",
    operation: "heartbeat_task",
    given: async (at) => {
      const first = await at.lapsed();
      await at.claim(at.ann, first.task_id);
      return { input: first };
    },
    refused: { code: "lease_lost", reason: "superseded", holder: { agent_name: "ann" } },
  },
  {
    does: "refuses a lease that was taken away (R19)",
    operation: "heartbeat_task",
    given: async (at) => {
      const lease = await at.held(at.ann);
      await at.lead.dibs.forceReleaseTask({ task_id: lease.task_id, reason: "needed elsewhere" });
      return { input: lease };
    },
    refused: { code: "lease_lost", reason: "revoked" },
  },
  {
    does: "says how the work goes",
    operation: "set_task_state",
    given: async (at) => ({ input: { ...(await at.held(at.ann)), state: "errored", detail: "no network" } }),
    answers: { state: "errored", state_detail: "no network", status: "claimed" },
  },
  {
    does: "refuses a state from who doesn't hold the task",
    operation: "set_task_state",
    given: async (at) => ({ input: { task_id: (await at.task()).id, state: "working" } }),
    refused: { code: "lease_lost", reason: "never_held" },
  },
];

const end: Row[] = [
  {
    does: "gives a task back with a note, which counts no attempt (R18, R20)",
    operation: "release_task",
    given: async (at) => ({ input: { ...(await at.held(at.ann)), handoff: "half done" } }),
    answers: { id: "task 1", status: "open", attempts: 0, handoff_note: "half done" },
  },
  {
    does: "answers a repeated release like the first",
    operation: "release_task",
    given: async (at) => {
      const lease = await at.held(at.ann);
      await at.ann.dibs.releaseTask(lease);
      return { input: lease };
    },
    answers: { id: "task 1", status: "open", attempts: 0 },
  },
  {
    does: "refuses to release what somebody else took since",
    operation: "release_task",
    given: async (at) => {
      const lease = await at.lapsed();
      await at.claim(at.bob, lease.task_id);
      return { input: lease };
    },
    refused: { code: "lease_lost", reason: "expired", holder: { agent_name: "bob" } },
  },
  {
    does: "completes a task with its result",
    operation: "complete_task",
    given: async (at) => ({ input: { ...(await at.held(at.ann)), result: { commit: "1f3c", files: [1, 2] } } }),
    answers: {
      id: "task 1",
      status: "completed",
      result: { commit: "1f3c", files: [1, 2] },
      closed_by_agent_id: "ann",
      completed_at: "<time>",
    },
  },
  {
    does: "answers a repeated completion like the first",
    operation: "complete_task",
    given: async (at) => {
      const call = { ...(await at.held(at.ann)), result: { n: 1 } };
      await at.ann.dibs.completeTask(call);
      return { input: call };
    },
    answers: { status: "completed", result: { n: 1 } },
  },
  {
    does: "refuses a second completion with another result",
    operation: "complete_task",
    given: async (at) => {
      const lease = await at.held(at.ann);
      await at.ann.dibs.completeTask({ ...lease, result: 1 });
      return { input: { ...lease, result: 2 } };
    },
    refused: { code: "lease_lost", reason: "completed" },
    leaves: async (at) => expect((await at.ann.dibs.listTasks({ project_id: at.project }))[0]?.result).toBe(1),
  },
  {
    does: "refuses a late completion, and keeps its result as a comment (R7)",
    operation: "complete_task",
    given: async (at) => {
      const lease = await at.lapsed();
      const other = await at.claim(at.bob, lease.task_id);
      await at.bob.dibs.completeTask({ ...other, result: "bob's" });
      return { input: { ...lease, result: "late" } };
    },
    refused: { code: "lease_lost", reason: "expired" },
    leaves: async (at) => {
      const [task] = await at.ann.dibs.listTasks({ project_id: at.project });
      expect(task?.result).toBe("bob's");
      const comments = await at.ann.dibs.listComments({ task_id: task?.id ?? "" });
      expect(comments).toMatchObject([{ kind: "late_result", body: '"late"', agent_name: "ann" }]);
    },
  },
  {
    does: "fails a task with the reason",
    operation: "fail_task",
    given: async (at) => ({ input: { ...(await at.held(at.ann)), reason: "no such file" } }),
    answers: { id: "task 1", status: "failed", failure_reason: "no such file", attempts: 1 },
  },
  {
    does: "opens a failed task again with retry, and counts the attempt (R20)",
    operation: "fail_task",
    given: async (at) => ({ input: { ...(await at.held(at.ann)), reason: "flaky", retry: true } }),
    answers: { id: "task 1", status: "open", attempts: 1 },
  },
  {
    does: "fails for good when the last attempt is used up (R20)",
    operation: "fail_task",
    given: async (at) => ({ input: { ...(await at.held(at.ann, { max_attempts: 1 })), reason: "flaky", retry: true } }),
    answers: { status: "failed", failure_reason: "attempts_exhausted" },
  },
  {
    does: "refuses to fail a task without a reason",
    operation: "fail_task",
    tools: false,
    given: async (at) => ({ input: await at.held(at.ann) }),
    refused: { code: "reason_required" },
  },
  {
    does: "cancels a task that nobody holds",
    operation: "cancel_task",
    given: async (at) => ({ input: { task_id: (await at.task({}, at.ann)).id, reason: "no longer needed" } }),
    answers: { status: "cancelled", cancel_reason: "no longer needed" },
  },
  {
    does: "cancels what the caller holds at once",
    operation: "cancel_task",
    given: async (at) => ({ input: await at.held(at.ann) }),
    answers: { status: "cancelled" },
  },
  {
    does: "asks the live holder to stop, who is told (R19, R54)",
    operation: "cancel_task",
    given: async (at) => ({
      input: { task_id: (await at.held(at.bob, {}, undefined, at.ann)).task_id, reason: "the plan changed" },
    }),
    answers: { status: "claimed", cancel_requested: true, cancel_reason: "the plan changed" },
    status: 202,
    leaves: async (at) => {
      const { notices } = await at.bob.dibs.getSession({ session_id: at.bob.sessionId });
      expect(notices).toContainEqual(expect.objectContaining({ type: "cancel_requested" }));
      await at.bob.dibs.ackNotices({ ids: notices.map((notice) => notice.id) });
    },
  },
  {
    does: "refuses to cancel what is completed",
    operation: "cancel_task",
    given: async (at) => ({ input: { task_id: await at.completed() } }),
    refused: { code: "task_closed", status: "completed" },
  },
  {
    does: "refuses a worker who would cancel a task that is neither its own nor its assignment (R46)",
    operation: "cancel_task",
    about: "roles",
    given: (at) => theTask(at),
    refused: { code: "forbidden" },
  },
  {
    does: "opens a completed task again",
    operation: "reopen_task",
    given: async (at) => ({ input: { task_id: await at.completed(), reason: "it came back" } }),
    answers: { status: "open", ready: true, result: null, attempts: 0 },
  },
  {
    does: "refuses to reopen what somebody holds",
    operation: "reopen_task",
    given: async (at) => ({ input: { task_id: (await at.held(at.bob)).task_id } }),
    refused: { code: "task_claimed", holder: { agent_name: "bob" } },
  },
];

const force: Row[] = [
  {
    does: "takes a task from its live holder, who learns of it (R19)",
    operation: "force_release_task",
    as: "lead",
    given: async (at) => ({ input: { task_id: (await at.held(at.bob)).task_id, reason: "its agent hangs" } }),
    answers: { status: "open", attempts: 1, ready: true },
    leaves: async (at) => {
      const [task] = await at.bob.dibs.listTasks({ project_id: at.project });
      const refused = await refusalOf(at.bob.dibs.heartbeatTask({ task_id: task?.id ?? "" }));
      expect(refused).toMatchObject({ code: "lease_lost", details: { reason: "revoked" } });
    },
  },
  {
    does: "refuses to force a release without a reason (R46)",
    operation: "force_release_task",
    as: "lead",
    given: async (at) => ({ input: { task_id: (await at.held(at.bob)).task_id } }),
    refused: { code: "reason_required" },
  },
  {
    does: "refuses a worker who would force a release",
    operation: "force_release_task",
    about: "roles",
    given: async (at) => ({ input: { task_id: (await at.held(at.bob)).task_id, reason: "mine" } }),
    refused: { code: "forbidden" },
  },
  {
    does: "refuses to force a release of what is closed",
    operation: "force_release_task",
    as: "lead",
    given: async (at) => ({ input: { task_id: await at.completed(), reason: "why not" } }),
    refused: { code: "task_closed", status: "completed" },
  },
  {
    does: "opens a failed task again with fresh attempts (R20)",
    operation: "retry_task",
    as: "lead",
    given: async (at) => ({
      input: { task_id: (await at.lapsed(at.bob, { max_attempts: 1 })).task_id, reason: "the server is mended" },
    }),
    answers: { status: "open", attempts: 0, failure_reason: null, ready: true },
  },
  {
    does: "refuses to retry what is completed",
    operation: "retry_task",
    as: "lead",
    given: async (at) => ({ input: { task_id: await at.completed(), reason: "again" } }),
    refused: { code: "task_closed", status: "completed" },
  },
  {
    does: "refuses a worker who would retry a failed task",
    operation: "retry_task",
    about: "roles",
    given: async (at) => ({ input: { task_id: (await at.lapsed(at.bob, { max_attempts: 1 })).task_id, reason: "x" } }),
    refused: { code: "forbidden" },
  },
];

/** Keeping and ending what was taken, also by force. */
export const rowsOfHolders: readonly Row[] = [...keep, ...end, ...force];
