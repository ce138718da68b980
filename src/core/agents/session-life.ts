import { DibsError } from "../../contract/errors.js";
import { newId } from "../ids.js";
import type { AgentRow, NewSessionRow, SessionRow } from "../port/rows.js";
import type { Tx } from "../port/store.js";

/** A session as it begins; without a TTL it never dies of silence. */
export function newSession(
  nowMs: number,
  agent: Pick<AgentRow, "id" | "workspace_id">,
  said: Partial<NewSessionRow> & Pick<NewSessionRow, "ttl_seconds">,
): NewSessionRow {
  return {
    id: newId(nowMs),
    workspace_id: agent.workspace_id,
    agent_id: agent.id,
    project_id: null,
    state: "open",
    implicit: 0,
    client: null,
    harness_id: null,
    host: null,
    cwd: null,
    branch: null,
    worktree: null,
    started_at: nowMs,
    seen_at: nowMs,
    expires_at: said.ttl_seconds === null ? null : nowMs + said.ttl_seconds * 1000,
    ended_at: null,
    parent_session_id: null,
    share_with_children: 0,
    resume_hash: null,
    findings: null,
    ...said,
  };
}

/** Whether it lives at the instant, whatever its row says (R1). */
export function isSessionLive(session: Pick<SessionRow, "state" | "expires_at">, nowMs: number): boolean {
  return session.state === "open" && (session.expires_at === null || nowMs < session.expires_at);
}

/** The session row after a sign of life, or null when what is stored already covers it. */
export function signOfLife(session: SessionRow, nowMs: number): SessionRow | null {
  if (session.ttl_seconds === null || session.expires_at === null) return null;
  const ttlMs = session.ttl_seconds * 1000;
  const exactMs = nowMs + ttlMs;
  if (session.expires_at >= exactMs) return null;
  // Of a session that calls all the time the last written sign is an eighth old and a little more.
  const chatty = nowMs - session.seen_at < ttlMs / 4;
  return { ...session, seen_at: nowMs, expires_at: chatty ? exactMs + ttlMs / 8 : exactMs };
}

/**
 * Writes a sign of life, and that of a child for its parents too: no session ends of silence before one under it. So a
 * session's own end, which every read of a task has beside it, says also what its parents' silence would, and no read has
 * to climb (R1, R65). False where the session had ended meanwhile; with the parents as they are now.
 */
export async function keepAlive(tx: Tx, session: SessionRow): Promise<{ alive: boolean; parents: SessionRow[] }> {
  const parents = await carryParents(tx, session);
  const alive = await tx.sessions.touch(session.id, session.seen_at, session.expires_at ?? 0);
  return { alive, parents };
}

/**
 * Moves the ends of a session's parents to where its sign of life puts them, nearest first: each its own TTL behind the
 * sign, and none before the one below. As they are then.
 */
export async function carryParents(
  tx: Tx,
  child: Pick<SessionRow, "workspace_id" | "parent_session_id" | "ttl_seconds" | "expires_at">,
): Promise<SessionRow[]> {
  const parents: SessionRow[] = [];
  let belowMs = child.expires_at ?? 0;
  const signMs = belowMs - (child.ttl_seconds ?? 0) * 1000;
  for (let id = child.parent_session_id; id !== null; ) {
    const parent = await tx.sessions.byId(child.workspace_id, id);
    if (!parent) break;
    belowMs = Math.max(belowMs, signMs + (parent.ttl_seconds ?? 0) * 1000);
    if (parent.expires_at !== null && belowMs > parent.expires_at) {
      await tx.sessions.carry(parent.id, belowMs);
      parent.expires_at = belowMs;
    }
    parents.push(parent);
    id = parent.parent_session_id;
  }
  return parents;
}

/** The refusal of whatever a session that has ended wants to do. */
export function sessionEnded(session: Pick<SessionRow, "id" | "state">): DibsError<"session_ended"> {
  // A session that ended by silence reads open until somebody notices; the answer must not depend on that (R1).
  const how = session.state === "ended" ? "has ended" : "fell silent and ended";
  return new DibsError("session_ended", `Session ${session.id} ${how}; what it held is free.`, {
    next: ["Open a new session: open_session.", "Claim again what you still want: claim_task."],
  });
}
