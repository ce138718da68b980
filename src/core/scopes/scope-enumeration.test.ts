import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rowsOf, ScopeUniverse, textsOf } from "../../../test/support/scope-universe.js";
import { isScopeMistake, parseScope, type ScopeKey } from "../../contract/scope.js";
import { ancestorKeys, indexKey, subtreeRange } from "./scope-keys.js";
import { overlap } from "./scope-overlap.js";

/*
 * Two scopes overlap if and only if a name is covered by both (R31), against all names that can matter. Which can: of a name
 * that both cover, drop every segment that is nobody's but a `**`'s or a subtree's, and in the rest every character that
 * is nobody's but a star's (one stays, where a name needs one); both still cover what remains. So a common name, where
 * there is one, is found among those with as many segments as both scopes have beside `**`, and as many characters in
 * each as both have beside `*`.
 */

const isPattern = (segment: string) => segment.includes("*");
const segmentsOf = (characters: string, max: number) =>
  textsOf(characters, max).filter((text) => text === "**" || !text.includes("**"));

/**
 * Up to four segments of a few. Names: two literals share one of 4 segments at most, else a scope with `**` has 3 beside it,
 * and the other 4; what any two of these segments have in common is among a, b and ab.
 */
const deep = new ScopeUniverse("path", rowsOf(["a", "b", "ab", "*", "a*", "*b", "**"], 4), rowsOf(["a", "b", "ab"], 7));
/**
 * Up to two segments of up to three characters. Names: 2 and 2 characters beside `*` in up to two segments; three segments
 * where a literal has 2 and the other 1 beside `**`, none of which meet, so 3 characters in each.
 */
const wide = new ScopeUniverse("path", rowsOf(segmentsOf("ab*", 3), 2), [
  ...rowsOf(textsOf("ab", 4), 2),
  ...rowsOf(textsOf("ab", 3), 3).filter((name) => name.length === 3),
]);

const right = (text: string) => !isScopeMistake(parseScope(text));
/** What is valid depends on the neighbours: no `.`, no `..`, no space at an end. One more character keeps them apart. */
const awkward = new ScopeUniverse(
  "path",
  segmentsOf("a. *", 3).flatMap((text) => (right(`path:${text}`) ? [[text]] : [])),
  textsOf("a. ", 5).flatMap((text) => (right(`path:${text}`) ? [[text]] : [])),
);
/**
 * One segment with slashes: at most one slash and three characters beside stars in each scope, so six in a name, and up to
 * three that keep slashes off each other and the ends.
 */
const branches = new ScopeUniverse(
  "branch",
  segmentsOf("ab/*", 4).flatMap((text) => (right(`branch:${text}`) ? [[text]] : [])),
  textsOf("ab/", 9).flatMap((text) => (/^\/|\/\/|\/$/.test(text) ? [] : [[text]])),
);

/** Throws where an answer about two scopes is wrong; says whether they overlap. */
function check(universe: ScopeUniverse, a: number, b: number): boolean {
  const [one, other] = [universe.scope(a), universe.scope(b)];
  const common = universe.commonName(a, b);
  const right = common !== undefined;
  const wrong = [
    overlap(one.key, other.key) !== right && "as overlap says",
    overlap(other.key, one.key) !== right && "as overlap says the other way round",
    // Of literal scopes the keys alone decide, of others they may find too many.
    (right || !isPattern(one.text + other.text)) && isCandidate(one.key, other.key) !== right && "by their keys",
  ].filter((each) => each !== false);
  if (wrong.length === 0) return right;
  throw new Error(`${one.text} and ${other.text} share ${common ?? "no name"}; not so ${wrong.join(", nor ")}`);
}

/** What a store's two index steps find. All keys are ASCII here, whose order in JavaScript is that of its bytes. */
function isCandidate(asked: ScopeKey, held: ScopeKey): boolean {
  const [by, key] = [indexKey(asked), indexKey(held)];
  const { from, below } = subtreeRange(by);
  return (from <= key && key < below) || ancestorKeys(by).includes(key);
}

describe("two scopes overlap where some enumerated name is covered by both (R31)", () => {
  const pairs = fc.oneof(
    fc.record({ universe: fc.constant(deep), a: fc.nat(deep.scopes.length - 1), b: fc.nat(deep.scopes.length - 1) }),
    fc.record({ universe: fc.constant(wide), a: fc.nat(wide.scopes.length - 1), b: fc.nat(wide.scopes.length - 1) }),
  );

  test("100,000 random pairs, both ways round; and by index keys none is lost", { timeout: 300_000 }, () => {
    let [apart, together] = [0, 0];
    fc.assert(
      fc.property(pairs, ({ universe, a, b }) => {
        if (check(universe, a, b)) together += 1;
        else apart += 1;
      }),
      { numRuns: 100_000 },
    );
    // Neither answer is so rare that a wrong one could hide.
    expect(Math.min(apart, together)).toBeGreaterThan(20_000);
  });

  test("every scope overlaps itself", () => {
    for (const { scopes } of [deep, wide, awkward, branches]) {
      expect(scopes.length).toBeGreaterThan(40);
      expect(scopes.filter(({ key }) => !overlap(key, key))).toEqual([]);
    }
  });

  test.each([
    ["with dots and spaces", awkward],
    ["of branches, whose slashes are no segments' ends", branches],
  ])("all pairs %s", { timeout: 300_000 }, (_what, universe) => {
    for (const a of universe.scopes.keys()) for (const b of universe.scopes.keys()) if (a <= b) check(universe, a, b);
  });
});
