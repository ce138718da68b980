import { execFileSync } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { gitFolders, worktreeAround } from "./git-files.js";

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
  const worktree = worktreeAround(realpathSync(cwd));
  const branch = worktree === undefined ? undefined : branchOf(worktree);
  return { host: hostname(), user: userInfo().username, terminal: terminal(), worktree, branch };
}

/** The branch checked out; undefined when none is, or git's files can't be read. */
function branchOf(worktree: string): string | undefined {
  try {
    const head = readFileSync(join(gitFolders(worktree).own, "HEAD"), "utf8");
    return /^ref: refs\/heads\/(.{1,255})$/m.exec(head)?.[1];
  } catch {
    return undefined;
  }
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
