import { createHash } from "node:crypto";
import type { Dibs, Input } from "../client/dibs.js";
import type { Place } from "./place.js";

/** Longer than any lease: a command line is silent between commands, and its leases end by their own clock. */
const TTL_SECONDS = 86_400;

/**
 * The id of the session of this agent, terminal and worktree (R45): the open one that bears its mark, else a new one.
 * Any number of processes that ask at once get the same.
 */
export async function sessionHere(dibs: Dibs, place: Place): Promise<string> {
  const me = await dibs.getMe();
  const harnessId = `cli:${digest([me.id, place.host, place.user, place.terminal, place.worktree])}`;
  let oldest: { id: string; started_at: string } | undefined;
  for await (const session of dibs.each("list_sessions", { agent_id: me.id, limit: 1000 })) {
    if (session.harness_id !== harnessId) continue;
    if (oldest === undefined || session.started_at < oldest.started_at) oldest = session;
  }
  // Of several processes that find none one opens it, and the others resume that one.
  return oldest?.id ?? (await dibs.openSession({ ...describe(place), harness_id: harnessId })).id;
}

function describe(place: Place): Input<"open_session"> {
  const { host, worktree, branch } = place;
  return { client: "dibs-cli", host, cwd: worktree, worktree, branch, ttl_seconds: TTL_SECONDS };
}

function digest(parts: unknown): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}
