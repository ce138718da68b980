import { describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** Field reports here: C44 (as far as tasks without holds go), C01, C02. */

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

const done = (fresh: FreshStore, id: string, ann: Actor) => fresh.claim(id, ann);
const STATES: readonly State[] = [
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

describe("everything that speaks of a task agrees in the same millisecond (R14, R17)", () => {
  test.each(STATES)("C44: $name", async ({ make, code, ready, details }) => {
    const fresh = await FreshStore.open();
    // A's session falls silent after 900 s, B's lives through all of it.
    const ann = await fresh.worker("ann");
    const ben = await fresh.session(await fresh.agent("ben"), { ttl_seconds: 86_400 });
    const { id } = await fresh.task();
    const scene = { fresh, ann, ben, id };
    await make(scene);
    const here = { project_id: "default" };
    const task = await fresh.read(id, ben);
    expect(task.ready).toBe(ready);
    const listed = async (filter: object) =>
      (await fresh.ask("list_tasks", { ...filter, ...here }, ben)).map((each) => each.id);
    expect(await listed({ ready: true })).toEqual(ready ? [id] : []);
    expect(await listed({ ready: false })).toEqual(ready ? [] : [id]);
    expect(await listed({ status: task.status })).toEqual([id]);
    const blocked = code === "task_blocked" || task.blocked_by.length > 0;
    expect(await listed({ blocked: true })).toEqual(blocked ? [id] : []);
    expect(await listed({ stalled: true })).toEqual(task.stalled ? [id] : []);
    expect(await listed({ claimed: true })).toEqual(task.status === "claimed" ? [id] : []);
    expect(await listed({ claimed: false })).toEqual(task.status === "open" ? [id] : []);
    expect(await fresh.ask("list_claims", here, ben)).toHaveLength(task.status === "claimed" ? 1 : 0);
    const why = await fresh.ask("get_task_why", { task_id: id }, ben);
    expect(why).toMatchObject({ code, ready, claimable: code === null });
    expect(why.next.length).toBeGreaterThan(0);
    // Claim-next hands out what is ready and may go to B; what B holds already isn't handed out again.
    const nextIds = code === null && ready ? [id] : [];
    if (code === null) {
      const { tasks = [] } = await fresh.ask("claim_next_task", { count: 1, ...here }, ben);
      expect(tasks.map((each) => each.id)).toEqual(nextIds);
      expect(await fresh.claim(id, ben)).toMatchObject({ claimed_by_agent_id: ben.id });
      return;
    }
    const refused = await fresh.refusal("claim_task", { task_id: id }, ben);
    expect(refused.code).toBe(code);
    expect(refused.message).toBe(why.explanation);
    expect(refused.next).toEqual(why.next);
    expect(refused).toMatchObject(details?.(scene) ?? {});
    expect(why.details).toMatchObject(details?.(scene) ?? {});
    expect(await fresh.next(ben, here)).toBeNull();
    // The refused claim changed nothing.
    expect(await fresh.read(id, ben)).toEqual(task);
  });

  test("an id that isn't there is not found, by claim and by why", async () => {
    const fresh = await FreshStore.open();
    for (const name of ["claim_task", "get_task_why", "get_task"] as const) {
      expect(await fresh.refusal(name, { task_id: "f".repeat(32) }, fresh.root)).toMatchObject({ code: "not_found" });
    }
  });
});

describe("claims at one instant", () => {
  test("C01: eight claim one named task; one gets it, seven learn who did, 50 rounds", async () => {
    const fresh = await FreshStore.open();
    const agents = [];
    for (let n = 1; n <= 8; n += 1) agents.push(await fresh.worker(`a${n}`));
    const other = await fresh.another();
    for (let round = 0; round < 50; round += 1) {
      const { id } = await fresh.task();
      // Half of them through another process on the same file.
      const claims = agents.map((agent, at) =>
        fresh.ask("claim_task", { task_id: id }, agent, at % 2 === 0 ? fresh.store : other),
      );
      const results = await Promise.allSettled(claims);
      const granted = results.filter((each) => each.status === "fulfilled");
      const refused = results.filter((each) => each.status === "rejected").map((each) => each.reason);
      expect(granted).toHaveLength(1);
      const holder = granted[0]?.value.task;
      for (const { code, details } of refused) {
        expect(code).toBe("task_claimed");
        expect(details.holder).toMatchObject({
          agent_id: holder?.claimed_by_agent_id,
          session_id: holder?.claimed_by_session_id,
          expires_at: holder?.lease_expires_at,
        });
      }
      expect(await fresh.read(id)).toMatchObject({ attempts: 1, fence: 1 });
      expect((await fresh.history(id)).filter((type) => type === "task.claimed")).toHaveLength(1);
    }
    await other.close();
  });

  test("C02: 60 claim from 50; 50 different tasks, ten times nothing", async () => {
    const fresh = await FreshStore.open();
    const other = await fresh.another();
    const tasks = Array.from({ length: 50 }, (_, n) => ({ content: `T${n}`, priority: 1 + (n % 4) }));
    await fresh.ask("create_tasks", { tasks }, fresh.root);
    const agents = [];
    for (let n = 0; n < 60; n += 1) agents.push(await fresh.worker(`w${n}`));
    const got = await Promise.all(agents.map((agent, at) => fresh.next(agent, {}, at % 2 === 0 ? fresh.store : other)));
    const ids = got.flatMap((task) => (task ? [task.id] : []));
    expect(ids).toHaveLength(50);
    expect(new Set(ids).size).toBe(50);
    expect(await fresh.next(agents[0] as Actor)).toBeNull();
    const all = await fresh.ask("list_tasks", { limit: 1000 }, fresh.root);
    expect(all.every((task) => task.attempts === 1 && task.status === "claimed")).toBe(true);
    await other.close();
  });
});
