import { expect } from "vitest";
import type { Row, Stage } from "./stage.js";

const UNKNOWN = "0123456789abcdef0123456789abcdef";

/** "first", which nobody has begun, and "second", which waits for it; both made by ann. */
async function chain(at: Stage, first: object = {}) {
  const blocker = await at.task({ content: "first", ...first }, at.ann);
  const waiting = await at.task({ content: "second", depends_on: [blocker.id] }, at.ann);
  return { blocker: blocker.id, waiting: waiting.id };
}

/** As `chain`, with "first" cancelled. */
async function stalled(at: Stage) {
  const { blocker, waiting } = await chain(at);
  await at.ann.dibs.cancelTask({ task_id: blocker });
  return { blocker, waiting };
}

const make: Row[] = [
  {
    does: "creates a task that waits for another (R23)",
    operation: "create_task",
    given: async (at) => ({
      input: { content: "second", project_id: at.project, depends_on: [(await at.task({ content: "first" })).id] },
    }),
    answers: { ready: false, stalled: false, depends_on: ["task 1"], blocked_by: ["task 1"], blocked_by_count: 1 },
  },
  {
    does: "refuses a task that waits for one that is not there, naming it (R23)",
    operation: "create_task",
    given: () => ({ input: { content: "lost", depends_on: [UNKNOWN] } }),
    refused: { code: "unknown_dependency", id: "<id>" },
  },
  {
    does: "creates many that wait for tasks, all or none (R23)",
    operation: "create_tasks",
    given: async (at) => {
      const { id } = await at.task({ content: "first" });
      const tasks = [id, UNKNOWN].map((each) => ({ content: "x", project_id: at.project, depends_on: [each] }));
      return { input: { tasks } };
    },
    refused: { code: "unknown_dependency", id: "<id>" },
    leaves: async (at) => expect(await at.ann.dibs.listTasks({ project_id: at.project, blocked: true })).toEqual([]),
  },
  {
    does: "lets a task wait for others from now on",
    operation: "add_dependencies",
    given: async (at) => {
      const [a, b] = [await at.task({ content: "a" }), await at.task({ content: "b" })];
      const { id } = await at.task({ content: "z" }, at.ann);
      return { input: { task_id: id, depends_on: [b.id, a.id] } };
    },
    answers: { id: "task 3", ready: false, depends_on: ["task 1", "task 2"], version: 2 },
  },
  {
    does: "refuses to close a cycle, and spells it out (R23)",
    operation: "add_dependencies",
    given: async (at) => {
      const { blocker, waiting } = await chain(at);
      return { input: { task_id: blocker, depends_on: [waiting] } };
    },
    refused: {
      code: "dependency_cycle",
      cycle: [
        { id: "task 1", content: "first" },
        { id: "task 2", content: "second" },
        { id: "task 1", content: "first" },
      ],
      cycle_length: 2,
    },
  },
  {
    does: "refuses another's dependencies to a worker (R46)",
    operation: "add_dependencies",
    about: "roles",
    given: async (at) => ({ input: { task_id: (await at.task()).id, depends_on: [(await at.task()).id] } }),
    refused: { code: "forbidden" },
  },
  {
    does: "lets a task wait for another no more, which makes it ready",
    operation: "remove_dependency",
    given: async (at) => {
      const { blocker, waiting } = await chain(at);
      return { input: { task_id: waiting, blocker_id: blocker } };
    },
    answers: { id: "task 2", ready: true, depends_on: [], depends_on_count: 0, version: 2 },
  },
  {
    does: "changes what a task waits for as a whole",
    operation: "update_task",
    given: async (at) => {
      const { waiting } = await chain(at);
      return { input: { task_id: waiting, depends_on: [(await at.task({ content: "other" })).id] } };
    },
    answers: { id: "task 2", depends_on: ["task 3"], blocked_by: ["task 3"] },
  },
  {
    does: "refuses a change that closes a cycle, and changes nothing else of it either",
    operation: "update_task",
    given: async (at) => {
      const { blocker, waiting } = await chain(at);
      return { input: { task_id: blocker, priority: 4, depends_on: [waiting] } };
    },
    refused: { code: "dependency_cycle", cycle_length: 2 },
  },
];

const find: Row[] = [
  {
    does: "lists what a task waits for",
    operation: "list_dependencies",
    given: async (at) => ({ input: { task_id: (await chain(at)).waiting, which: "blockers" } }),
    answers: [{ id: "task 1", content: "first", status: "open", ready: true }],
  },
  {
    does: "lists what waits for a task",
    operation: "list_dependencies",
    given: async (at) => ({ input: { task_id: (await chain(at)).blocker, which: "dependents" } }),
    answers: [{ id: "task 2", content: "second", status: "open" }],
  },
  {
    does: "lists what is stalled, of all that waits (R23)",
    operation: "list_tasks",
    given: async (at) => {
      await chain(at);
      await stalled(at);
      return { input: { project_id: at.project, stalled: true, limit: 10 } };
    },
    answers: [{ id: "task 4", stalled: true }],
  },
  {
    does: "lists what waits, stalled or not",
    operation: "list_tasks",
    given: async (at) => {
      await chain(at);
      await stalled(at);
      return { input: { project_id: at.project, blocked: true, limit: 10 } };
    },
    answers: [{ id: "task 2" }, { id: "task 4", stalled: true }],
  },
];

const refuse: Row[] = [
  {
    does: "refuses to claim what waits, naming for what and its state (R17)",
    operation: "claim_task",
    given: async (at) => ({ input: { task_id: (await chain(at)).waiting } }),
    refused: {
      code: "task_blocked",
      blockers: [{ id: "task 1", content: "first", status: "open" }],
      blockers_count: 1,
    },
  },
  {
    does: "tells why what is stalled can't be claimed, and the call that unblocks it (R17, R23)",
    operation: "get_task_why",
    given: async (at) => ({ input: { task_id: (await stalled(at)).waiting } }),
    answers: {
      claimable: false,
      code: "task_blocked",
      explanation: 'Task "second" is stalled: it waits for "first" (cancelled).',
      next: expect.arrayContaining(["Open the cancelled task 1 again: reopen_task."]),
    },
  },
  {
    does: "refuses to delete what another task depends on, naming it (R23)",
    operation: "delete_task",
    given: async (at) => ({ input: { task_id: (await chain(at)).blocker } }),
    refused: {
      code: "has_dependents",
      dependents: [{ id: "task 2", content: "second", status: "open" }],
      dependents_count: 1,
    },
  },
  {
    does: "deletes it when forced, which frees what waits for it",
    operation: "delete_task",
    given: async (at) => ({
      input: { task_id: (await chain(at)).blocker, force: true, reason: "not needed any more" },
    }),
    answers: { deleted: true, id: "task 1" },
    leaves: async (at) =>
      expect(await at.ann.dibs.listTasks({ project_id: at.project })).toMatchObject([
        { content: "second", ready: true, depends_on: [] },
      ]),
  },
];

/** Which task waits for which. */
export const rowsOfDependencies: readonly Row[] = [...make, ...find, ...refuse];
