/** What stands before a scope's colon (R29): which sort of thing is named, and whose names they are. */
export interface ScopeKind {
  readonly name: string;
  /** A name of a tree has segments, and a literal scope covers what lies under it. A flat one is one segment. */
  readonly shape: "tree" | "flat";
  /** Every project has names of its own, or all projects of the workspace share them: a machine has one port 3000. */
  readonly reach: "project" | "workspace";
  /**
   * A flat kind whose one segment may contain slashes, as a git branch's name does: `branch:feat/pay` names one branch
   * and lies under no other. With all other flat kinds a slash is a mistake, or `issue:42/a` and `issue:42/b` would
   * both be granted (C33).
   */
  readonly slashes?: boolean;
}

/** By name. A Map, as names come from outside and an object has `constructor`. */
export type ScopeKinds = ReadonlyMap<string, ScopeKind>;

/** `task:` is what the claims table calls a held task; nobody claims it as a scope. */
export const RESERVED_KIND = "task";

const kind = (name: string, shape: ScopeKind["shape"], reach: ScopeKind["reach"] = "project"): ScopeKind => ({
  name,
  shape,
  reach,
});

/** The kinds that every workspace has. */
export const SCOPE_KINDS: ScopeKinds = byName([
  kind("path", "tree"),
  kind("kb", "tree"),
  kind("device", "tree", "workspace"),
  kind("project", "tree"),
  kind("config", "tree"),
  kind("db", "tree"),
  { ...kind("branch", "flat"), slashes: true },
  kind("issue", "flat"),
  kind("queue", "flat"),
  kind("git", "flat"),
  kind("migration", "flat"),
  kind("deploy", "flat"),
  kind("slot", "flat"),
  kind("port", "flat", "workspace"),
  kind("provider", "flat", "workspace"),
  kind("cpu", "flat", "workspace"),
  kind("source", "flat", "workspace"),
]);

function byName(kinds: readonly ScopeKind[]): ScopeKinds {
  return new Map(kinds.map((each) => [each.name, each]));
}
