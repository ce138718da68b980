import { expect } from "vitest";
import type { Row, Stage } from "./stage.js";

const STEPS = [
  { key: "build", content: "build it" },
  { key: "ship", content: "ship it", depends_on: ["build"] },
];

/** A plan of two steps, made by ann. */
async function planned(at: Stage) {
  const plan = await at.ann.dibs.createPlan({ slug: "release", project_id: at.project, steps: STEPS });
  for (const [nth, step] of plan.steps.entries()) at.names.set(step.task_id, `step ${nth + 1}`);
  at.names.set(plan.id, "the plan");
  return { slug: "release", project_id: at.project };
}

const nothing = { completed: 0, in_flight: 0, stalled: 0, scheduled: 0, failed: 0, cancelled: 0 };
const noTasks = async (at: Stage) => expect(await at.ann.dibs.listTasks({ project_id: at.project })).toEqual([]);

/** Plans (R27). */
export const rowsOfPlans: readonly Row[] = [
  {
    does: "creates a plan's steps as tasks that wait for each other",
    operation: "create_plan",
    given: (at) => ({ input: { slug: "release", title: "The release", project_id: at.project, steps: STEPS } }),
    answers: {
      slug: "release",
      title: "The release",
      project_id: "the project",
      steps_created: 2,
      progress: { ...nothing, total: 2, claimable: 1, blocked: 1 },
      claimable_at_once: 1,
      widest_front: 1,
      widest_front_with_scopes: 1,
      steps: [
        { key: "build", ready: true, waits_for: [] },
        { key: "ship", ready: false },
      ],
    },
  },
  {
    does: "changes nothing when the same plan comes again",
    operation: "create_plan",
    given: async (at) => ({ input: { ...(await planned(at)), steps: [...STEPS].reverse() } }),
    answers: { id: "the plan", steps_created: 0, steps: [{ task_id: "step 1" }, { task_id: "step 2" }] },
  },
  {
    does: "refuses another plan under the same name, and says how it differs",
    operation: "create_plan",
    given: async (at) => ({ input: { ...(await planned(at)), steps: [{ key: "build", content: "other" }] } }),
    refused: {
      code: "already_exists",
      differences: ["step build has another content", "its step ship is missing here"],
    },
  },
  {
    does: "refuses a plan that waits for itself, spelled out, and creates nothing",
    operation: "create_plan",
    given: (at) => ({
      input: {
        slug: "circle",
        project_id: at.project,
        steps: [
          { key: "a", content: "first", depends_on: ["b"] },
          { key: "b", content: "second", depends_on: ["a"] },
        ],
      },
    }),
    refused: {
      code: "dependency_cycle",
      cycle: [
        { id: "a", content: "first" },
        { id: "b", content: "second" },
        { id: "a", content: "first" },
      ],
      cycle_length: 2,
    },
    leaves: noTasks,
  },
  {
    does: "refuses a step that waits for nobody's key, and creates nothing",
    operation: "create_plan",
    given: (at) => ({
      input: {
        slug: "lost",
        project_id: at.project,
        steps: [
          { key: "a", content: "first" },
          { key: "b", content: "second", depends_on: ["a", "nobody"] },
        ],
      },
    }),
    refused: { code: "unknown_dependency", id: "nobody" },
    leaves: noTasks,
  },
  {
    does: "adds steps that wait for those that are there",
    operation: "add_plan_steps",
    given: async (at) => ({
      input: { ...(await planned(at)), steps: [{ key: "tell", content: "tell people", depends_on: ["ship"] }] },
    }),
    answers: { id: "the plan", steps_created: 1, progress: { ...nothing, total: 3, claimable: 1, blocked: 2 } },
  },
  {
    does: "refuses to add to a plan that is not there",
    operation: "add_plan_steps",
    given: (at) => ({ input: { slug: "nope", project_id: at.project, steps: STEPS } }),
    refused: { code: "not_found" },
  },
  {
    does: "reads how far a plan is, and what bounds it",
    operation: "get_plan",
    given: async (at) => {
      const named = await planned(at);
      const { task } = await at.ann.dibs.claimNextTask(
        named.slug === "release" ? { project_id: at.project, plan: "release" } : {},
      );
      await at.ann.dibs.completeTask({ task_id: task?.id as string });
      return { input: named };
    },
    answers: {
      progress: { ...nothing, total: 2, completed: 1, claimable: 1, blocked: 0 },
      critical_path: ["step 2"],
      steps: [
        { key: "build", status: "completed" },
        { key: "ship", ready: true, waits_for: ["step 1"] },
      ],
    },
  },
  {
    does: "refuses to read a plan that is not there",
    operation: "get_plan",
    given: (at) => ({ input: { slug: "nope", project_id: at.project } }),
    refused: { code: "not_found" },
  },
  {
    does: "lists plans with how far they are",
    operation: "list_plans",
    given: async (at) => {
      await planned(at);
      return { input: { project_id: at.project } };
    },
    answers: [{ id: "the plan", slug: "release", progress: { ...nothing, total: 2, claimable: 1, blocked: 1 } }],
  },
  {
    does: "draws a plan as a graph",
    operation: "get_plan_graph",
    given: async (at) => ({ input: { ...(await planned(at)), format: "json" } }),
    answers: {
      format: "json",
      text: null,
      nodes: [
        { task_id: "step 1", in_plan: true },
        { task_id: "step 2", in_plan: true },
      ],
      edges: [{ from: "step 1", to: "step 2" }],
    },
  },
  {
    does: "draws a plan for Mermaid",
    operation: "get_plan_graph",
    given: async (at) => ({ input: { ...(await planned(at)), format: "mermaid" } }),
    answers: {
      format: "mermaid",
      text: expect.stringMatching(/^flowchart TD\n {2}n0\["build it · ready"\]:::ready\n/),
    },
  },
  {
    does: "claims the next step of a plan",
    operation: "claim_next_task",
    given: async (at) => {
      await at.task({ content: "other", priority: 4 });
      await planned(at);
      return { input: { project_id: at.project, plan: "release" } };
    },
    answers: { task: { id: "step 1", content: "build it", plan: "release" } },
  },
  {
    does: "refuses to claim from a plan that is not there",
    operation: "claim_next_task",
    given: (at) => ({ input: { project_id: at.project, plan: "nope" } }),
    refused: { code: "not_found" },
  },
  {
    does: "refuses to move a plan's step to another project",
    operation: "update_task",
    given: async (at) => {
      await planned(at);
      const [step] = await at.ann.dibs.listTasks({ project_id: at.project, plan: "release" });
      return { input: { task_id: step?.id, project_id: "default" } };
    },
    refused: { code: "invalid_input" },
  },
];
