import { asText, type GitAnswers, GitSays } from "./git-answers.js";

/** What git says of a branch: it has landed, or is kept, and why. */
export interface Landing {
  readonly landed: boolean;
  readonly how: "merge" | "content" | "fast_forward" | null;
  readonly reason: string;
  /** The base's commit that was looked at; null where there was none. */
  readonly commit: string | null;
}

/** What a branch is to land on: its name, and where that is, here and at the remotes. */
export interface Base {
  readonly name: string;
  readonly tips: readonly string[];
}

const kept = (reason: string): Landing => ({ landed: false, how: null, reason, commit: null });

/** The base that is meant: the one named, else the remote's own, else `main` or `master`; undefined where it isn't there. */
export async function baseOf(repository: GitAnswers, named: string | undefined): Promise<Base | undefined> {
  const head = "refs/remotes/origin/";
  const ofRemote = (await repository.try(["symbolic-ref", "--quiet", `${head}HEAD`]))?.trim();
  const guessed = ofRemote?.startsWith(head) ? [ofRemote.slice(head.length)] : [];
  for (const name of named === undefined ? [...guessed, "main", "master"] : [named]) {
    const { all } = await repository.tipsOf(name);
    if (all.length > 0) return { name, tips: all };
  }
  return undefined;
}

/**
 * Whether the branch has landed: by a merge's record, or as what it changed is on the base like that, squashed or not.
 * Never because its tip is an ancestor: a branch without commits of its own is one, too. What can't be told is kept.
 */
export async function landingOf(repository: GitAnswers, branch: string, base: Base): Promise<Landing> {
  try {
    if (branch === base.name) return kept("it is the base itself");
    const { local, all } = await repository.tipsOf(branch);
    if (all.length === 0) return kept("unknown: there is no branch of that name here, nor was one fetched");
    const dirty = await repository.dirtyWorktreeOf(branch);
    if (dirty !== undefined) return kept(`there are uncommitted changes in ${dirty}`);
    let last: Landing | undefined;
    // Where the name stands for several commits, each has to have landed.
    for (const tip of all) {
      last = await tipLanding(repository, { tip, branch, isLocal: tip === local }, base);
      if (!last.landed) return last;
    }
    return last as Landing;
  } catch (fault) {
    if (fault instanceof GitSays) return kept(`git can't tell: ${fault.message}`);
    throw fault;
  }
}

interface Tip {
  readonly tip: string;
  readonly branch: string;
  readonly isLocal: boolean;
}

/** On one of the places of the base it is enough. */
async function tipLanding(repository: GitAnswers, tip: Tip, base: Base): Promise<Landing> {
  let last: Landing | undefined;
  for (const at of base.tips) {
    last = await landingOn(repository, tip, at, base.name);
    if (last.landed) return last;
  }
  return last as Landing;
}

async function landingOn(repository: GitAnswers, { tip, branch, isLocal }: Tip, base: string, name: string) {
  const bases = await repository.lines(["merge-base", "--all", tip, base]);
  if (bases.length === 0) return kept(`it has no commit in common with ${name}, as far as this repository goes back`);
  const landed = (how: Landing["how"], reason: string): Landing => ({ landed: true, how, reason, commit: base });
  if (!bases.includes(tip)) return byContent(repository, tip, bases, base, name, landed);
  const merge = await mergeOf(repository, tip, base);
  if (merge !== undefined) return landed("merge", `merged into ${name} by ${merge.slice(0, 12)}`);
  if (isLocal && (await wasCommittedOn(repository, branch, tip)))
    return landed("fast_forward", `its last commit was made on it, and ${name} has it`);
  return kept(`all it has is on ${name}, but nothing says that it had commits of its own`);
}

/** Of each path that the branch changed, deleted ones too, the base has what the branch has. */
async function byContent(
  repository: GitAnswers,
  tip: string,
  bases: readonly string[],
  base: string,
  name: string,
  landed: (how: Landing["how"], reason: string) => Landing,
): Promise<Landing> {
  // A rename is what is gone and what is new.
  const differing = (a: string, b: string) =>
    repository.names(["diff-tree", "-r", "-z", "--name-only", "--no-renames", a, b, "--"]);
  const changed = new Set<string>();
  for (const each of bases) for (const path of await differing(each, tip)) changed.add(path);
  if (changed.size === 0) return kept(`it has commits of its own, which change nothing`);
  const missing = (await differing(tip, base)).filter((path) => changed.has(path));
  if (missing.length === 0) {
    const paths = changed.size === 1 ? "the path it changed is" : `all ${changed.size} paths it changed are`;
    return landed("content", `${paths} on ${name} as on it`);
  }
  const first = asText(missing[0] ?? "");
  const more = missing.length > 1 ? ` and ${missing.length - 1} more` : "";
  return kept(`${name} doesn't have what it has of ${first}${more}`);
}

/** The merge on the base that brought the tip along; not one that brought the base's own commits elsewhere. */
async function mergeOf(repository: GitAnswers, tip: string, base: string): Promise<string | undefined> {
  const range = `${tip}..${base}`;
  // The base's own line of commits: if it goes through the tip, no merge brought it.
  const line = await repository.lines(["rev-list", "--first-parent", "--parents", range, "--"]);
  if (line.length === 0 || line.at(-1)?.split(" ")[1] === tip) return undefined;
  const merges = await repository.lines(["rev-list", "--merges", "--ancestry-path", "--parents", range, "--"]);
  return merges.map((each) => each.split(" ")).find(([, , ...merged]) => merged.includes(tip))?.[0];
}

/** By the branch's own log its last step was a commit; a branch that was only made, or moved along, has none. */
async function wasCommittedOn(repository: GitAnswers, branch: string, tip: string): Promise<boolean> {
  const format = "--format=%H%x00%gs";
  const [last = ""] = await repository.lines(["reflog", "show", "-n", "1", format, `refs/heads/${branch}`, "--"]);
  const [hash, step = ""] = last.split("\0");
  return hash === tip && /^(commit( \((amend|initial|merge)\))?|cherry-pick|revert): /.test(step);
}
