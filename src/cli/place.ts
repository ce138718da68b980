import { execFileSync } from "node:child_process";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

/** Where a command runs: what tells one person's or agent's terminal from another (R45). */
export interface Place {
  readonly host: string;
  readonly user: string;
  /** The controlling terminal; `none` without one. */
  readonly terminal: string;
  /** Root of the git worktree around the working directory. */
  readonly worktree: string | undefined;
  readonly branch: string | undefined;
}

export function placeOf(cwd: string): Place {
  const worktree = worktreeOf(realpathSync(cwd));
  const branch = worktree === undefined ? undefined : branchOf(worktree);
  return { host: hostname(), user: userInfo().username, terminal: terminal(), worktree, branch };
}

function worktreeOf(folder: string): string | undefined {
  if (statSync(join(folder, ".git"), { throwIfNoEntry: false })) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : worktreeOf(parent);
}

/** The branch checked out; undefined when none is, or git's files can't be read. */
function branchOf(worktree: string): string | undefined {
  try {
    const git = join(worktree, ".git");
    const folder = statSync(git).isDirectory() ? git : linkedFolder(worktree, readFileSync(git, "utf8"));
    return /^ref: refs\/heads\/(.{1,255})$/m.exec(readFileSync(join(folder, "HEAD"), "utf8"))?.[1];
  } catch {
    return undefined;
  }
}

function linkedFolder(worktree: string, text: string): string {
  const path = text.replace(/^gitdir:\s*/, "").trim();
  return isAbsolute(path) ? path : join(worktree, path);
}

function terminal(): string {
  try {
    // After the name in parentheses: state, parent, group, session, terminal.
    const stat = readFileSync("/proc/self/stat", "utf8");
    const [, , , session, tty] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return tty === "0" ? "none" : `${tty} ${session}`;
  } catch {
    return terminalByPs();
  }
}

/** Where there is no /proc. */
function terminalByPs(): string {
  try {
    const ps = execFileSync("ps", ["-o", "tty=", "-p", String(process.pid)], { encoding: "utf8" }).trim();
    return ps === "" || ps.startsWith("?") ? "none" : ps;
  } catch {
    return "none";
  }
}
