import { expect } from "vitest";
import { UNKNOWN } from "./open-calls.js";
import type { Row } from "./stage.js";

const alone: Row[] = [
  {
    does: "opens a session with all it may say of itself",
    operation: "open_session",
    given: (at) => ({ input: { client: "robot", branch: "feat/x", project_id: at.project, ttl_seconds: 60 } }),
    answers: {
      agent_name: "ann",
      state: "open",
      implicit: false,
      client: "robot",
      branch: "feat/x",
      project_id: "the project",
      ttl_seconds: 60,
      remaining_ms: "within 1 min",
    },
  },
  {
    does: "lists the open sessions of an agent",
    operation: "list_sessions",
    given: async (at) => {
      const { agentId } = await at.newPerson("somebody");
      return { input: { agent_id: agentId } };
    },
    answers: [{ id: "somebody's session", agent_id: "somebody", state: "open", tasks_held: 0 }],
  },
  {
    does: "reads a session, with what it must know (R54)",
    operation: "get_session",
    given: async (at) => {
      const session = await at.ann.dibs.session({ client: "loser", ttl_seconds: 86_400 });
      const { id } = await at.task();
      await session.claimTask({ task_id: id, lease_seconds: 30 });
      await at.lead.dibs.forceReleaseTask({ task_id: id, reason: "needed elsewhere" });
      return { input: { session_id: session.record.id }, session: session.record.id };
    },
    answers: { client: "loser", state: "open", notices: [{ type: "lease.lost", task_id: "task 1" }] },
  },
  {
    does: "renews all that a session holds, with an answer per item (R9)",
    operation: "heartbeat_session",
    given: async (at) => {
      const session = await at.ann.dibs.session({ client: "busy", ttl_seconds: 3600 });
      for (const content of ["one", "two"]) await session.claimTask({ task_id: (await at.task({ content })).id });
      return { input: { session_id: session.record.id }, session: session.record.id };
    },
    answers: {
      client: "busy",
      tasks_held: 2,
      items: [
        { task_id: "task 1", outcome: "renewed", lease_remaining_ms: "within 5 min" },
        { task_id: "task 2", outcome: "renewed" },
      ],
    },
  },
  {
    does: "ends a session and frees all it holds (R10)",
    operation: "end_session",
    given: async (at) => {
      const session = await at.ann.dibs.session();
      await session.claimTask({ task_id: (await at.task()).id });
      return { input: { session_id: session.record.id }, session: session.record.id };
    },
    answers: { tasks_released: 1 },
    leaves: async (at) => {
      const [task] = await at.ann.dibs.listTasks({ project_id: at.project });
      expect(task).toMatchObject({ status: "open", attempts: 0 });
    },
  },
  {
    does: "refuses to renew a session that has ended",
    operation: "heartbeat_session",
    given: async (at) => {
      const session = await at.ann.dibs.session();
      await session.end();
      return { input: { session_id: session.record.id }, session: session.record.id };
    },
    refused: { code: "session_ended" },
  },
  {
    does: "refuses to read a session that is not there",
    operation: "get_session",
    given: () => ({ input: { session_id: UNKNOWN } }),
    refused: { code: "not_found" },
  },
  {
    does: "acknowledges notices, so that they are not repeated (R54)",
    operation: "ack_notices",
    given: async (at) => {
      const session = await at.ann.dibs.session({ ttl_seconds: 86_400 });
      const { id } = await at.task();
      await session.claimTask({ task_id: id });
      await at.lead.dibs.forceReleaseTask({ task_id: id, reason: "needed elsewhere" });
      const { notices } = await session.getSession({ session_id: session.record.id });
      return { input: { ids: notices.map((notice) => notice.id) }, session: session.record.id };
    },
    answers: { acknowledged: 1 },
  },
];

const families: Row[] = [
  {
    does: "opens a session under a parent (R65)",
    operation: "open_session",
    given: (at) => ({ input: { client: "subagent", parent_session_id: at.ann.sessionId, ttl_seconds: 60 } }),
    answers: { parent_session_id: "ann's session", share_with_children: false, resumed: false, resume_token: "<key>" },
  },
  {
    does: "refuses a parent that is somebody else's",
    operation: "open_session",
    given: (at) => ({ input: { parent_session_id: at.bob.sessionId } }),
    refused: { code: "not_found" },
  },
  {
    does: "refuses a parent that has ended",
    operation: "open_session",
    given: async (at) => {
      const parent = await at.ann.dibs.session();
      await parent.end();
      return { input: { parent_session_id: parent.record.id } };
    },
    refused: { code: "session_ended", next: expect.any(Array) },
  },
  {
    does: "ends a session with its children, and sums what they held",
    operation: "end_session",
    given: async (at) => {
      const parent = await at.ann.dibs.session();
      const child = await parent.child({ client: "subagent" });
      for (const each of [parent, child, child]) await each.claimTask({ task_id: (await at.task()).id });
      return { input: { session_id: parent.record.id, findings: "it was the cache" }, session: parent.record.id };
    },
    answers: { children_ended: 1, tasks_released: 3 },
    leaves: async (at) => {
      const tasks = await at.ann.dibs.listTasks({ project_id: at.project });
      expect(tasks.map(({ status, attempts }) => [status, attempts])).toEqual(Array(3).fill(["open", 0]));
    },
  },
  {
    does: "lets a child complete what a parent that shares holds",
    operation: "complete_task",
    given: async (at) => {
      const parent = await at.ann.dibs.session({ share_with_children: true });
      const child = await parent.child();
      const { id } = await at.task();
      await parent.claimTask({ task_id: id });
      return { input: { task_id: id, result: "done" }, session: child.record.id };
    },
    answers: { id: "task 1", status: "completed" },
  },
  {
    does: "refuses to complete what a sibling holds",
    operation: "complete_task",
    given: async (at) => {
      const parent = await at.ann.dibs.session();
      const [one, other] = [await parent.child(), await parent.child()];
      const { id } = await at.task();
      await one.claimTask({ task_id: id });
      return { input: { task_id: id, result: "done" }, session: other.record.id };
    },
    refused: { code: "lease_lost", reason: "never_held", holder: { agent_name: "ann" } },
  },
];

const resumed: Row[] = [
  {
    does: "resumes a session by its token, with what it holds (R65)",
    operation: "open_session",
    given: async (at) => {
      const before = await at.ann.dibs.session({ client: "robot", ttl_seconds: 600 });
      await before.claimTask({ task_id: (await at.task()).id });
      return { input: { resume_token: before.record.resume_token, branch: "feat/y" } };
    },
    status: 200,
    answers: {
      resumed: true,
      client: "robot",
      branch: "feat/y",
      tasks_held: 1,
      ttl_seconds: 600,
      resume_token: "<key>",
    },
  },
  {
    does: "refuses a token that was used",
    operation: "open_session",
    given: async (at) => {
      const { resume_token } = (await at.ann.dibs.session()).record;
      await at.ann.dibs.openSession({ resume_token });
      return { input: { resume_token } };
    },
    refused: { code: "resume_token_used", next: expect.any(Array) },
  },
  {
    does: "gives a program that starts anew under its id the session it has open",
    operation: "open_session",
    tools: false,
    given: async (at) => {
      const harness_id = `run of ${at.project}`;
      const before = await at.ann.dibs.session({ harness_id });
      await before.claimTask({ task_id: (await at.task()).id });
      return { input: { harness_id } };
    },
    status: 200,
    answers: { resumed: true, tasks_held: 1 },
  },
];

const findings: Row[] = [
  {
    does: "keeps what a session found, with its heartbeat",
    operation: "heartbeat_session",
    given: async (at) => {
      const session = await at.ann.dibs.session({ ttl_seconds: 3600 });
      return { input: { session_id: session.record.id, findings: "TZ must be UTC" }, session: session.record.id };
    },
    answers: { findings: "TZ must be UTC", items: [] },
  },
  {
    does: "lists what sessions left, whether they live or not",
    operation: "list_sessions",
    given: async (at) => {
      for (const [n, found] of ["one", "two", undefined].entries()) {
        const session = await at.ann.dibs.session({ project_id: at.project, client: `c${n}` });
        await session.end(found === undefined ? {} : { findings: found });
      }
      return { input: { state: "any", has_findings: true, project_id: at.project } };
    },
    answers: [
      { client: "c1", state: "ended", findings: "two" },
      { client: "c0", findings: "one" },
    ],
  },
];

export const rowsOfSessions: readonly Row[] = [...alone, ...families, ...resumed, ...findings];
