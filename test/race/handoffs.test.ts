import { describe, expect, test } from "vitest";
import { limit, rounds } from "../support/campaign.js";
import { type Actor, FreshStore } from "../support/fresh-store.js";

describe("sessions that accept one handoff at one instant (R39)", () => {
  test(
    "of three nodes, or processes: one has it, the others are told who; a task never stands in the queue",
    async () => {
      const fresh = await FreshStore.open();
      const stores = [fresh.store, await fresh.another(), await fresh.another()];
      const ann = await fresh.worker("ann");
      const ben = await fresh.agent("ben");
      const sessions: Actor[] = [];
      for (let nth = 0; nth < 6; nth += 1) sessions.push(await fresh.session(ben));
      const thief = await fresh.worker("thief");
      const race = async (handoff: { id: string }) => {
        const answers = await Promise.allSettled([
          ...sessions.map((as, nth) => fresh.ask("accept_handoff", { handoff_id: handoff.id }, as, stores[nth % 3])),
          ...stores.map((store) => fresh.ask("claim_next_task", {}, thief, store)),
        ]);
        const accepted = answers.slice(0, 6).flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
        const lost = answers.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
        expect(accepted).toHaveLength(1);
        const winner = accepted[0] as { accepted_by_session_id: string; lease_id: string };
        expect(lost.map(({ code, details }) => [code, details.holder?.session_id])).toEqual(
          Array(5).fill(["handoff_taken", winner.accepted_by_session_id]),
        );
        expect(answers.slice(6)).toMatchObject(Array(3).fill({ value: { task: null } }));
        return winner;
      };
      for (let nth = 0; nth < rounds(10, 100); nth += 1) {
        const { id } = await fresh.task({ scopes: ["path:src"] });
        await fresh.claim(id, ann);
        const { lease_id } = await race(await fresh.ask("handoff_task", { task_id: id, to_agent_id: ben.id }, ann));
        const task = await fresh.read(id);
        expect(task).toMatchObject({ lease_id, attempts: 1, fence: 2 });
        expect(await fresh.ask("list_claims", { kind: "path" }, fresh.root)).toMatchObject([{ task_id: id }]);
        await fresh.ask("force_release_task", { task_id: id, reason: "next" }, fresh.root);
        await fresh.ask("cancel_task", { task_id: id }, fresh.root);

        const { claims } = await fresh.ask("claim_scopes", { scopes: ["path:src"], intent: "race" }, ann);
        const claim_id = claims[0]?.id as string;
        const { lease_id: granted } = await race(
          await fresh.ask("handoff_claim", { claim_id, to_agent_id: ben.id }, ann),
        );
        expect(await fresh.ask("list_claims", { kind: "path" }, fresh.root)).toMatchObject([{ id: granted }]);
        for (const session of sessions) await fresh.ask("release_scopes", { all: true }, session);
      }
      for (const store of stores.slice(1)) await store.close();
    },
    limit(120_000),
  );

  test(
    "acceptance, release and renewal at one instant: the lease goes on or ends, never both",
    async () => {
      const fresh = await FreshStore.open();
      const stores = [fresh.store, await fresh.another(), await fresh.another()];
      const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
      for (let nth = 0; nth < rounds(20, 200); nth += 1) {
        const { id } = await fresh.task();
        const { lease_id } = await fresh.claim(id, ann);
        const { id: handoff_id } = await fresh.ask("handoff_task", { task_id: id, to_agent_id: ben.id }, ann);
        const proof = { task_id: id, lease_id: lease_id as string };
        const [accepted, released] = await Promise.allSettled([
          fresh.ask("accept_handoff", { handoff_id }, ben, stores[nth % 3]),
          fresh.ask("release_task", proof, ann, stores[(nth + 1) % 3]),
          fresh.ask("heartbeat_task", proof, ann, stores[(nth + 2) % 3]),
        ]);
        expect(accepted.status === "fulfilled").toBe(released.status === "rejected");
        const holder = accepted.status === "fulfilled" ? ben.id : null;
        expect(await fresh.read(id)).toMatchObject({ claimed_by_agent_id: holder });
        await fresh.ask("cancel_task", { task_id: id }, holder === null ? fresh.root : ben);
      }
      for (const store of stores.slice(1)) await store.close();
    },
    limit(120_000),
  );
});
