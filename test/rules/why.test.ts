import { describe, expect, test } from "vitest";
import { standingOf } from "../../console/src/standing.js";
import { type Actor, FreshStore } from "../support/fresh-store.js";
import { STATES } from "./states.js";

/** Field reports here: C44, C01, C02. */

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
    const blocked = task.status === "open" && (code === "task_blocked" || task.blocked_by.length > 0);
    expect(await listed({ blocked: true })).toEqual(blocked ? [id] : []);
    const waits = task.stalled ? "stalled" : code === "task_delegated" ? "delegated" : blocked ? "blocked" : null;
    const badge = waits ?? (code === "frozen" ? "frozen" : null);
    expect(task.frozen).toBe(code === "frozen");
    expect(standingOf(task)).toBe(badge);
    expect(await listed({ stalled: true })).toEqual(task.stalled ? [id] : []);
    expect(await listed({ claimed: true })).toEqual(task.status === "claimed" ? [id] : []);
    expect(await listed({ claimed: false })).toEqual(task.status === "open" ? [id] : []);
    expect(await fresh.ask("list_claims", { ...here, kind: "task" }, ben)).toHaveLength(
      task.status === "claimed" ? 1 : 0,
    );
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
    const claimed = await fresh.ask("list_events", { types: ["task.claimed"], limit: 1000 }, fresh.root);
    expect(claimed.map((event) => event.task_id).sort()).toEqual([...ids].sort());
    await other.close();
  });
});
