import type { Awaitable, Page } from "./verbs.js";

/** The commit that a branch was last said to be at. */
export interface HeadRow {
  readonly seq: number;
  readonly workspace_id: string;
  readonly project_id: string;
  readonly branch: string;
  /** The whole hash. */
  readonly head: string;
  readonly agent_id: string;
  readonly updated_at: number;
}

export interface HeadVerbs {
  /** The heads of these branches in these projects. */
  of(projectIds: readonly string[], branches: readonly string[]): Awaitable<HeadRow[]>;
  /** From now on the branch is there, wherever it was. */
  put(row: Omit<HeadRow, "seq">): Awaitable<void>;
  list(
    workspaceId: string,
    filter: { projectId: string | null; branch: string | null },
    page: Page,
  ): Awaitable<HeadRow[]>;
}
