import { hostileText } from "./json-shape.js";
import { RESERVED_KIND, type ScopeKind, type ScopeKinds } from "./scope-kind.js";

const SEGMENTS_MAX = 64;
const SEGMENT_BYTES_MAX = 255;
const SCOPE_BYTES_MAX = 1024;

/** The grammar, line by line (R29, R30). A mistake is told with the line that it breaks. */
const GRAMMAR = {
  form: "A scope is kind:segment/segment, as path:src/auth",
  size: "A scope has at most 64 segments and 1,024 bytes (UTF-8), its kind included",
  segment:
    "A segment has 1..255 bytes (UTF-8), no control characters, no backslash, no space at its ends, and is not . or ..",
  flat: "A name of a flat kind is exactly one segment",
  relative: "A scope begins at the root of what it names: path:src/auth, from the project's root",
  stars: "* is any run of characters in a segment; ** is any number of segments and stands alone between slashes",
} as const;

/** A mistake in a scope's text. */
export interface Breach {
  /** The segment at fault, or the kind; empty where that is the fault. */
  readonly segment: string;
  /** The fault, which names the segment; the line of the grammar; the remedy. */
  readonly message: string;
}

/** The first mistake of a scope's text in NFC; nothing where it is right. */
export function breachOf(text: string, kinds: ScopeKinds): Breach | undefined {
  const colon = text.indexOf(":");
  if (colon < 0) return withoutKind(text, kinds);
  const kind = kinds.get(text.slice(0, colon));
  if (kind === undefined) return kindBreach(text.slice(0, colon), kinds);
  const name = text.slice(colon + 1);
  if (name === "") return breach("", "nothing stands behind the colon", GRAMMAR.form, wholeOf(kind));
  return tooLong(kind, text) ?? (kind.shape === "flat" ? flatBreach(kind, name) : treeBreach(kind, name.split("/")));
}

/** Text of others as it stands in a message: what isn't seen, or turns the line around, as an escape; a long one cut. */
export function quoted(text: string): string {
  const characters = [...text];
  const shown = JSON.stringify(characters.length > 80 ? `${characters.slice(0, 79).join("")}…` : text);
  return shown.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (unseen) => `\\u{${unseen.codePointAt(0)?.toString(16)}}`);
}

function breach(segment: string, fault: string, line: string, remedy: string): Breach {
  return { segment, message: `${fault}. ${line}. ${remedy}.` };
}

const utf8 = new TextEncoder();
const bytesOf = (text: string) => utf8.encode(text).length;

function wholeOf({ name, shape }: ScopeKind): string {
  return shape === "tree" ? `For the whole tree write ${name}:**` : `For every ${name} write ${name}:*`;
}

function aboveIt({ shape }: ScopeKind): string {
  return shape === "tree" ? "Claim what lies above it; a scope covers all that lies under it" : "Write a shorter name";
}

function withoutKind(text: string, kinds: ScopeKinds): Breach {
  const known = kinds.get(text);
  if (known !== undefined) return breach(text, "this is a kind without a name", GRAMMAR.form, wholeOf(known));
  if (text.trim() === "") return breach(text, "it is empty", GRAMMAR.form, "For the whole tree write path:**");
  return breach(text, "it has no kind", GRAMMAR.form, "Write the kind and a colon before the name");
}

function kindBreach(name: string, kinds: ScopeKinds): Breach {
  if (name === RESERVED_KIND) {
    const fault = "the kind task is reserved: who claims a task holds it, and the scopes it declares";
    return breach(name, fault, GRAMMAR.form, "Claim the task: claim_task");
  }
  const fault = name === "" ? "no kind stands before the colon" : `${quoted(name)} is no kind of this workspace`;
  const near = name.trim().toLowerCase();
  const line = `${GRAMMAR.form}; its kind is one of ${[...kinds.keys()].sort().join(", ")}`;
  return breach(name, fault, line, kinds.has(near) ? `Write ${near}` : "Write one of these");
}

function tooLong(kind: ScopeKind, text: string): Breach | undefined {
  if (bytesOf(text) <= SCOPE_BYTES_MAX) return undefined;
  const segments = text.split("/");
  // The segment with byte 1,025 in it; before the first stands the kind.
  let at = 0;
  for (let end = bytesOf(segments[0] ?? ""); end <= SCOPE_BYTES_MAX; end += 1 + bytesOf(segments[at] ?? "")) at += 1;
  const segment = segments[at]?.slice(at === 0 ? kind.name.length + 1 : 0) ?? "";
  return breach(segment, `it goes beyond 1,024 bytes at ${quoted(segment)}`, GRAMMAR.size, aboveIt(kind));
}

function treeBreach(kind: ScopeKind, segments: readonly string[]): Breach | undefined {
  const [first = ""] = segments;
  const drive = kind.name === "path" && /^[A-Za-z]:$/.test(first);
  if (drive || (first === "" && segments.length > 1)) {
    const rest = segments.filter((segment, index) => segment !== "" && !(drive && index === 0));
    const remedy = rest.length === 0 ? wholeOf(kind) : "Leave out all that stands before that root";
    return breach(first, `${quoted(drive ? first : "/")} at its beginning makes it absolute`, GRAMMAR.relative, remedy);
  }
  for (const [index, segment] of segments.entries()) {
    const found = characterBreach(segment, `segment ${index + 1}`) ?? starsOrSize(segment, kind);
    if (found !== undefined) return found;
  }
  const extra = segments[SEGMENTS_MAX];
  if (extra === undefined) return undefined;
  return breach(extra, `${quoted(extra)} is segment ${SEGMENTS_MAX + 1}`, GRAMMAR.size, aboveIt(kind));
}

function flatBreach(kind: ScopeKind, name: string): Breach | undefined {
  const parts = name.split("/");
  const [first = "", second] = parts;
  if (second !== undefined && !kind.slashes) {
    const plain = characterBreach(first, "") === undefined;
    const fault = `${quoted(second)} is a second segment`;
    return breach(
      second,
      fault,
      `${GRAMMAR.flat}, and ${kind.name} is flat`,
      plain ? `Write ${kind.name}:${first}` : "Write one",
    );
  }
  for (const part of parts) {
    // What is no segment is no part of one with slashes either: git has no branch `feat//pay` or `feat/../pay`.
    const found = characterBreach(part, parts.length > 1 ? `a part of ${quoted(name)}` : "its one segment");
    if (found !== undefined) return { ...found, segment: name };
  }
  return starsOrSize(name, kind);
}

/** What is wrong with a segment's characters; `place` says which one it is, where it is empty. */
function characterBreach(segment: string, place: string): Breach | undefined {
  const say = (fault: string, remedy: string) => breach(segment, fault, GRAMMAR.segment, remedy);
  if (segment === "") return say(`${place} is empty`, "Remove the slash that is too many");
  const hostile = hostileText(segment);
  if (hostile !== undefined) return say(`${quoted(segment)} ${hostile}`, "Write the name as text");
  if (/\p{Cc}/u.test(segment)) return say(`${quoted(segment)} has a control character`, "Remove it");
  if (segment.includes("\\")) return say(`${quoted(segment)} has a backslash`, "Write / between segments");
  if (segment === ".") return say('"." is no name', "Leave it out");
  if (segment === "..") return say('".." is no name', "Write the path that it leads to; nothing is resolved here");
  if (segment.trim() !== segment) return say(`${quoted(segment)} has a space at its ends`, "Remove the space");
  return undefined;
}

function starsOrSize(segment: string, kind: ScopeKind): Breach | undefined {
  if (segment.includes("**") && segment !== "**") {
    const single = `Write ${kind.name}:${segment.replace(/\*+/g, "*")}: in one segment * covers all characters`;
    const remedy = kind.shape === "tree" ? "Write * here, or put ** between slashes" : single;
    return breach(segment, `${quoted(segment)} has ** beside other characters`, GRAMMAR.stars, remedy);
  }
  const bytes = bytesOf(segment);
  if (bytes <= SEGMENT_BYTES_MAX) return undefined;
  return breach(segment, `${quoted(segment)} has ${bytes} bytes`, GRAMMAR.segment, aboveIt(kind));
}
