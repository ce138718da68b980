import type { ScopeKey } from "../../src/contract/scope.js";
import { keyOf } from "./scopes.js";

interface UniverseScope {
  readonly text: string;
  readonly key: ScopeKey;
}

/**
 * Scopes small enough that every name that two of them can have in common is written down, and what covers a name said again
 * from the text of R30: slowly, by trying, and knowing nothing of `src/core/scopes/scope-overlap.ts`.
 */
export class ScopeUniverse {
  readonly scopes: readonly UniverseScope[];
  readonly #names: readonly (readonly string[])[];
  readonly #parts: readonly (readonly string[])[];
  readonly #covered: (Uint32Array | undefined)[] = [];

  /** Each scope and each name by its segments; those of a flat kind have one. */
  constructor(kind: string, scopes: readonly (readonly string[])[], names: readonly (readonly string[])[]) {
    this.scopes = scopes.map((segments) => {
      const text = `${kind}:${segments.join("/")}`;
      return { text, key: keyOf(text) };
    });
    this.#parts = scopes;
    this.#names = names;
  }

  scope(at: number): UniverseScope {
    return this.scopes[at] as UniverseScope;
  }

  /** A name that the scopes at two places both cover, if there is one. */
  commonName(a: number, b: number): string | undefined {
    const [coveredByA, coveredByB] = [this.#coveredBy(a), this.#coveredBy(b)];
    for (let word = 0; word < coveredByA.length; word += 1) {
      const both = (coveredByA[word] as number) & (coveredByB[word] as number);
      if (both !== 0) return this.#names[word * 32 + 31 - Math.clz32(both)]?.join("/");
    }
    return undefined;
  }

  /** The names a scope covers, one bit each. */
  #coveredBy(at: number): Uint32Array {
    const known = this.#covered[at];
    if (known !== undefined) return known;
    const bits = new Uint32Array(Math.ceil(this.#names.length / 32));
    const scope = this.#parts[at] as readonly string[];
    for (const [index, name] of this.#names.entries()) {
      if (coversByTheRules(scope, name)) bits[index >>> 5] = (bits[index >>> 5] as number) | (1 << (index & 31));
    }
    this.#covered[at] = bits;
    return bits;
  }
}

/** R30: a literal scope covers its subtree, a pattern the names it matches in full. */
function coversByTheRules(scope: readonly string[], name: readonly string[]): boolean {
  if (scope.some((segment) => segment.includes("*"))) return matchesSegments(scope, 0, name, 0);
  return scope.every((segment, index) => segment === name[index]);
}

function matchesSegments(scope: readonly string[], at: number, name: readonly string[], from: number): boolean {
  const segment = scope[at];
  if (segment === undefined) return from === name.length;
  if (segment === "**") {
    for (let next = from; next <= name.length; next += 1) if (matchesSegments(scope, at + 1, name, next)) return true;
    return false;
  }
  const text = name[from];
  return text !== undefined && matchesText(segment, 0, text, 0) && matchesSegments(scope, at + 1, name, from + 1);
}

function matchesText(pattern: string, at: number, text: string, from: number): boolean {
  if (at === pattern.length) return from === text.length;
  if (pattern[at] === "*") {
    for (let next = from; next <= text.length; next += 1) if (matchesText(pattern, at + 1, text, next)) return true;
    return false;
  }
  return pattern[at] === text[from] && matchesText(pattern, at + 1, text, from + 1);
}

/** All rows of 1..max items. */
export function rowsOf<T>(items: readonly T[], max: number): T[][] {
  const rows: T[][][] = [items.map((item) => [item])];
  for (let length = 2; length <= max; length += 1) {
    rows.push((rows.at(-1) ?? []).flatMap((row) => items.map((item) => [...row, item])));
  }
  return rows.flat();
}

/** All texts of 1..max of some characters. */
export function textsOf(characters: string, max: number): string[] {
  return rowsOf([...characters], max).map((row) => row.join(""));
}
