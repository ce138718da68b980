import { expect, test } from "vitest";
import { limit, rounds } from "../support/campaign.js";
import { type Actor, FreshStore } from "../support/fresh-store.js";

const GRANTS = ["scope.claimed", "task.claimed"];

test(
  "a hold placed while three nodes, or processes, claim what it freezes: nothing is granted behind it (R41)",
  async () => {
    const fresh = await FreshStore.open();
    const stores = [fresh.store, await fresh.another(), await fresh.another()];
    const agents: Actor[] = [];
    for (let nth = 0; nth < 6; nth += 1) agents.push(await fresh.worker(`agent-${nth}`));
    for (let round = 0; round < rounds(10, 200); round += 1) {
      const root = `path:round-${round}`;
      const tasks = Array.from({ length: 12 }, (_, nth) => ({ content: "x", scopes: [`${root}/task-${nth}`] }));
      await fresh.ask("create_tasks", { tasks }, fresh.root);
      const refused = new Set<string>();
      const claiming = agents.map(async (agent, nth) => {
        const on = stores[nth % stores.length];
        for (let turn = 0; turn < 4; turn += 1) {
          const scopes = [`${root}/name-${nth}-${turn}`];
          const claims = [
            fresh.ask("claim_scopes", { scopes, intent: "race" }, agent, on),
            fresh.ask("claim_next_task", {}, agent, on),
          ];
          for (const each of await Promise.allSettled(claims))
            if (each.status === "rejected") refused.add(each.reason.code);
        }
      });
      const on = stores[round % stores.length];
      const placing = fresh.ask("place_hold", { scope: root, reason: "race", ttl_seconds: 600 }, fresh.root, on);
      const [{ id }] = await Promise.all([placing, ...claiming]);
      expect([...refused]).toEqual(["frozen"]);
      const events = await fresh.ask("list_events", { newest: true, limit: 1000 }, fresh.root);
      const behind = events.slice(events.findIndex(({ data }) => data.hold_id === id));
      expect(behind[0]?.type).toBe("hold.placed");
      expect(behind.filter(({ type }) => GRANTS.includes(type))).toEqual([]);
    }
    for (const store of stores.slice(1)) await store.close();
  },
  limit(60_000),
);
