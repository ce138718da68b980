import { execFileSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isLocalRemote, remoteName } from "../../contract/remote-name.js";
import { remotesIn } from "./git-config.js";
import { type GitFolders, gitFolders, textOf } from "./git-files.js";

/** What tells a git repository from others, in all its worktrees and clones. */
export interface Repository {
  /** The remote's name; undefined where no remote says it. */
  readonly remote: string | undefined;
  /** What its folder or remote is called. */
  readonly name: string;
  /** Hash of the first commit, which only git can say: it walks the history. Undefined where there is none to be known. */
  rootCommit(): string | undefined;
}

/** The repository of the worktree with this root; undefined where git's files can't be read. */
export function repositoryOf(worktree: string): Repository | undefined {
  const folders = foldersOf(worktree);
  if (!folders) return undefined;
  const remote = remoteOf(folders.common);
  const root = mainRoot(folders.common);
  let first: { readonly hash: string | undefined } | undefined;
  return {
    remote,
    name: remote?.slice(remote.lastIndexOf("/") + 1) ?? basename(root).replace(/\.git$/, ""),
    rootCommit() {
      first ??= { hash: rootCommit(folders) };
      return first.hash;
    },
  };
}

function foldersOf(worktree: string): GitFolders | undefined {
  try {
    return gitFolders(worktree);
  } catch {
    return undefined;
  }
}

/** Clones of clones of clones on one machine; further ones are taken for their own. */
const FOLLOWED_MAX = 8;

/**
 * The name of origin, else of the only remote. A remote that is a folder of this machine is followed to the remote that it
 * has itself, so that a clone of a clone is what that is.
 */
function remoteOf(common: string, followed = 0): string | undefined {
  const remotes = remotesIn(textOf(join(common, "config")) ?? "");
  const url = remotes.get("origin") ?? (remotes.size === 1 ? [...remotes.values()][0] : undefined);
  if (url === undefined || url === "") return undefined;
  if (!isLocalRemote(url)) return remoteName(url);
  const path = pathOf(url, mainRoot(common));
  const there = path && repositoryAt(path);
  if (!there) return path && remoteName(path);
  return (followed < FOLLOWED_MAX ? remoteOf(there, followed + 1) : undefined) ?? remoteName(mainRoot(there));
}

function pathOf(url: string, base: string): string | undefined {
  try {
    if (/^file:/i.test(url)) return fileURLToPath(url);
  } catch {
    // Another machine's.
    return undefined;
  }
  return resolve(base, url.replace(/^~(?=\/)/, homedir()));
}

/** The folder with the repository's config, where one lies at the path as git would look for it. */
function repositoryAt(path: string): string | undefined {
  for (const folder of [path, `${path}.git`]) {
    if (existsSync(join(folder, ".git"))) return foldersOf(realpathSync(folder))?.common;
    if (existsSync(join(folder, "HEAD")) && existsSync(join(folder, "objects"))) return realpathSync(folder);
  }
  return undefined;
}

/** The main worktree's root, or the bare repository itself. */
function mainRoot(common: string): string {
  return basename(common) === ".git" ? dirname(common) : common;
}

/** The first by name, where histories were joined. A shallow clone's oldest commit is not the repository's. */
function rootCommit({ own, common }: GitFolders): string | undefined {
  if (existsSync(join(common, "shallow"))) return undefined;
  try {
    // By its folder: inside a hook git's own variables would name another.
    const hashes = execFileSync("git", ["--git-dir", own, "rev-list", "--max-parents=0", "HEAD"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 30_000,
    });
    return hashes.trim().split("\n").sort()[0] || undefined;
  } catch {
    return undefined;
  }
}
