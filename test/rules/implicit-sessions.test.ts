import { beforeEach, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** The first call of an agent that names no session opens its implicit one (R13); what the call wrote names it (R50). */

let fresh: FreshStore;
let ann: Actor;
let raw: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  [ann, raw] = [await fresh.worker("ann"), await fresh.agent("raw")];
});

const held = async (scope: string) =>
  (await fresh.ask("claim_scopes", { scopes: [scope], intent: "x" }, ann)).claims?.[0]?.id ?? "";

test.each<[string, () => Promise<unknown>]>([
  ["scope.claimed", () => fresh.ask("claim_scopes", { scopes: ["path:a"], intent: "x" }, raw)],
  [
    "scope.queued",
    async () => {
      await held("path:a");
      return fresh.ask("claim_scopes", { scopes: ["path:a"], intent: "x", wait: true }, raw);
    },
  ],
  [
    "scope.yield_requested",
    async () => fresh.ask("request_yield", { claim_id: await held("path:a"), reason: "x" }, raw),
  ],
  ["task.claimed", async () => fresh.claim((await fresh.task({ scopes: ["path:a"] })).id, raw)],
  ["task.claimed", async () => fresh.task().then(() => fresh.next(raw))],
  [
    "task.handed_off",
    async () => {
      const { id } = await fresh.task({ scopes: ["path:a"] });
      await fresh.claim(id, ann);
      const offer = await fresh.ask("handoff_task", { task_id: id, to_agent_id: raw.id }, ann);
      return fresh.ask("accept_handoff", { handoff_id: offer.id }, raw);
    },
  ],
  [
    "scope.handed_off",
    async () => {
      const offer = await fresh.ask("handoff_claim", { claim_id: await held("path:a"), to_agent_id: raw.id }, ann);
      return fresh.ask("accept_handoff", { handoff_id: offer.id }, raw);
    },
  ],
])("%s names the session that the call opened", async (type, call) => {
  await call();
  const [session] = await fresh.ask("list_sessions", { agent_id: raw.id }, ann);
  expect(session).toMatchObject({ implicit: true });
  const events = await fresh.ask("list_events", { types: [type], limit: 1000 }, ann);
  const theirs = events.filter(({ actor }) => actor?.agent_id === raw.id);
  expect(theirs.map(({ actor }) => actor?.session_id)).toEqual([session?.id]);
});
