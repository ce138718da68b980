import { describe, expect, test } from "vitest";
import { limit, rounds } from "../support/campaign.js";
import { type Actor, FreshStore } from "../support/fresh-store.js";
import { CHAIN } from "../support/scope-chain.js";

/** Field reports here: C04 (two overlapping claims at one instant). */

describe("sessions that reach at one instant for scopes along one chain (R31, R32)", () => {
  test(
    "of three nodes, or processes, one alone wins each round when it is to be exclusive; all when shared",
    async () => {
      const fresh = await FreshStore.open();
      const stores = [fresh.store, await fresh.another(), await fresh.another()];
      const agents: Actor[] = [];
      for (let nth = 0; nth < CHAIN.length; nth += 1) agents.push(await fresh.worker(`agent-${nth}`));
      const fences: number[] = [];
      const mixed = false;
      const round = async (mode: "exclusive" | "shared") => {
        const claims = await Promise.allSettled(
          agents.map((agent, nth) => {
            const own = CHAIN[nth] as string;
            const input = { scopes: mixed && nth % 2 ? [`port:${nth}`, own] : [own], mode, intent: "race" };
            return fresh.ask("claim_scopes", input, agent, stores[nth % stores.length]);
          }),
        );
        const all = claims.flatMap((each) => (each.status === "fulfilled" ? each.value.claims : []));
        const granted = all.filter(({ kind }) => kind === "path");
        const codes = claims.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
        fences.push(...granted.map(({ fence }) => fence).sort((a, b) => a - b));
        const open = await fresh.ask("list_claims", { kind: "path" }, fresh.root);
        expect(open.map(({ id }) => id).sort()).toEqual(granted.map(({ id }) => id).sort());
        for (const agent of agents) await fresh.ask("release_scopes", { all: true }, agent);
        return { granted: granted.length, codes: [...new Set(codes)] };
      };
      for (let nth = 0; nth < rounds(20, 200); nth += 1)
        expect(await round("exclusive")).toEqual({ granted: 1, codes: ["scope_conflict"] });
      for (let nth = 0; nth < rounds(5, 50); nth += 1)
        expect(await round("shared")).toEqual({ granted: CHAIN.length, codes: [] });
      expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
      for (const store of stores.slice(1)) await store.close();
    },
    limit(120_000),
  );
});

describe("sessions that reach at one instant for a name with places (R32)", () => {
  test(
    "of three nodes, or processes, as many win as there are places, by themselves and for tasks",
    async () => {
      const fresh = await FreshStore.open();
      const stores = [fresh.store, await fresh.another(), await fresh.another()];
      const agents: Actor[] = [];
      for (let nth = 0; nth < 8; nth += 1) agents.push(await fresh.worker(`agent-${nth}`));
      const capacity = 3;
      await fresh.ask("set_scope_capacity", { scope: "slot:gpu", capacity }, fresh.root);
      for (let nth = 0; nth < rounds(20, 200); nth += 1) {
        for (let task = 0; task < 4; task += 1) await fresh.task({ scopes: ["slot:gpu"] });
        const won = await Promise.allSettled(
          agents.map((agent, at) => {
            const on = stores[(at + nth) % stores.length];
            return at % 2 === 0
              ? fresh.ask("claim_scopes", { scopes: ["slot:gpu"], intent: "race" }, agent, on)
              : fresh.ask("claim_next_task", {}, agent, on);
          }),
        );
        const lost = won.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
        expect([...new Set(lost)].filter((code) => code !== "scope_conflict")).toEqual([]);
        const held = await fresh.ask("list_claims", { kind: "slot" }, fresh.root);
        expect(held).toHaveLength(capacity);
        for (const agent of agents) await fresh.ask("release_scopes", { all: true }, agent);
        for (const task of await fresh.ask("list_tasks", {}, fresh.root)) {
          if (task.status === "claimed")
            await fresh.ask("force_release_task", { task_id: task.id, reason: "next" }, fresh.root);
          if (["open", "claimed"].includes(task.status))
            await fresh.ask("delete_task", { task_id: task.id }, fresh.root);
        }
      }
      for (const store of stores.slice(1)) await store.close();
    },
    limit(120_000),
  );
});
