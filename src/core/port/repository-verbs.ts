import type { Awaitable } from "./verbs.js";

/** One name by which a repository is known in a workspace, and the project it belongs to. */
export interface RepositoryRow {
  readonly seq: number;
  readonly workspace_id: string;
  /** A remote's name, or `root:` and the hash of the first commit. */
  readonly identity: string;
  /** Of a first commit: the remote it is known with. Under another one it is a fork's. */
  readonly remote: string | null;
  readonly project_id: string;
  readonly created_at: number;
}

export interface RepositoryVerbs {
  /** Those of the names that are known. */
  named(workspaceId: string, identities: readonly string[]): Awaitable<RepositoryRow[]>;
  /** All names of these projects, oldest first. */
  ofProjects(projectIds: readonly string[]): Awaitable<RepositoryRow[]>;
  /** Whether the workspace knows any repository. */
  any(workspaceId: string): Awaitable<boolean>;
  /** From now on the name belongs to that project, whichever it was before. */
  put(row: Omit<RepositoryRow, "seq">): Awaitable<void>;
}
