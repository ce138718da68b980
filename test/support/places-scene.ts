import { type Actor, FreshStore, type Input } from "./fresh-store.js";

export type PlacesScene = Awaited<ReturnType<typeof placesScene>>;
type Scopes = Input<"claim_scopes">["scopes"];

/** Agents on a store of the test's own who want `slot:gpu`, or other names with places. */
export async function placesScene() {
  const fresh = await FreshStore.open();
  const wanted = (scopes: Scopes, more: object) => ({ scopes, intent: "train", ...more });
  return {
    fresh,
    ann: await fresh.worker("ann"),
    ben: await fresh.worker("ben"),
    cat: await fresh.worker("cat"),
    places: (capacity: number, scope = "slot:gpu") => fresh.ask("set_scope_capacity", { scope, capacity }, fresh.root),
    claim: (as: Actor, scopes: Scopes = ["slot:gpu"], more: object = {}) =>
      fresh.ask("claim_scopes", wanted(scopes, more), as),
    refused: (as: Actor, scopes: Scopes = ["slot:gpu"], more: object = {}) =>
      fresh.refusal("claim_scopes", wanted(scopes, more), as),
    isFree: async (as: Actor, scope = "slot:gpu", more: object = {}) =>
      (await fresh.ask("check_scope", { scope, ...more }, as)).free,
    release: (as: Actor) => fresh.ask("release_scopes", { all: true }, as),
  };
}
