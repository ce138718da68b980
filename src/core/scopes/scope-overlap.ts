import type { ScopeKey } from "../../contract/scope.js";
import { remembering } from "../remembering.js";
import { indexKey, isPattern } from "./scope-keys.js";

/*
 * Whether two scopes have a name in common (R30, R31), by their keys. Exact, and without search: what stands between
 * wildcards decides, as wildcards leave room for everything else.
 *
 * A name is any of the grammar's, but of any length: two scopes at the limits can share only names too long to be asked
 * for, and are then said to overlap. Both keys must come from the same project, or be of a kind that projects share.
 */

/** A segment as the texts before, between and behind its stars; a literal one is one text. */
type Segment = readonly string[];
/** Segments one after another, without `**` between them. */
type Run = readonly Segment[];
/** The runs before, between and behind the `**` of a scope; runs may be empty. One run: names of just so many segments. */
type Shape = readonly Run[];

/** Whether some name is covered by both. In time proportional to the product of their lengths at most. */
export function overlap(a: ScopeKey, b: ScopeKey): boolean {
  // One lies at or under the other; the slash that ends a key keeps `src/app` from `src/apple`.
  if (!isPattern(a) && !isPattern(b)) return a.startsWith(b) || b.startsWith(a);
  return isSameKind(a, b) && meet(shapeOf(a), shapeOf(b));
}

/**
 * Whether all that one scope covers is covered by the other. Exact where the other is a literal, or the whole tree; within
 * any other pattern lie the names that it matches in full.
 */
export function isWithin(inner: ScopeKey, outer: ScopeKey): boolean {
  if (!isPattern(outer)) return indexKey(inner).startsWith(outer);
  if (outer === `${kindOf(outer)}:**/`) return kindOf(inner) === kindOf(outer);
  if (isPattern(inner)) return false;
  return isSameKind(outer, inner) && meet(shapeOf(outer), [segmentsOf(inner).map((segment) => [segment])]);
}

function kindOf(key: ScopeKey): string {
  return key.slice(0, key.indexOf(":"));
}

function isSameKind(a: ScopeKey, b: ScopeKey): boolean {
  return b.startsWith(a.slice(0, a.indexOf(":") + 1));
}

function segmentsOf(key: ScopeKey): string[] {
  return key.slice(key.indexOf(":") + 1, -1).split("/");
}

/** Each key is read once: a thousand patterns of sixty segments against a thousand took 16 s, most of it reading them anew. */
const shapeOf = remembering(2_000_000, read);

function read(key: ScopeKey): Shape {
  let run: Segment[] = [];
  const runs = [run];
  const segments = segmentsOf(key);
  // A literal covers its subtree. With a flat kind that adds nothing: all its names have one segment.
  if (!isPattern(key)) segments.push("**");
  for (const segment of segments) {
    if (segment === "**") {
      run = [];
      runs.push(run);
    } else run.push(segment.split("*"));
  }
  return runs;
}

function meet(a: Shape, b: Shape): boolean {
  if (a.length > 1 && b.length > 1) {
    // A name of both: the longer beginning, the middle runs of one, those of the other, the longer end. The `**` of each
    // take up what is the other's. So only where both say something about the same segment can they disagree.
    const [beginA, beginB, endA, endB] = [first(a), first(b), last(a), last(b)];
    const begin = Math.min(beginA.length, beginB.length);
    const end = Math.min(endA.length, endB.length);
    return runsMeet(beginA.slice(0, begin), beginB, 0) && runsMeet(tail(endA, end), endB, endB.length - end);
  }
  if (a.length > 1) return fits(a, first(b));
  if (b.length > 1) return fits(b, first(a));
  return first(a).length === first(b).length && runsMeet(first(a), first(b), 0);
}

/** Whether runs with `**` between them can be laid along a run of a fixed length, in order and apart. */
function fits(runs: Shape, fixed: Run): boolean {
  const [begin, end] = [first(runs), last(runs)];
  let from = begin.length;
  const to = fixed.length - end.length;
  if (from > to || !runsMeet(begin, fixed, 0) || !runsMeet(end, fixed, to)) return false;
  // The first place where a run fits leaves most room for the others. A segment meets each of the fixed ones once at most.
  for (const run of runs.slice(1, -1)) {
    while (from + run.length <= to && !runsMeet(run, fixed, from)) from += 1;
    from += run.length;
    if (from > to) return false;
  }
  return true;
}

/** Whether each segment of a run has a text in common with the one beside it, from a place in the other run on. */
function runsMeet(run: Run, other: Run, at: number): boolean {
  return run.every((segment, index) => segmentsMeet(segment, other[at + index] as Segment));
}

function segmentsMeet(a: Segment, b: Segment): boolean {
  const [beginA, beginB, endA, endB] = [first(a), first(b), last(a), last(b)];
  if (a.length === 1 && b.length === 1) return beginA === beginB;
  if (a.length === 1) return matches(b, beginA);
  if (b.length === 1) return matches(a, beginB);
  // As with `**` between runs: each star takes up what is the other's.
  return (beginA.startsWith(beginB) || beginB.startsWith(beginA)) && (endA.endsWith(endB) || endB.endsWith(endA));
}

/** Whether a segment with stars matches a text. Each piece is looked for once, where it first comes: no way back. */
function matches(pieces: Segment, text: string): boolean {
  const [begin, end] = [first(pieces), last(pieces)];
  let from = begin.length;
  const to = text.length - end.length;
  if (from > to || !text.startsWith(begin) || !text.endsWith(end)) return false;
  for (let index = 1; index < pieces.length - 1; index += 1) {
    const piece = pieces[index] as string;
    const at = text.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
    if (from > to) return false;
  }
  return true;
}

const first = <T>(items: readonly T[]): T => items[0] as T;
const last = <T>(items: readonly T[]): T => items[items.length - 1] as T;
const tail = <T>(items: readonly T[], count: number): readonly T[] => items.slice(items.length - count);
