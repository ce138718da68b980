import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { measured } from "../../../test/support/campaign.js";
import { isScopeMistake, parseScope, type ScopeKey } from "../../contract/scope.js";
import { overlap } from "./scope-overlap.js";

const LIMIT_MS = 5;
const [TRIES_MIN, TRIES_MAX] = [3, 20];

/** The shortest of three tries; of up to twenty while none keeps to the limit: a busy machine won't disturb them all. */
function shortestMs(work: () => unknown, limitMs = LIMIT_MS): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES_MIN || (tries < TRIES_MAX && shortest >= limitMs); tries += 1) {
    const startedAt = performance.now();
    work();
    shortest = Math.min(shortest, performance.now() - startedAt);
  }
  return shortest;
}

let nth = 0;

/** The longest of all that is done with two texts, in both letter cases: reading each, comparing them both ways. */
function takenMs(a: string, b: string): number {
  const taken = [false, true].flatMap((caseInsensitive) => {
    const read = () => [parseScope(a, { caseInsensitive }), parseScope(b, { caseInsensitive })];
    const [one, other] = read().map((each) => (isScopeMistake(each) ? undefined : each.key));
    if (one === undefined || other === undefined) return [shortestMs(read)];
    // Under another kind each time, as what was read before is remembered.
    const compare = () => {
      const [a, b] = [one, other].map((key) => `${nth}${key}` as ScopeKey) as [ScopeKey, ScopeKey];
      nth += 1;
      return [overlap(a, b), overlap(b, a)];
    };
    return [read, compare].map((work) => shortestMs(work));
  });
  return Math.max(...taken);
}

/** As many of the texts, in turn, as a scope has room for, in as many segments as are asked for. */
function scopeOf(segments: number, ...texts: readonly string[]): string {
  const room = Math.min(255, Math.floor((1024 - 5 - (segments - 1)) / segments));
  const fill = (text: string) => (text === "**" ? text : text.repeat(Math.floor(room / Buffer.byteLength(text))));
  return `path:${Array.from({ length: segments }, (_, at) => fill(texts[at % texts.length] ?? "a")).join("/")}`;
}

/** Without a way back these need none; with one, each would take longer than anybody waits. */
const NASTY: readonly (readonly [what: string, a: string, b: string])[] = [
  ["stars and letters in turn", scopeOf(4, "*a"), `${scopeOf(4, "a").slice(0, -1)}b`],
  ["stars and letters in turn, both", `${scopeOf(4, "*a").slice(0, -1)}b`, `${scopeOf(4, "a*").slice(0, -1)}c`],
  ["a long piece that nearly fits everywhere", `path:*${"a".repeat(126)}b*`, scopeOf(1, "a")],
  ["many ** with a segment each", scopeOf(64, "**", "*a"), scopeOf(64, "a")],
  ["many ** with a segment each, the last one wrong", `${scopeOf(63, "**", "*a")}/b`, scopeOf(64, "a")],
  ["many **, both", scopeOf(64, "**", "*a"), scopeOf(64, "a*", "**")],
  ["a long run that nearly fits everywhere", `path:**/${Array(31).fill("*a*a*a*").join("/")}/b/**`, scopeOf(64, "a")],
  ["only **", scopeOf(64, "**"), scopeOf(64, "**")],
  ["64 literal segments", scopeOf(64, "a"), scopeOf(64, "a")],
  ["letters that fold into two", scopeOf(4, "ß"), scopeOf(4, "*ẞ")],
  ["accents to be put in order", scopeOf(4, "\u0316\u0301"), scopeOf(4, "\u0301\u0316")],
];

describe("no scope of 1 KiB takes 5 ms", () => {
  test.each(NASTY)("%s", (what, a, b) => {
    expect([parseScope(a), parseScope(b)].filter(isScopeMistake)).toEqual([]);
    const ms = takenMs(a, b);
    measured(`scopes: ${what}`, { ms });
    expect(ms).toBeLessThan(LIMIT_MS);
  });

  test("nor do a million pairs of patterns of 60 segments take over 10 s: each is read once", () => {
    const pattern = (nth: number) => {
      const segments = Array.from({ length: 60 }, (_, at) => (at % 2 ? "**" : `*a*b*${nth * 60 + at}*c`));
      return `path:${segments.join("/")}/` as ScopeKey;
    };
    const [some, others] = [0, 1000].map((from) => Array.from({ length: 1000 }, (_, nth) => pattern(from + nth)));
    const startedAt = performance.now();
    const met = some?.filter((one) => others?.every((other) => overlap(one, other)));
    const ms = performance.now() - startedAt;
    measured("scopes: a million pairs of patterns", { ms });
    expect(met).toHaveLength(1000);
    expect(ms).toBeLessThan(10_000);
  });

  test.each([
    ["a mebibyte of accents", `path:a${"\u0301\u0316".repeat(262_144)}`],
    ["two thousand accents", `path:a${"\u0301\u0316".repeat(1000)}`],
    ["a mebibyte of slashes", `path:${"/".repeat(1_048_576)}`],
    ["a mebibyte without a kind", "a".repeat(1_048_576)],
  ])("nor is %s put in order before it is refused", (_what, text) => {
    expect(isScopeMistake(parseScope(text))).toBe(true);
    expect(shortestMs(() => parseScope(text), 1)).toBeLessThan(1);
  });

  test("nor do random ones of stars, letters and slashes", { timeout: 120_000 }, () => {
    const piece = fc.constantFrom(
      "a",
      "b",
      "*",
      "*a",
      "a*",
      "*a*a*a*b",
      "aaaaaaaaab",
      "/",
      "/",
      "/**/",
      "/*/",
      "/a/",
      "é",
      "ß",
      "😀",
    );
    const part = fc.oneof(
      piece,
      fc.record({ piece, count: fc.nat(120) }).map(({ piece, count }) => piece.repeat(count)),
    );
    const text = fc.array(part, { minLength: 1, maxLength: 200 }).map(repaired);
    let worstMs = 0;
    let scopes = 0;
    fc.assert(
      fc.property(text, text, (a, b) => {
        const ms = takenMs(a, b);
        worstMs = Math.max(worstMs, ms);
        if (!isScopeMistake(parseScope(a)) && !isScopeMistake(parseScope(b))) scopes += 1;
        expect(ms).toBeLessThan(LIMIT_MS);
      }),
      { numRuns: 1_000 },
    );
    measured("scopes: random ones", { worst_ms: worstMs });
    expect(scopes).toBeGreaterThan(500);
  });

  test("nor does any text at all", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 1024 }),
        fc.constantFrom("", "path:", "branch:"),
        (text, kind) => {
          expect(takenMs(kind + text, "path:**")).toBeLessThan(LIMIT_MS);
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** Within the grammar's limits, as long as it may be. */
function repaired(parts: readonly string[]): string {
  const segments = parts
    .join("")
    .split("/")
    .filter((segment) => segment !== "")
    .map((segment) => (segment === "**" ? segment : segment.replace(/\*+/g, "*")))
    .slice(0, 64)
    .map((segment) => Array.from(segment).slice(0, 60).join(""));
  let text = `path:${segments[0] ?? "a"}`;
  for (const segment of segments.slice(1)) {
    if (Buffer.byteLength(text) + Buffer.byteLength(segment) + 1 > 1024) break;
    text += `/${segment}`;
  }
  return text;
}
