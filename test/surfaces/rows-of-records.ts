import { expect } from "vitest";
import type { Row, Stage } from "./stage.js";

const UNKNOWN = "0123456789abcdef0123456789abcdef";
const FULL = {
  content: "Fix the login — “quotes”, ünïcode, 🦉",
  description: "First line\n\tsecond line",
  labels: ["web", "two words"],
  priority: 3,
  due_date: "2100-01-01T12:00:00+02:00",
  max_attempts: 7,
  context: { repo: "web", depth: { of: [1, null, "x"] } },
};
const FULL_ANSWER = { ...FULL, due_date: "<time>", project_id: "the project" };

/** Three tasks, and the cursor after the first two. */
async function pageOfTasks(at: Stage): Promise<string> {
  for (const content of ["one", "two", "three"]) await at.task({ content });
  const page = await at.ann.dibs.call("list_tasks", { project_id: at.project, limit: 2 });
  return page.nextCursor ?? "";
}

const make: Row[] = [
  {
    does: "creates a task with all it may have, and keeps its text as given (R60)",
    operation: "create_task",
    given: (at) => ({ input: { ...FULL, project_id: at.project } }),
    answers: { ...FULL_ANSWER, status: "open", ready: true, created_by_agent_id: "ann", version: 1, fence: 0 },
  },
  {
    does: "refuses a task for a project that is not there",
    operation: "create_task",
    given: () => ({ input: { content: "lost", project_id: "nowhere" } }),
    refused: { code: "not_found" },
  },
  {
    does: "refuses a worker who assigns work to another agent (R46)",
    operation: "create_task",
    about: "roles",
    given: (at) => ({ input: { content: "for bob", assigned_to_agent_id: at.bob.agentId } }),
    refused: { code: "forbidden" },
  },
  {
    does: "creates many tasks in their order",
    operation: "create_tasks",
    given: (at) => ({
      input: { tasks: ["one", "two", "three"].map((content) => ({ content, project_id: at.project })) },
    }),
    answers: [{ content: "one" }, { content: "two" }, { content: "three" }],
  },
  {
    does: "creates all or none, and names the one that is wrong",
    operation: "create_tasks",
    given: (at) => ({
      input: {
        tasks: [
          { content: "good", project_id: at.project },
          { content: "bad", project_id: at.project, priority: 9 },
        ],
      },
    }),
    refused: {
      code: "invalid_input",
      fields: [{ field: "tasks.1.priority", message: "must be a whole number, 1..4" }],
    },
    leaves: async (at) => expect(await at.ann.dibs.listTasks({ project_id: at.project })).toEqual([]),
  },
];

const find: Row[] = [
  {
    does: "reads one task",
    operation: "get_task",
    given: async (at) => ({ input: { task_id: (await at.task(FULL)).id } }),
    answers: { id: "task 1", ...FULL_ANSWER, created_by_agent_id: "lead" },
  },
  {
    does: "reads a lapsed task as open, with its last holder (R1)",
    operation: "get_task",
    given: async (at) => ({ input: { task_id: (await at.lapsed(at.bob)).task_id } }),
    answers: { status: "open", lapsed: true, ready: true, claimed_by_agent_id: "bob", lease_expires_at: "<time>" },
  },
  {
    does: "refuses to read what is not there",
    operation: "get_task",
    given: () => ({ input: { task_id: UNKNOWN } }),
    refused: { code: "not_found" },
  },
  {
    does: "lists what is ready in the order it is handed out",
    operation: "list_tasks",
    given: async (at) => {
      await at.task({ content: "later" });
      await at.task({ content: "held" });
      await at.task({ content: "first", priority: 4 });
      await at.task({ content: "scheduled", not_before: "2100-01-01T00:00:00Z" });
      await at.bob.dibs.claimTask({ task_id: [...at.names].find(([, name]) => name === "task 2")?.[0] ?? "" });
      return { input: { project_id: at.project, ready: true, limit: 10 } };
    },
    answers: [{ content: "first" }, { content: "later" }],
  },
  {
    does: "lists by status and label",
    operation: "list_tasks",
    given: async (at) => {
      await at.task({ content: "open", labels: ["web"] });
      await at.completed({ content: "done", labels: ["web"] });
      await at.completed({ content: "done elsewhere", labels: ["api"] });
      return { input: { project_id: at.project, status: "completed", label: "web", limit: 10 } };
    },
    answers: [{ content: "done", status: "completed" }],
  },
  {
    does: "finds text in titles and descriptions in any letter case",
    operation: "list_tasks",
    given: async (at) => {
      await at.task({ content: "Fix the LOGIN page" });
      await at.task({ content: "other", description: "about the login%_ form" });
      await at.task({ content: "unrelated" });
      return { input: { project_id: at.project, search: "login", sort: "created", limit: 10 } };
    },
    answers: [{ content: "Fix the LOGIN page" }, { content: "other" }],
  },
  {
    does: "lists as available what has lapsed, not what is held or closed",
    operation: "list_tasks",
    given: async (at) => {
      await at.lapsed(at.bob, { content: "lapsed" });
      await at.held(at.bob, { content: "held" });
      await at.completed({ content: "closed" });
      return { input: { project_id: at.project, claimed: false, limit: 10 } };
    },
    answers: [{ content: "lapsed", lapsed: true }],
  },
  {
    does: "cuts a list at its limit and says where it goes on",
    operation: "list_tasks",
    given: async (at) => {
      await pageOfTasks(at);
      return { input: { project_id: at.project, limit: 2 } };
    },
    answers: [{ content: "one" }, { content: "two" }],
    goesOn: true,
  },
  {
    does: "goes on where the last page ended",
    operation: "list_tasks",
    given: async (at) => ({ input: { cursor: await pageOfTasks(at), project_id: at.project, limit: 2 } }),
    answers: [{ content: "three" }],
  },
  {
    does: "refuses the cursor of another list, rather than begin anew",
    operation: "list_tasks",
    given: async (at) => ({ input: { cursor: await pageOfTasks(at), project_id: at.project, sort: "-created" } }),
    refused: { code: "invalid_cursor" },
  },
  {
    does: "refuses a list of a project that is not there, rather than answer an empty one (R58)",
    operation: "list_tasks",
    given: () => ({ input: { project_id: "nowhere" } }),
    refused: { code: "not_found" },
  },
  {
    does: "says that a ready task can be claimed",
    operation: "get_task_why",
    given: async (at) => ({ input: { task_id: (await at.task()).id } }),
    answers: { claimable: true, next: ["Claim it: claim_task."] },
  },
  {
    does: "says why a task can't be claimed, with the very code of the claim (R17)",
    operation: "get_task_why",
    given: async (at) => ({ input: { task_id: (await at.held(at.bob)).task_id } }),
    answers: { claimable: false, code: "task_claimed" },
  },
];

const change: Row[] = [
  {
    does: "changes the fields named and no other, if the version is the one expected",
    operation: "update_task",
    given: async (at) => {
      const { id, version } = await at.task(FULL, at.ann);
      return { input: { task_id: id, priority: 1, description: "new" }, ifVersion: version };
    },
    answers: { ...FULL_ANSWER, priority: 1, description: "new", version: 2 },
  },
  {
    does: "refuses a change of another version, and says which it is",
    operation: "update_task",
    given: async (at) => {
      const { id } = await at.task({}, at.ann);
      await at.ann.dibs.updateTask({ task_id: id, priority: 4 });
      return { input: { task_id: id, priority: 1 }, ifVersion: 1 };
    },
    refused: { code: "version_mismatch", version: 2 },
  },
  {
    does: "clears what is set to null",
    operation: "update_task",
    given: async (at) => ({
      input: {
        task_id: (await at.task(FULL, at.ann)).id,
        description: null,
        labels: null,
        due_date: null,
        context: null,
      },
    }),
    answers: { description: null, labels: [], due_date: null, context: null, content: FULL.content },
  },
  {
    does: "refuses to change what somebody else holds (R19)",
    operation: "update_task",
    given: async (at) => ({
      input: { task_id: (await at.held(at.bob, {}, undefined, at.ann)).task_id, content: "changed under you" },
    }),
    refused: { code: "task_claimed", holder: { agent_name: "bob" } },
  },
  {
    does: "deletes a task",
    operation: "delete_task",
    given: async (at) => ({ input: { task_id: (await at.task({}, at.ann)).id } }),
    answers: { deleted: true, id: "task 1" },
    leaves: async (at) => expect(await at.ann.dibs.listTasks({ project_id: at.project })).toEqual([]),
  },
  {
    does: "refuses to delete what somebody holds (R19)",
    operation: "delete_task",
    given: async (at) => ({ input: { task_id: (await at.held(at.bob, {}, undefined, at.ann)).task_id } }),
    refused: { code: "task_claimed" },
  },
];

/** Making, finding and changing tasks. */
export const rowsOfRecords: readonly Row[] = [...make, ...find, ...change];
