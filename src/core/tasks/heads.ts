import type { Tie } from "./evidence.js";

/** Heads of branches, by project and branch, as far as Dibs was told. */
export type Heads = ReadonlyMap<string, string>;
export const NO_HEADS: Heads = new Map();

export const headKey = (projectId: string, branch: string) => `${projectId}|${branch}`;

export function headOf(heads: Heads, projectId: string, branch: string | null): string | null {
  return branch === null ? null : (heads.get(headKey(projectId, branch)) ?? null);
}

/** The same heads but for one branch, as it is about to be. */
export function withHead(heads: Heads, projectId: string, branch: string, head: string): Heads {
  return new Map(heads).set(headKey(projectId, branch), head);
}

/** Whether something was said about a commit that is known to be no longer its branch's head (R28). */
export function isStale(heads: Heads, projectId: string, { commit, branch }: Tie): boolean {
  const head = headOf(heads, projectId, branch);
  return commit !== null && head !== null && !head.startsWith(commit);
}
