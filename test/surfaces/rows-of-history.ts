import { expect } from "vitest";
import type { Row } from "./stage.js";

/** What is written beside tasks, what is told of them, and what is held. */
export const rowsOfHistory: readonly Row[] = [
  {
    does: "writes a comment, whoever holds the task (R19)",
    operation: "add_comment",
    given: async (at) => ({ input: { task_id: (await at.held(at.bob)).task_id, body: "-- fails on\nNode 20 only" } }),
    answers: { task_id: "task 1", agent_name: "ann", body: "-- fails on\nNode 20 only", kind: "comment" },
  },
  {
    does: "lists comments, oldest first",
    operation: "list_comments",
    given: async (at) => {
      const { id } = await at.task();
      await at.bob.dibs.addComment({ task_id: id, body: "one" });
      await at.lead.dibs.addComment({ task_id: id, body: "two" });
      return { input: { task_id: id } };
    },
    answers: [
      { body: "one", agent_name: "bob" },
      { body: "two", agent_name: "lead" },
    ],
  },
  {
    does: "links a task to a page",
    operation: "add_link",
    given: async (at) => ({
      input: { task_id: (await at.task()).id, url: "https://example.org/pull/7?a=1&b=2#c", kind: "pull_request" },
    }),
    answers: { url: "https://example.org/pull/7?a=1&b=2#c", kind: "pull_request", title: null },
  },
  {
    does: "lists links, oldest first",
    operation: "list_links",
    given: async (at) => {
      const { id } = await at.task();
      await at.bob.dibs.addLink({ task_id: id, url: "https://example.org/1", title: "one" });
      return { input: { task_id: id } };
    },
    answers: [{ url: "https://example.org/1", title: "one", agent_id: "bob", kind: "other" }],
  },
  {
    does: "tells a task's whole history, oldest first",
    operation: "get_task_history",
    given: async (at) => {
      const lease = await at.held(at.bob);
      await at.bob.dibs.completeTask(lease);
      return { input: { task_id: lease.task_id } };
    },
    answers: [
      { type: "task.created", actor: { agent_name: "lead" } },
      { type: "task.claimed", actor: { agent_name: "bob", session_id: "bob's session" } },
      { type: "task.completed", actor: { agent_name: "bob" } },
    ],
  },
  {
    does: "lists events of a task by type",
    operation: "list_events",
    given: async (at) => ({
      input: { task_id: (await at.held(at.bob)).task_id, types: ["task.claimed", "task.released"], limit: 10 },
    }),
    answers: [{ type: "task.claimed", task_id: "task 1", actor: { agent_name: "bob" } }],
  },
  {
    does: "lists what is held: who, what, until when",
    operation: "list_claims",
    given: async (at) => {
      await at.held(at.bob, { content: "bob's work" });
      await at.held(at.ann, { content: "ann's work" });
      await at.lapsed(at.lead);
      return { input: { project_id: at.project, limit: 10 } };
    },
    answers: [
      { task_id: "task 1", agent_name: "bob", intent: "bob's work", remaining_ms: "within 5 min" },
      { task_id: "task 2", agent_name: "ann", intent: "ann's work", session_id: "ann's session" },
    ],
  },
  {
    does: "counts what is held in the older form",
    operation: "count_claims",
    given: async (at) => {
      await at.held(at.bob);
      return { input: { project_id: at.project } };
    },
    answers: { count: 1, claims: [{ scope: expect.stringMatching(/^task:task 1$/), agent_name: "bob" }] },
  },
];
