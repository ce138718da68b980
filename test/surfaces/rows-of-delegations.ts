import { expect } from "vitest";
import type { Row, Stage } from "./stage.js";

/** "whole", which ann holds, and "part", which she gave to bob. */
async function delegated(at: Stage) {
  const lease = await at.held(at.ann, { content: "whole" });
  const part = await at.ann.dibs.delegateTask({ task_id: lease.task_id, content: "part" });
  return { whole: lease.task_id, part: part.id };
}

/** Giving parts of one's work away, and what that looks like to others. */
export const rowsOfDelegations: readonly Row[] = [
  {
    does: "gives a part of a held task away (R25)",
    operation: "delegate_task",
    given: async (at) => {
      const { task_id, lease_id } = await at.held(at.ann, { content: "whole" });
      return { input: { task_id, lease_id, content: "part", description: "the hard one" } };
    },
    answers: { id: "<id>", content: "part", description: "the hard one", status: "open", parent_task_id: "task 1" },
    leaves: async (at) =>
      expect(await at.ann.dibs.listTasks({ project_id: at.project })).toMatchObject([
        { content: "whole", status: "delegated", ready: false },
        { content: "part", status: "open", ready: true },
      ]),
  },
  {
    does: "refuses to delegate what another holds (R19)",
    operation: "delegate_task",
    given: async (at) => ({ input: { task_id: (await at.held(at.bob)).task_id, content: "part" } }),
    refused: { code: "task_claimed" },
  },
  {
    does: "refuses to claim what waits for its parts, naming them (R17)",
    operation: "claim_task",
    given: async (at) => ({ input: { task_id: (await delegated(at)).whole } }),
    refused: {
      code: "task_delegated",
      children: [{ id: "<id>", content: "part", status: "open" }],
      children_count: 1,
    },
  },
  {
    does: "tells the same of it to who asks why",
    operation: "get_task_why",
    given: async (at) => ({ input: { task_id: (await delegated(at)).whole } }),
    answers: {
      claimable: false,
      code: "task_delegated",
      explanation: 'Task "whole" is delegated by ann: it waits for "part" (open).',
    },
  },
  {
    does: "shows the tree a task is in",
    operation: "get_task_chain",
    given: async (at) => ({ input: { task_id: (await delegated(at)).part } }),
    answers: {
      root_id: "task 1",
      total_count: 2,
      chain: [
        { id: "task 1", depth: 0, status: "delegated", delegated: false },
        { id: "<id>", depth: 1, status: "open", delegated: true, parent_task_id: "task 1" },
      ],
    },
  },
  {
    does: "makes a task a part of another (R25)",
    operation: "create_task",
    given: async (at) => {
      const { id } = await at.task({ content: "whole" });
      return { input: { content: "part", project_id: at.project, parent_task_id: id } };
    },
    answers: { id: "<id>", ready: true, parent_task_id: "task 1" },
  },
];
