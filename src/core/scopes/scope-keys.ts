import type { ScopeKey } from "../../contract/scope.js";

/*
 * How a store finds what may overlap, without reading everything that is held. It keeps each scope's `indexKey`. For a
 * scope to be tried, all that can overlap it have one of `ancestorKeys` of its own index key (equality), or lie in its
 * `subtreeRange`; among them two literal scopes always overlap, and with a pattern `overlap` decides. It loses none: a name
 * covered by both begins with the wildcard-free segments of both, so that one of these begins with the other.
 *
 * Text must be ordered bytewise: SQLite's BINARY, PostgreSQL's "C". A folded key can have more bytes than its scope, not
 * over 1,800.
 */

/** Whether a scope has wildcards. */
export function isPattern(key: ScopeKey): boolean {
  return key.includes("*");
}

/** A literal's own key; of a pattern the longest run of leading segments without wildcards, `kind:` where there is none. */
export function indexKey(key: ScopeKey): ScopeKey {
  const star = key.indexOf("*");
  if (star < 0) return key;
  return key.slice(0, Math.max(key.lastIndexOf("/", star), key.indexOf(":")) + 1) as ScopeKey;
}

/** The index keys of all that lies above a literal, first `kind:`, last its own. At most 65. */
export function ancestorKeys(literal: ScopeKey): ScopeKey[] {
  const keys: ScopeKey[] = [];
  for (let end = literal.indexOf(":") + 1; end > 0; end = literal.indexOf("/", end) + 1) {
    keys.push(literal.slice(0, end) as ScopeKey);
  }
  return keys;
}

/** All keys at or under a literal, in bytewise order: `from` is the first, `below` comes after the last. */
export function subtreeRange(literal: ScopeKey): { readonly from: string; readonly below: string } {
  // The one character behind the slash (or, of a whole kind, the colon) that ends the key.
  const end = String.fromCharCode(literal.charCodeAt(literal.length - 1) + 1);
  return { from: literal, below: literal.slice(0, -1) + end };
}
