import type { Actor, FreshStore } from "../support/fresh-store.js";

/** A task, who tries to claim it (B), and who may stand in the way (A). */
export interface Scene {
  fresh: FreshStore;
  ann: Actor;
  ben: Actor;
  id: string;
}
export interface State {
  readonly name: string;
  readonly make: (scene: Scene) => Promise<unknown>;
  /** The refusal that B gets; null where B could claim. */
  readonly code: string | null;
  readonly ready: boolean;
  readonly details?: (scene: Scene) => object;
}

/** A task that the lists below don't speak of: it may be ready itself. */
async function elsewhere(fresh: FreshStore, made: object = {}) {
  await fresh.ask("create_project", { key: "elsewhere" }, fresh.root);
  return fresh.task({ content: "before", project_id: "elsewhere", ...made });
}

/** A holds the task and gives a part of it away, into a project the lists don't speak of. */
async function delegatedBy({ fresh, ann, id }: Scene) {
  await fresh.ask("create_project", { key: "elsewhere" }, fresh.root);
  await fresh.claim(id, ann);
  return fresh.ask("delegate_task", { task_id: id, content: "a part", project_id: "elsewhere" }, ann);
}

/** What keeps a task from being claimed until something else has happened: blockers, and parts given to others. */
export const WAITING: readonly State[] = [
  {
    name: "blocked by an open task",
    make: async ({ fresh, id }) => {
      const blocker = await elsewhere(fresh);
      await fresh.ask("add_dependencies", { task_id: id, depends_on: [blocker.id] }, fresh.root);
    },
    code: "task_blocked",
    ready: false,
    details: () => ({ blockers: [{ content: "before", status: "open" }], blockers_count: 1 }),
  },
  {
    name: "stalled by a task that lapsed on its last attempt",
    make: async ({ fresh, ann, id }) => {
      const blocker = await elsewhere(fresh, { max_attempts: 1 });
      await fresh.ask("add_dependencies", { task_id: id, depends_on: [blocker.id] }, fresh.root);
      await fresh.claim(blocker.id, ann, { lease_seconds: 30 });
      fresh.time.pass(30_000);
    },
    code: "task_blocked",
    ready: false,
    details: () => ({ blockers: [{ content: "before", status: "failed" }] }),
  },
  {
    name: "all it waited for is completed",
    make: async ({ fresh, ann, id }) => {
      const blocker = await elsewhere(fresh);
      await fresh.ask("add_dependencies", { task_id: id, depends_on: [blocker.id] }, fresh.root);
      await fresh.claim(blocker.id, ann);
      await fresh.ask("complete_task", { task_id: blocker.id }, ann);
    },
    code: null,
    ready: true,
  },
  {
    name: "delegated by A",
    make: delegatedBy,
    code: "task_delegated",
    ready: false,
    details: () => ({ children: [{ content: "a part", status: "open" }], children_count: 1 }),
  },
  {
    name: "delegated by A, and its part failed",
    make: async (scene) => {
      const { fresh, ann } = scene;
      const part = await delegatedBy(scene);
      await fresh.claim(part.id, ann);
      await fresh.ask("fail_task", { task_id: part.id, reason: "can't be done" }, ann);
    },
    code: "task_delegated",
    ready: false,
    details: () => ({ children: [{ content: "a part", status: "failed" }] }),
  },
  {
    name: "delegated by A, and scheduled since: the first cause is told",
    make: async (scene) => {
      await delegatedBy(scene);
      await scene.fresh.ask(
        "update_task",
        { task_id: scene.id, not_before: scene.fresh.time.iso(60_000) },
        scene.fresh.root,
      );
    },
    code: "task_delegated",
    ready: false,
  },
  {
    name: "delegated by A, and its part is completed: it is A's",
    make: async (scene) => {
      const { fresh, ann } = scene;
      const part = await delegatedBy(scene);
      await fresh.claim(part.id, ann);
      await fresh.ask("complete_task", { task_id: part.id }, ann);
    },
    code: "task_assigned",
    ready: true,
    details: ({ ann }) => ({ assigned_to_agent_id: ann.id }),
  },
  {
    name: "blocked, scheduled and assigned to A: the first cause is told",
    make: async ({ fresh, ann, id }) => {
      const blocker = await elsewhere(fresh);
      const all = { assigned_to_agent_id: ann.id, not_before: fresh.time.iso(60_000), depends_on: [blocker.id] };
      return fresh.ask("update_task", { task_id: id, ...all }, fresh.root);
    },
    code: "task_scheduled",
    ready: false,
  },
  {
    name: "blocked and assigned to A: the first cause is told",
    make: async ({ fresh, ann, id }) => {
      const blocker = await elsewhere(fresh);
      const both = { assigned_to_agent_id: ann.id, depends_on: [blocker.id] };
      return fresh.ask("update_task", { task_id: id, ...both }, fresh.root);
    },
    code: "task_blocked",
    ready: false,
  },
];
