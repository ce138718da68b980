import type { Input } from "../support/fresh-store.js";
import type { Scene, State } from "./waiting-states.js";

/** A coordinator freezes something; the task touches `path:src/a`. */
async function freeze({ fresh, id }: Scene, hold: Partial<Input<"place_hold">>, task: object = {}) {
  await fresh.ask("update_task", { task_id: id, scopes: ["path:src/a"], ...task }, fresh.root);
  return fresh.ask("place_hold", { reason: "release", ttl_seconds: 60, ...hold }, fresh.root);
}

/** What a hold makes of a task (R41). */
export const FROZEN: readonly State[] = [
  {
    name: "frozen by its scopes",
    make: (scene) => freeze(scene, { scope: "path:src" }),
    code: "frozen",
    ready: false,
    details: () => ({ holds: [{ scope: "path:src", reason: "release", remaining_ms: 60_000 }] }),
  },
  {
    name: "frozen by its project",
    make: (scene) => freeze(scene, { project: true }),
    code: "frozen",
    ready: false,
    details: () => ({ holds: [{ scope: null }] }),
  },
  {
    name: "frozen, and B may pass",
    make: (scene) => freeze(scene, { scope: "path:src", allow_agent_ids: [scene.ben.id] }),
    code: null,
    ready: true,
  },
  {
    name: "a hold beside its scopes",
    make: (scene) => freeze(scene, { scope: "path:src/b" }),
    code: null,
    ready: true,
  },
  {
    name: "frozen until now",
    make: async (scene) => {
      await freeze(scene, { scope: "path:src" });
      scene.fresh.time.pass(60_000);
    },
    code: null,
    ready: true,
  },
  {
    name: "frozen 1 ms from now",
    make: async (scene) => {
      await freeze(scene, { scope: "path:src" });
      scene.fresh.time.pass(59_999);
    },
    code: "frozen",
    ready: false,
  },
  {
    name: "frozen, and the hold is lifted",
    make: async (scene) => {
      const { id } = await freeze(scene, { project: true });
      await scene.fresh.ask("lift_hold", { hold_id: id }, scene.fresh.root);
    },
    code: null,
    ready: true,
  },
  {
    name: "frozen and lapsed",
    make: async (scene) => {
      const { fresh, ann, id } = scene;
      await fresh.claim(id, ann, { lease_seconds: 30 });
      await fresh.ask("place_hold", { project: true, reason: "release", ttl_seconds: 60 }, fresh.root);
      fresh.time.pass(30_000);
    },
    code: "frozen",
    ready: false,
  },
  {
    name: "frozen while A holds it: the first cause is told",
    make: async (scene) => {
      await freeze(scene, { project: true });
      const { fresh, ann, id } = scene;
      const { project_id } = await fresh.read(id);
      const [hold] = await fresh.ask("list_holds", { project_id }, fresh.root);
      await fresh.ask("lift_hold", { hold_id: hold?.id as string }, fresh.root);
      await fresh.claim(id, ann);
      await fresh.ask("place_hold", { project: true, reason: "release", ttl_seconds: 60 }, fresh.root);
    },
    code: "task_claimed",
    ready: false,
  },
  {
    name: "frozen, scheduled and assigned to A: the first cause is told",
    make: (scene) =>
      freeze(
        scene,
        { scope: "path:src" },
        { not_before: scene.fresh.time.iso(60_000), assigned_to_agent_id: scene.ann.id },
      ),
    code: "task_scheduled",
    ready: false,
  },
  {
    name: "frozen, assigned to A, its scopes held by A: the first cause is told",
    make: async (scene) => {
      await scene.fresh.ask("claim_scopes", { scopes: ["path:src"], intent: "mine" }, scene.ann);
      return freeze(scene, { scope: "path:src" }, { assigned_to_agent_id: scene.ann.id });
    },
    code: "frozen",
    ready: false,
  },
];
