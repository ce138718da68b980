import { expect } from "vitest";
import type { Row, Stage } from "./stage.js";

const UNKNOWN = "0123456789abcdef0123456789abcdef";
const FUTURE = "2100-01-01T00:00:00.000Z";

const theTask = async (at: Stage, fields = {}) => ({ input: { task_id: (await at.task(fields)).id } });

const claimNext: Row[] = [
  {
    does: "claims the next ready task: the highest priority, then the oldest (R15)",
    operation: "claim_next_task",
    given: async (at) => {
      await at.task({ content: "normal" });
      await at.task({ content: "urgent", priority: 4 });
      await at.task({ content: "urgent, too", priority: 4 });
      return { input: { project_id: at.project, lease_seconds: 600 } };
    },
    answers: {
      task: {
        id: "task 2",
        content: "urgent",
        status: "claimed",
        claimed_by_agent_id: "ann",
        claimed_by_session_id: "ann's session",
        fence: 1,
        attempts: 1,
        lease_remaining_ms: "within 10 min",
      },
    },
  },
  {
    does: "claims only what carries all labels that are asked for",
    operation: "claim_next_task",
    given: async (at) => {
      await at.task({ labels: ["web"] });
      await at.task({ labels: ["slow", "web", "Ünïcode 🦉"] });
      return { input: { project_id: at.project, labels: ["web", "Ünïcode 🦉"] } };
    },
    answers: { task: { id: "task 2", labels: ["slow", "web", "Ünïcode 🦉"] } },
  },
  {
    does: "answers null where nothing is ready, which is no error (R58)",
    operation: "claim_next_task",
    given: async (at) => {
      await at.held(at.bob);
      await at.task({ not_before: FUTURE });
      await at.task({ assigned_to_agent_id: at.bob.agentId });
      return { input: { project_id: at.project } };
    },
    answers: { task: null },
  },
  {
    does: "claims several at once, each under its own lease (R22)",
    operation: "claim_next_task",
    tools: false,
    given: async (at) => {
      await at.task({ content: "one" });
      await at.task({ content: "two" });
      await at.task({ content: "three" });
      return { input: { project_id: at.project, count: 2 } };
    },
    answers: {
      tasks: [
        { content: "one", fence: 1 },
        { content: "two", fence: 1 },
      ],
    },
  },
  {
    does: "answers an empty list where several were asked for and nothing is ready",
    operation: "claim_next_task",
    tools: false,
    given: (at) => ({ input: { project_id: at.project, count: 2 } }),
    answers: { tasks: [] },
  },
  {
    does: "gets the task whose lease has lapsed, with the checkpoint of its last holder (R7)",
    operation: "claim_next_task",
    given: async (at) => {
      const lease = await at.held(at.bob, {}, 30);
      await at.bob.dibs.heartbeatTask({ ...lease, checkpoint: { at: "step 2" } });
      await at.world.passTime(30);
      return { input: { project_id: at.project } };
    },
    answers: { task: { id: "task 1", fence: 2, attempts: 2, checkpoint: { at: "step 2" } } },
  },
  {
    does: "refuses a project that is not there",
    operation: "claim_next_task",
    given: () => ({ input: { project_id: "nowhere" } }),
    refused: { code: "not_found" },
  },
  {
    does: "refuses a lease out of range with the range (R6)",
    operation: "claim_next_task",
    given: (at) => ({ input: { project_id: at.project, lease_seconds: 29 } }),
    refused: {
      code: "invalid_input",
      fields: [{ field: "lease_seconds", message: "must be 30..3600 in this workspace, not 29" }],
    },
  },
  {
    does: "refuses when the agent holds all it may, naming the setting (R49)",
    operation: "claim_next_task",
    given: async (at) => {
      await at.held(at.ann);
      await at.task();
      await at.boss.dibs.updateWorkspace({ claims_per_agent_max: 1 });
      return { input: { project_id: at.project } };
    },
    refused: { code: "limit_exceeded", setting: "claims_per_agent_max", limit: 1 },
    leaves: async (at) => void (await at.boss.dibs.updateWorkspace({ claims_per_agent_max: 10_000 })),
  },
  {
    does: "gives the first answer again for the same Idempotency-Key (R59)",
    operation: "claim_next_task",
    tools: false,
    given: async (at) => {
      await at.task();
      await at.task();
      const input = { project_id: at.project };
      const idempotencyKey = `again-${at.project}`;
      await at.ann.dibs.claimNextTask(input, { idempotencyKey });
      return { input, idempotencyKey };
    },
    answers: { task: { id: "task 1", fence: 1, attempts: 1 } },
  },
  {
    does: "refuses the Idempotency-Key of another body (R59)",
    operation: "claim_next_task",
    tools: false,
    given: async (at) => {
      await at.task();
      const idempotencyKey = `other-${at.project}`;
      await at.ann.dibs.claimNextTask({ project_id: at.project }, { idempotencyKey });
      return { input: { project_id: at.project, lease_seconds: 60 }, idempotencyKey };
    },
    refused: { code: "idempotency_key_reused" },
  },
  {
    does: "never replays a claim that is dead by now (R59)",
    operation: "claim_next_task",
    tools: false,
    given: async (at) => {
      await at.task();
      const input = { project_id: at.project, lease_seconds: 30 };
      const idempotencyKey = `dead-${at.project}`;
      await at.ann.dibs.claimNextTask(input, { idempotencyKey });
      await at.world.passTime(30);
      return { input, idempotencyKey };
    },
    refused: { code: "lease_lost", reason: "expired" },
  },
  {
    does: "refuses a session that has ended (R10)",
    operation: "claim_next_task",
    given: async (at) => {
      const ended = await at.ann.dibs.session();
      await ended.end();
      return { input: { project_id: at.project }, session: ended.record.id };
    },
    refused: { code: "session_ended", next: expect.any(Array) },
  },
  {
    does: "refuses a wrong key",
    operation: "claim_next_task",
    as: "somebody with a wrong key",
    about: "keys",
    given: (at) => ({ input: { project_id: at.project } }),
    refused: { code: "unauthorized" },
  },
];

const claimNamed: Row[] = [
  {
    does: "claims a named task",
    operation: "claim_task",
    given: async (at) => ({ input: { task_id: (await at.task({ content: "this one" })).id, lease_seconds: 60 } }),
    answers: { task: { id: "task 1", content: "this one", fence: 1, lease_remaining_ms: "within 1 min" } },
  },
  {
    does: "renews the claim of who has it: same fence, no new attempt (R5)",
    operation: "claim_task",
    given: async (at) => ({ input: { task_id: (await at.held(at.ann, {}, 30)).task_id, lease_seconds: 600 } }),
    answers: { task: { fence: 1, attempts: 1, lease_remaining_ms: "within 10 min" } },
  },
  {
    does: "refuses what somebody holds, and names the holder (R17)",
    operation: "claim_task",
    given: async (at) => ({ input: { task_id: (await at.held(at.bob, { content: "taken" })).task_id } }),
    refused: {
      code: "task_claimed",
      holder: {
        task_id: "task 1",
        intent: "taken",
        agent_id: "bob",
        agent_name: "bob",
        session_id: "bob's session",
        client: "test",
        remaining_ms: "within 5 min",
      },
    },
  },
  {
    does: "refuses what is closed, and says how (R17)",
    operation: "claim_task",
    given: async (at) => ({ input: { task_id: await at.completed() } }),
    refused: { code: "task_closed", status: "completed", by: "bob", at: "<time>" },
  },
  {
    does: "refuses what has used up its attempts as failed, though nobody closed it (R20)",
    operation: "claim_task",
    given: async (at) => ({ input: { task_id: (await at.lapsed(at.bob, { max_attempts: 1 })).task_id } }),
    refused: { code: "task_closed", status: "failed", at: "<time>" },
  },
  {
    does: "refuses what may not start yet, and says when (R17)",
    operation: "claim_task",
    given: (at) => theTask(at, { not_before: FUTURE }),
    refused: { code: "task_scheduled", not_before: "<time>" },
  },
  {
    does: "refuses what is assigned to somebody else, and says to whom (R17)",
    operation: "claim_task",
    given: (at) => theTask(at, { assigned_to_agent_id: at.bob.agentId }),
    refused: { code: "task_assigned", assigned_to_agent_id: "bob" },
  },
  {
    does: "refuses a task that is not there",
    operation: "claim_task",
    given: () => ({ input: { task_id: UNKNOWN } }),
    refused: { code: "not_found" },
  },
  {
    does: "takes over from another session of the same agent with a reason (R19)",
    operation: "claim_task",
    given: async (at) => {
      const other = await at.ann.dibs.session({ client: "laptop" });
      const { id } = await at.task();
      await other.claimTask({ task_id: id });
      return { input: { task_id: id, takeover: true, reason: "the laptop died" } };
    },
    answers: { task: { fence: 2, attempts: 2, claimed_by_session_id: "ann's session" } },
  },
  {
    does: "refuses to take over without a reason (R46)",
    operation: "claim_task",
    given: async (at) => {
      const other = await at.ann.dibs.session();
      const { id } = await at.task();
      await other.claimTask({ task_id: id });
      return { input: { task_id: id, takeover: true } };
    },
    refused: { code: "reason_required", fields: [{ field: "reason", message: expect.stringMatching(/is required/) }] },
  },
  {
    does: "refuses a worker who would take over from another agent (R19)",
    operation: "claim_task",
    about: "roles",
    given: async (at) => ({
      input: { task_id: (await at.held(at.bob)).task_id, takeover: true, reason: "I want it" },
    }),
    refused: { code: "forbidden" },
  },
];

/** Taking tasks: the next one, a named one, somebody else's. */
export const rowsOfClaims: readonly Row[] = [...claimNext, ...claimNamed];
