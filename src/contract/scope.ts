import { foldCase } from "./letter-case.js";
import { breachOf, quoted } from "./scope-grammar.js";
import { SCOPE_KINDS, type ScopeKind, type ScopeKinds } from "./scope-kind.js";

/**
 * The canonical form of a scope, for comparing and for a store's index: `kind:` and every segment with a slash behind it,
 * as `path:src/auth/`. So a name's key begins with the keys of all that lies above it, and a subtree is one contiguous range
 * where text is ordered bytewise. Two texts with one key are one scope.
 *
 * Letter case is folded where the project says so. In a flat kind's one segment a slash is written `\`, which no segment
 * has, so that `branch:feat\pay/` doesn't lie under `branch:feat/`; and `**` is `*` there, both being any one segment.
 *
 * A type of its own, as a scope's text in its place would compile and overlap wrongly (`src/app` and `src/apple`).
 */
export type ScopeKey = string & { readonly canonical: "scope" };

export interface Scope {
  /** As given, in NFC; for people. */
  readonly text: string;
  readonly kind: ScopeKind;
  readonly key: ScopeKey;
}

/** Why a text is no scope; the fields of the refusal `invalid_scope`. */
export interface ScopeMistake {
  /** As given; a very long one is cut, and half of a surrogate pair is replaced. */
  readonly scope: string;
  /** The segment (or the kind) at fault; empty where that is the fault. */
  readonly segment: string;
  /** Names the segment, the line of the grammar that it breaks, and the remedy. */
  readonly message: string;
}

export interface ScopeReading {
  /** The workspace's kinds; those that every workspace has where none are given. */
  readonly kinds?: ScopeKinds;
  /**
   * The project's `case_insensitive`. Kinds that all projects of a workspace share don't follow it, or two projects would
   * have two names for one thing.
   */
  readonly caseInsensitive?: boolean;
}

/**
 * What is longer as given is too long in any case, and isn't put in NFC: that takes a time that grows with the square of the
 * accents in a row (2,000 of them 2 ms and more). NFC makes 2 bytes of 3 UTF-16 units at most: 1,024 bytes never came from more
 * than 1,536, nor 255, with the longest kind before them, from more than 432.
 */
const GIVEN_UNITS_MAX = 2048;
const SEGMENT_UNITS_MAX = 450;

/** Reads a scope (R29, R30): NFC always, nothing else is resolved or repaired. Never throws. */
export function parseScope(
  given: string,
  { kinds = SCOPE_KINDS, caseInsensitive = false }: ScopeReading = {},
): Scope | ScopeMistake {
  const looked = given.slice(0, GIVEN_UNITS_MAX);
  const inBounds = looked.split("/").every((segment) => segment.length <= SEGMENT_UNITS_MAX);
  const text = inBounds ? looked.normalize("NFC") : looked;
  const breach = breachOf(text, kinds);
  if (breach !== undefined) {
    const [scope, segment] = [looked.toWellFormed(), breach.segment.toWellFormed()];
    return { scope, segment, message: `${quoted(text)}: ${breach.message}` };
  }
  const colon = text.indexOf(":");
  // The grammar has found the kind in this map.
  const kind = kinds.get(text.slice(0, colon)) as ScopeKind;
  return { text, kind, key: keyOf(kind, text.slice(colon + 1), caseInsensitive && kind.reach === "project") };
}

/** Whether it could not be read. */
export function isScopeMistake(read: Scope | ScopeMistake): read is ScopeMistake {
  return "message" in read;
}

function keyOf(kind: ScopeKind, name: string, folded: boolean): ScopeKey {
  const compared = folded ? foldCase(name) : name;
  const segments = kind.shape === "tree" ? compared : oneSegment(compared);
  return `${kind.name}:${segments}/` as ScopeKey;
}

function oneSegment(name: string): string {
  return name === "**" ? "*" : name.replaceAll("/", "\\");
}
