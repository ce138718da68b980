import { expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** Whose overlapping names are held now, as those who hold them say. */
class Touched {
  readonly #held = new Map<string, string>();
  readonly clashes: string[] = [];

  take(who: string, names: readonly string[]): void {
    for (const name of names) {
      const other = this.#held.get(name);
      if (other !== undefined) this.clashes.push(`${who} and ${other} both have ${name}`);
      this.#held.set(name, who);
    }
  }

  drop(names: readonly string[]): void {
    for (const name of names) this.#held.delete(name);
  }
}

/** The leaves that a scope of the test's tree covers. */
const LEAVES: Readonly<Record<string, readonly string[]>> = {
  "path:a": ["a/x", "a/y"],
  "path:a/x": ["a/x"],
  "path:a/y": ["a/y"],
  "path:b": ["b"],
  "port:1": ["1"],
};

test("a dozen sessions on three engines wait for overlapping names in line: each has its turn, no two at once", async () => {
  const fresh = await FreshStore.open({ realTime: true });
  const stores = [fresh.store, await fresh.another(), await fresh.another()];
  const touched = new Touched();
  const names = Object.keys(LEAVES);
  let grants = 0;
  const work = async (actor: Actor, nth: number) => {
    const store = stores[nth % stores.length];
    for (let round = 0; round < 3; round += 1) {
      // Wide and narrow ones, alone and two together, never held while waiting for more.
      const scopes = [names[(nth + round) % names.length], names[(nth * 3 + round) % names.length]] as string[];
      const wanted = { scopes: [...new Set(scopes)], intent: "x", wait: true, wait_seconds: 60, ttl_seconds: 300 };
      const { claims } = await fresh.ask("claim_scopes", wanted, actor, store);
      expect(claims.length, `${actor.name} in round ${round}`).toBeGreaterThan(0);
      const leaves = [...new Set(claims.flatMap(({ scope }) => LEAVES[scope] ?? []))];
      touched.take(actor.name, leaves);
      grants += 1;
      await new Promise((done) => setImmediate(done));
      touched.drop(leaves);
      await fresh.ask("release_scopes", { all: true }, actor, store);
    }
  };
  const actors = await Promise.all(Array.from({ length: 12 }, (_, nth) => fresh.worker(`w${nth}`)));
  await Promise.all(actors.map(work));
  expect(touched.clashes).toEqual([]);
  expect(grants).toBe(12 * 3);
  expect(await fresh.ask("list_waits", {}, fresh.root)).toEqual([]);
  expect(await fresh.ask("list_claims", {}, fresh.root)).toEqual([]);
  for (const store of stores.slice(1)) await store.close();
}, 180_000);
