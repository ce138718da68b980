import { execFileSync } from "node:child_process";

/** What git says is checked out. */
export interface CheckedOut {
  /** The whole hash of HEAD. */
  readonly commit: string;
  /** Undefined where no branch is checked out. */
  readonly branch: string | undefined;
  /** Tracked files differ from the commit: what is judged here is not quite what the commit holds. */
  readonly changed: boolean;
}

/** What is checked out around the folder; undefined outside a repository, before its first commit, and without git. */
export function checkedOut(folder: string): CheckedOut | undefined {
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 10_000,
    }).trim();
  const orNothing = (...args: string[]) => {
    try {
      return git(...args);
    } catch {
      return undefined;
    }
  };
  const commit = orNothing("rev-parse", "--verify", "HEAD^{commit}");
  if (commit === undefined) return undefined;
  return {
    commit,
    branch: orNothing("symbolic-ref", "--quiet", "--short", "HEAD"),
    changed: orNothing("status", "--porcelain", "--untracked-files=no") !== "",
  };
}
