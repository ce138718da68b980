import { realpathSync } from "node:fs";
import type { Input } from "../../client/dibs.js";
import { worktreeAround } from "./git-files.js";
import { projectFile } from "./project-file.js";
import { type Repository, repositoryOf } from "./repository.js";

/** The repository around a folder, and the project that it says it belongs to. */
export interface RepositoryHere {
  /** The project's key, where `dibs.json` names one. */
  readonly key: string | undefined;
  readonly repository: Repository | undefined;
}

/** Undefined outside a worktree. Throws `invalid_input` where the repository's `dibs.json` is wrong. */
export function repositoryHere(folder: string): RepositoryHere | undefined {
  const worktree = worktreeAround(realpathSync(folder));
  return worktree === undefined ? undefined : { key: projectFile(worktree), repository: repositoryOf(worktree) };
}

/** All that tells the repository and its project, its first commit included: it may have been seen before it had a remote. */
export function toldOf({ key, repository }: RepositoryHere): Input<"project_for_repository"> {
  const name = repository?.name.slice(0, 200) ?? "";
  return {
    project: key,
    remote: repository?.remote,
    root_commit: repository?.rootCommit(),
    // What shows nothing is no name.
    name: /[\p{L}\p{N}]/u.test(name) ? name : undefined,
  };
}
