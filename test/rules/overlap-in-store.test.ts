import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";
import { ScopeUniverse } from "../support/scope-universe.js";

/**
 * What the store finds beside a name, by its indexes and its own order of bytes, is what the rule over enumerated names says
 * (R31): letters of one to four bytes, and such as sort before and behind the slash.
 */
const LETTERS = ["a", "a!", "ä", "語", "😀"];
const sequences = (of: readonly string[], longest: number): string[][] =>
  longest === 0
    ? [[]]
    : sequences(of, longest - 1).flatMap((head) =>
        head.length < longest - 1 ? [head] : [head, ...of.map((each) => [...head, each])],
      );
const universe = new ScopeUniverse(
  "path",
  sequences([...LETTERS, "*", "a*", "**"], 3).filter((segments) => segments.length > 0),
  // A literal of three segments and a pattern of two behind `**` meet in a name of five.
  sequences(LETTERS, 5).filter((segments) => segments.length > 0),
);
const HELD = 90;
const ASKED = 180;

/** Places in the universe, spread over it, others in each run. */
function some(count: number, from: number): number[] {
  const step = Math.floor(universe.scopes.length / count);
  return Array.from({ length: count }, (_, nth) => (from + nth * step) % universe.scopes.length);
}

describe("the store finds what overlaps, and nothing else", () => {
  let fresh: FreshStore;
  let ben: Actor;
  const seed = Date.now() % universe.scopes.length;
  const held = some(HELD, seed);
  const asked = some(ASKED, seed + 1);
  const text = (at: number) => universe.scope(at).text;
  const overlapping = (at: number) =>
    held.filter((other) => universe.commonName(at, other) !== undefined).map((other) => text(other));
  beforeEach(async () => {
    fresh = await FreshStore.open();
    ben = await fresh.worker("ben");
    const ann = await fresh.worker("ann");
    const scopes = held.map(text);
    await fresh.ask("claim_scopes", { scopes, mode: "shared", intent: "x" }, ann);
  });

  test("of one name asked alone", async () => {
    let met = 0;
    for (const at of asked) {
      const { conflicts } = await fresh.ask("check_scope", { scope: text(at) }, ben);
      expect(conflicts.map(({ scope }) => scope).sort(), `${text(at)}, seed ${seed}`).toEqual(overlapping(at).sort());
      met += conflicts.length;
    }
    // Neither answer is so rare that a wrong one could hide.
    expect(met).toBeGreaterThan(ASKED);
    expect(met).toBeLessThan((HELD * ASKED) / 2);
  });

  test("of many asked at once", async () => {
    // Not those that begin with a wildcard: beside one of them all is near, and nothing could be missed.
    const many = asked.filter((at) => !text(at).slice(5).split("/")[0]?.includes("*"));
    const refusal = await fresh.refusal("claim_scopes", { scopes: many.map(text), intent: "x" }, ben);
    const conflicts = refusal.conflicts as { requested: string; also_requested: string[]; holder: { scope: string } }[];
    const found = conflicts.flatMap(({ requested, also_requested, holder }) =>
      [requested, ...also_requested].map((each) => `${each} ${holder.scope}`),
    );
    const expected = many.flatMap((at) => overlapping(at).map((other) => `${text(at)} ${other}`));
    expect(found.sort(), `seed ${seed}`).toEqual(expected.sort());
  });
});

const a = (count: number) => "a".repeat(count);
describe("names at the bounds of the grammar are held as any other (R29)", () => {
  test.each([
    ["64 segments", `path:${Array(64).fill("a").join("/")}`],
    ["1,024 bytes", `path:${[a(254), a(254), a(254), a(254)].join("/")}`],
    ["a segment of 255 bytes", `branch:${a(255)}`],
    ["a segment of 255 bytes in letters of three", `path:${"語".repeat(85)}/x`],
    [
      "1,024 bytes in letters of four",
      `path:${Array(4)
        .fill(`${"😀".repeat(63)}aa`)
        .join("/")}`,
    ],
    ["one character", "port:1"],
    ["what looks special and isn't", "path:[a]/@b/+c/#d/e f/..."],
  ])("%s", async (_what, scope) => {
    expect(Buffer.byteLength(scope)).toBeLessThanOrEqual(1024);
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    await fresh.ask("claim_scopes", { scopes: [scope], intent: "x" }, ann);
    expect(await fresh.ask("list_claims", { scope }, ben)).toMatchObject([{ scope, agent_name: "ann" }]);
    expect(await fresh.refusal("claim_scopes", { scopes: [scope], intent: "x" }, ben)).toMatchObject({
      code: "scope_conflict",
      conflicts: [{ requested: scope, holder: { scope } }],
    });
    expect(await fresh.refusal("claim_scopes", { scopes: [`${scope}${a(256)}`], intent: "x" }, ben)).toMatchObject({
      code: "invalid_scope",
    });
    expect((await fresh.ask("release_scopes", { scopes: [scope] }, ann)).released).toBe(1);
    await fresh.ask("claim_scopes", { scopes: [scope], intent: "x" }, ben);
  });
});
