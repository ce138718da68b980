import type { ScopeKey } from "../../contract/scope.js";
import { ancestorKeys, indexKey, isPattern } from "./scope-keys.js";
import { overlap } from "./scope-overlap.js";

interface Keyed {
  readonly namespace: string;
  readonly key: ScopeKey;
}

interface Entry<T> {
  readonly key: ScopeKey;
  readonly item: T;
}

/**
 * Which of many names a name overlaps, without trying each: a thousand wanted against a ticket of a thousand are a million
 * pairs, and took seconds. Names are kept as a store keeps them (scope-keys.ts); only where a pattern is met is it tried.
 */
export class OverlapIndex<T> {
  /** How often a pattern was tried so far: what remains slow where all begin with a wildcard. */
  tried = 0;
  readonly #keyed: (item: T) => Keyed;
  readonly #at = new Map<string, Entry<T>[]>();
  readonly #under = new Map<string, Entry<T>[]>();

  constructor(items: Iterable<T>, keyed: (item: T) => Keyed) {
    this.#keyed = keyed;
    for (const item of items) this.add(item);
  }

  add(item: T): void {
    const { namespace, key } = this.#keyed(item);
    const entry = { key, item };
    const at = indexKey(key);
    put(this.#at, place(namespace, at), entry);
    for (const above of ancestorKeys(at)) if (above !== at) put(this.#under, place(namespace, above), entry);
  }

  /** Whether any of them overlaps it. */
  meets(keyed: Keyed): boolean {
    return this.met(keyed).next().done !== true;
  }

  /** In no order. */
  overlapping(keyed: Keyed): T[] {
    return [...this.met(keyed)];
  }

  /** The same one by one, for who needs only the first. */
  *met({ namespace, key }: Keyed): Generator<T> {
    const at = indexKey(key);
    for (const above of ancestorKeys(at)) yield* this.#among(this.#at.get(place(namespace, above)), key);
    yield* this.#among(this.#under.get(place(namespace, at)), key);
  }

  /** Literals that the index finds do overlap. */
  *#among(entries: readonly Entry<T>[] = [], key: ScopeKey): Generator<T> {
    const wild = isPattern(key);
    for (const entry of entries) {
      const literal = !wild && !isPattern(entry.key);
      if (!literal) this.tried += 1;
      if (literal || overlap(entry.key, key)) yield entry.item;
    }
  }
}

const place = (namespace: string, key: string) => `${namespace} ${key}`;

function put<T>(into: Map<string, T[]>, at: string, item: T): void {
  const before = into.get(at);
  if (before) before.push(item);
  else into.set(at, [item]);
}
