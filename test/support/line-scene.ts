import { expect } from "vitest";
import { type Actor, FreshStore, type Input } from "./fresh-store.js";

export type LineScene = Awaited<ReturnType<typeof lineScene>>;

/** Agents on a store of the test's own who claim names and wait for them; `said` goes with each claim. */
export async function lineScene(said: Partial<Input<"claim_scopes">> = {}) {
  const fresh = await FreshStore.open();
  type More = Partial<Input<"claim_scopes">>;
  const wanted = (as: Actor, scopes: string[], more: More) => ({ scopes, intent: `${as.name}'s`, ...said, ...more });
  return {
    fresh,
    ann: await fresh.worker("ann"),
    ben: await fresh.worker("ben"),
    cat: await fresh.worker("cat"),
    dan: await fresh.worker("dan"),
    lead: await fresh.worker("lead", "coordinator"),
    claim: (as: Actor, scopes: string[], more: More = {}) => fresh.ask("claim_scopes", wanted(as, scopes, more), as),
    refused: (as: Actor, scopes: string[], more: More = {}) =>
      fresh.refusal("claim_scopes", wanted(as, scopes, more), as),
    /** Gets into line; its ticket. */
    wait: async (as: Actor, scopes: string[], more: More = {}) => {
      const { status, body } = await fresh.answer("claim_scopes", wanted(as, scopes, { wait: true, ...more }), as);
      expect(status).toBe(202);
      return body.ticket ?? "";
    },
    release: (as: Actor, ...scopes: string[]) => fresh.ask("release_scopes", { scopes }, as),
    ticket: (id: string, as: Actor) => fresh.ask("get_wait", { ticket: id }, as),
    accept: (id: string, as: Actor) => fresh.ask("accept_wait", { ticket: id }, as),
    line: async (more: Input<"list_waits"> = { limit: 1000 }) =>
      (await fresh.ask("list_waits", more, fresh.root)).map(({ agent_name, state }) => `${agent_name} ${state}`),
    held: async () =>
      (await fresh.ask("list_claims", {}, fresh.root)).map(({ scope, agent_name }) => `${scope} ${agent_name}`),
  };
}
