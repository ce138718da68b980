import type { ScopeKey } from "../contract/scope.js";
import { ancestorKeys, isPattern } from "./scope-keys.js";
import { overlap } from "./scope-overlap.js";

interface Keyed {
  readonly namespace: string;
  readonly key: ScopeKey;
}

interface Entry<T> extends Keyed {
  readonly item: T;
}

/**
 * Which of many names a name overlaps, without trying each: a thousand wanted against a ticket of a thousand are a million
 * pairs, and took seconds. Literals overlap along their ancestors; patterns are tried one by one.
 */
export class OverlapIndex<T> {
  readonly #all: Entry<T>[] = [];
  readonly #patterns: Entry<T>[] = [];
  readonly #at = new Map<string, T[]>();
  readonly #under = new Map<string, T[]>();

  constructor(items: Iterable<T>, keyed: (item: T) => Keyed) {
    for (const item of items) {
      const { namespace, key } = keyed(item);
      const entry = { namespace, key, item };
      this.#all.push(entry);
      if (isPattern(entry.key)) {
        this.#patterns.push(entry);
        continue;
      }
      put(this.#at, place(entry.namespace, entry.key), item);
      for (const above of ancestorKeys(entry.key))
        if (above !== entry.key) put(this.#under, place(entry.namespace, above), item);
    }
  }

  /** In no order. */
  overlapping({ namespace, key }: Keyed): T[] {
    const tried = (entries: readonly Entry<T>[]) =>
      entries.filter((each) => each.namespace === namespace && overlap(each.key, key)).map(({ item }) => item);
    if (isPattern(key)) return tried(this.#all);
    const found = ancestorKeys(key).flatMap((above) => this.#at.get(place(namespace, above)) ?? []);
    return [...found, ...(this.#under.get(place(namespace, key)) ?? []), ...tried(this.#patterns)];
  }
}

const place = (namespace: string, key: string) => `${namespace} ${key}`;

function put<T>(into: Map<string, T[]>, at: string, item: T): void {
  const before = into.get(at);
  if (before) before.push(item);
  else into.set(at, [item]);
}
