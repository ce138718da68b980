import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Where git keeps what it knows of a worktree. */
export interface GitFolders {
  /** The worktree's own: its HEAD. */
  readonly own: string;
  /** What all worktrees of the repository share: its config. */
  readonly common: string;
}

/** Root of the worktree around the folder; undefined where there is none. */
export function worktreeAround(folder: string): string | undefined {
  if (statSync(join(folder, ".git"), { throwIfNoEntry: false })) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : worktreeAround(parent);
}

/** Of the worktree with this root, read without git. Throws where the files can't be read. */
export function gitFolders(worktree: string): GitFolders {
  const git = join(worktree, ".git");
  const own = statSync(git).isDirectory() ? git : linkedTo(worktree, readFileSync(git, "utf8"));
  return { own, common: commonFolder(own) };
}

/** A linked worktree's `.git` is a file that names the folder; so is a submodule's. */
function linkedTo(worktree: string, text: string): string {
  return resolve(worktree, text.replace(/^gitdir:\s*/, "").trim());
}

function commonFolder(own: string): string {
  const text = textOf(join(own, "commondir"));
  return text === undefined ? own : resolve(own, text.trim());
}

/** What the file holds; undefined where it can't be read. */
export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
