import { createHash } from "node:crypto";
import type { Dibs, Input } from "../../client/dibs.js";
import type { Place } from "./place.js";
import type { ProjectHere } from "./project-here.js";

/** Longer than any lease: a command line is silent between commands, and its leases end by their own clock. */
const TTL_SECONDS = 86_400;

/**
 * The id of the session of this agent, terminal and worktree (R45): the open one that bears its mark, else a new one.
 * Any number of processes that ask at once get the same. It is in the project of the repository around, also when that is
 * another now.
 */
export async function sessionHere(dibs: Dibs, place: Place, project: ProjectHere): Promise<string> {
  const me = await dibs.getMe();
  const harnessId = `cli:${digest([me.id, place.host, place.user, place.terminal, place.worktree])}`;
  let oldest: { id: string; started_at: string; project_id: string | null } | undefined;
  for await (const session of dibs.each("list_sessions", { agent_id: me.id, limit: 1000 })) {
    if (session.harness_id !== harnessId) continue;
    if (oldest === undefined || session.started_at < oldest.started_at) oldest = session;
  }
  const projectId = await project.id();
  const fits = oldest !== undefined && (projectId === undefined || oldest.project_id === projectId);
  // Of several processes that find none one opens it, and the others resume that one.
  const { id } = fits && oldest ? oldest : await dibs.openSession({ ...describe(place), harness_id: harnessId });
  if (projectId !== undefined) project.has(id);
  return id;
}

function describe(place: Place): Input<"open_session"> {
  const { host, worktree, branch } = place;
  return { client: "dibs-cli", host, cwd: worktree, worktree, branch, ttl_seconds: TTL_SECONDS };
}

function digest(parts: unknown): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}
