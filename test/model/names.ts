/**
 * Names few enough that what each of them covers is written down by hand, from the text of R30: a literal its subtree, a
 * pattern what it matches in full. Two overlap where they have something in common (R31).
 */
const COVERS: readonly (readonly [name: string, covers: string])[] = [
  ["path:a", "a a/b a/b/c a/d a/d/f"],
  ["path:a/b", "a/b a/b/c"],
  ["path:a/b/c", "a/b/c"],
  ["path:a/d", "a/d a/d/f"],
  ["path:e", "e e/b"],
  ["path:a/*", "a/b a/d"],
  ["path:*/b", "a/b e/b"],
  ["path:**", "a a/b a/b/c a/d a/d/f e e/b"],
  ["branch:x", "x"],
  ["branch:y", "y"],
  ["port:1", "1"],
  ["slot:1", "1"],
  ["slot:*", "1 2"],
];

export interface Name {
  readonly text: string;
  readonly kind: string;
  readonly covers: readonly string[];
}

export const NAMES: readonly Name[] = COVERS.map(([text, covers]) => ({
  text,
  kind: text.slice(0, text.indexOf(":")),
  covers: covers.split(" "),
}));

/** Those that may have places. */
export const FLAT = NAMES.filter(({ kind, text }) => kind !== "path" && !text.includes("*"));

export type Mode = "exclusive" | "shared";

/** A name as somebody wants it, and whose: a port is one for all projects (R29). */
export interface Wanted {
  readonly name: Name;
  readonly mode: Mode;
  readonly space: string;
}

export const spaceOf = (name: Name, project: string) => (name.kind === "port" ? "all projects" : project);

export const isSameName = (a: Wanted, b: Wanted) => a.name === b.name && a.space === b.space;

/** Whether one keeps the other from being had: only shared beside shared goes together (R32). */
export function collide(a: Wanted, b: Wanted): boolean {
  return !(a.mode === "shared" && b.mode === "shared") && overlap(a, b);
}

export function overlap(a: Wanted, b: Wanted): boolean {
  if (a.space !== b.space || a.name.kind !== b.name.kind) return false;
  return a.name.covers.some((each) => b.name.covers.includes(each));
}

/** Each name once; wanted in both modes, it is wanted for oneself. */
export function once(wanted: readonly Wanted[]): Wanted[] {
  const kept: Wanted[] = [];
  for (const each of wanted) {
    const at = kept.findIndex((other) => isSameName(other, each));
    if (at < 0) kept.push(each);
    else if (each.mode === "exclusive") kept[at] = { ...each };
  }
  return kept;
}
