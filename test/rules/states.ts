import type { Actor, FreshStore } from "../support/fresh-store.js";

/** A task, who tries to claim it (B), and who may stand in the way (A). */
interface Scene {
  fresh: FreshStore;
  ann: Actor;
  ben: Actor;
  id: string;
}
interface State {
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

const done = (fresh: FreshStore, id: string, ann: Actor) => fresh.claim(id, ann);
/** What a task can be when somebody wants it, and what that somebody is told. */
export const STATES: readonly State[] = [
  { name: "fresh", make: async () => {}, code: null, ready: true },
  {
    name: "held by A",
    make: ({ fresh, ann, id }) => fresh.claim(id, ann),
    code: "task_claimed",
    ready: false,
    details: ({ ann, id }) => ({
      holder: { agent_id: ann.id, session_id: ann.sessionId, intent: "a task", task_id: id },
    }),
  },
  {
    name: "held by B itself",
    make: ({ fresh, ben, id }) => fresh.claim(id, ben),
    code: null,
    ready: false,
  },
  {
    name: "lapsed",
    make: async ({ fresh, ann, id }) => {
      await fresh.claim(id, ann, { lease_seconds: 30 });
      fresh.time.pass(30_000);
    },
    code: null,
    ready: true,
  },
  {
    name: "lapsed 1 ms from now",
    make: async ({ fresh, ann, id }) => {
      await fresh.claim(id, ann, { lease_seconds: 30 });
      fresh.time.pass(29_999);
    },
    code: "task_claimed",
    ready: false,
    details: () => ({ holder: { remaining_ms: 1 } }),
  },
  {
    name: "lapsed on its last attempt",
    make: async ({ fresh, ann, id }) => {
      await fresh.ask("update_task", { task_id: id, max_attempts: 1 }, fresh.root);
      await fresh.claim(id, ann, { lease_seconds: 30 });
      fresh.time.pass(30_000);
    },
    code: "task_closed",
    ready: false,
    details: ({ fresh }) => ({ status: "failed", by: null, at: fresh.time.iso() }),
  },
  {
    name: "lapsed after a request to cancel",
    make: async ({ fresh, ann, id }) => {
      await fresh.claim(id, ann, { lease_seconds: 30 });
      await fresh.ask("cancel_task", { task_id: id }, fresh.root);
      fresh.time.pass(30_000);
    },
    code: "task_closed",
    ready: false,
    details: ({ fresh }) => ({ status: "cancelled", by: fresh.root.id, at: fresh.time.iso() }),
  },
  {
    name: "its holder's session fell silent",
    make: async ({ fresh, ann, id }) => {
      await fresh.claim(id, ann, { lease_seconds: 3600 });
      fresh.time.pass(899_000);
      await fresh.sweep();
      fresh.time.pass(1_000);
    },
    code: null,
    ready: true,
  },
  {
    name: "released",
    make: async ({ fresh, ann, id }) => {
      await fresh.claim(id, ann);
      await fresh.ask("release_task", { task_id: id }, ann);
    },
    code: null,
    ready: true,
  },
  {
    name: "scheduled for later",
    make: ({ fresh, id }) => fresh.ask("update_task", { task_id: id, not_before: fresh.time.iso(60_000) }, fresh.root),
    code: "task_scheduled",
    ready: false,
    details: ({ fresh }) => ({ not_before: fresh.time.iso(60_000) }),
  },
  {
    name: "scheduled for now",
    make: async ({ fresh, id }) => {
      await fresh.ask("update_task", { task_id: id, not_before: fresh.time.iso(60_000) }, fresh.root);
      fresh.time.pass(60_000);
    },
    code: null,
    ready: true,
  },
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
  {
    name: "assigned to A",
    make: ({ fresh, ann, id }) => fresh.ask("update_task", { task_id: id, assigned_to_agent_id: ann.id }, fresh.root),
    code: "task_assigned",
    ready: true,
    details: ({ ann }) => ({ assigned_to_agent_id: ann.id }),
  },
  {
    name: "assigned to B",
    make: ({ fresh, ben, id }) => fresh.ask("update_task", { task_id: id, assigned_to_agent_id: ben.id }, fresh.root),
    code: null,
    ready: true,
  },
  {
    name: "scheduled and assigned to A: the first cause is told",
    make: ({ fresh, ann, id }) => {
      const both = { assigned_to_agent_id: ann.id, not_before: fresh.time.iso(60_000) };
      return fresh.ask("update_task", { task_id: id, ...both }, fresh.root);
    },
    code: "task_scheduled",
    ready: false,
  },
  {
    name: "assigned to A and held by A: the first cause is told",
    make: async ({ fresh, ann, id }) => {
      await fresh.ask("update_task", { task_id: id, assigned_to_agent_id: ann.id }, fresh.root);
      await fresh.claim(id, ann);
    },
    code: "task_claimed",
    ready: false,
  },
  {
    name: "completed",
    make: async ({ fresh, ann, id }) => {
      await done(fresh, id, ann);
      await fresh.ask("complete_task", { task_id: id }, ann);
    },
    code: "task_closed",
    ready: false,
    details: ({ fresh, ann }) => ({ status: "completed", by: ann.id, at: fresh.time.iso() }),
  },
  {
    name: "failed",
    make: async ({ fresh, ann, id }) => {
      await done(fresh, id, ann);
      await fresh.ask("fail_task", { task_id: id, reason: "can't be done" }, ann);
    },
    code: "task_closed",
    ready: false,
    details: ({ ann }) => ({ status: "failed", by: ann.id }),
  },
  {
    name: "cancelled while scheduled and assigned",
    make: async ({ fresh, ann, id }) => {
      const both = { assigned_to_agent_id: ann.id, not_before: fresh.time.iso(60_000) };
      await fresh.ask("update_task", { task_id: id, ...both }, fresh.root);
      await fresh.ask("cancel_task", { task_id: id }, fresh.root);
    },
    code: "task_closed",
    ready: false,
    details: ({ fresh }) => ({ status: "cancelled", by: fresh.root.id }),
  },
  {
    name: "reopened",
    make: async ({ fresh, ann, id }) => {
      await done(fresh, id, ann);
      await fresh.ask("complete_task", { task_id: id }, ann);
      await fresh.ask("reopen_task", { task_id: id }, fresh.root);
    },
    code: null,
    ready: true,
  },
];
