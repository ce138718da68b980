import type { Actor, FreshStore } from "../support/fresh-store.js";
import { FROZEN } from "./frozen-states.js";
import { type State, WAITING } from "./waiting-states.js";

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
  ...WAITING,
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
    name: "its scopes are held by A",
    make: async ({ fresh, ann, id }) => {
      await fresh.ask("claim_scopes", { scopes: ["path:src"], intent: "mine" }, ann);
      await fresh.ask("update_task", { task_id: id, scopes: ["path:src/a"] }, fresh.root);
    },
    code: "scope_conflict",
    ready: true,
    details: ({ ann }) => ({
      conflicts: [{ requested: "path:src/a", holder: { agent_id: ann.id, scope: "path:src" } }],
    }),
  },
  {
    name: "assigned to A, and its scopes are held by A: the first cause is told",
    make: async ({ fresh, ann, id }) => {
      await fresh.ask("claim_scopes", { scopes: ["path:src"], intent: "mine" }, ann);
      const both = { assigned_to_agent_id: ann.id, scopes: ["path:src/a"] };
      await fresh.ask("update_task", { task_id: id, ...both }, fresh.root);
    },
    code: "task_assigned",
    ready: true,
  },
  ...FROZEN,
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
