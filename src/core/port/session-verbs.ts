import type { NewSessionRow, SessionRow } from "./rows.js";
import type { Awaitable, Page } from "./verbs.js";

export interface SessionFilter {
  readonly state: SessionRow["state"] | "any";
  readonly agentId?: string | undefined;
  readonly projectId?: string | undefined;
  readonly parentId?: string | undefined;
  readonly hasFindings?: boolean | undefined;
  readonly nowMs: number;
}

/** What a session says of itself, and what resumes it. */
export type SessionChange = Partial<
  Pick<
    SessionRow,
    | "project_id"
    | "client"
    | "harness_id"
    | "host"
    | "cwd"
    | "branch"
    | "worktree"
    | "ttl_seconds"
    | "share_with_children"
    | "resume_hash"
    | "findings"
  >
>;

export interface SessionVerbs {
  insert(row: NewSessionRow): Awaitable<void>;
  byId(workspaceId: string, id: string): Awaitable<SessionRow | undefined>;
  /** The agent's session that is open at the time and goes by that name under that parent; the oldest, were there several. */
  byHarness(
    agentId: string,
    name: { readonly harnessId: string; readonly parentId: string | null },
    nowMs: number,
  ): Awaitable<SessionRow | undefined>;
  /** Open sessions under that one, their own children too, oldest first. */
  openUnder(id: string): Awaitable<SessionRow[]>;
  /** The open implicit session of an agent. */
  implicitOf(agentId: string): Awaitable<SessionRow | undefined>;
  list(workspaceId: string, filter: SessionFilter, page: Page): Awaitable<SessionRow[]>;
  openOf(agentId: string): Awaitable<SessionRow[]>;
  /** Moves the end of a session that lives at `seenAtMs` later, never earlier; false when it has ended. */
  touch(id: string, seenAtMs: number, expiresAtMs: number): Awaitable<boolean>;
  /** Moves the end of an open session later, never earlier. */
  carry(id: string, expiresAtMs: number): Awaitable<void>;
  update(id: string, change: SessionChange): Awaitable<void>;
  end(id: string, state: "ended" | "expired", atMs: number): Awaitable<void>;
  /** Open sessions whose time is over, oldest end first. */
  silentSince(nowMs: number, limit: number): Awaitable<SessionRow[]>;
  heldCount(agentId: string, sessionId: string, nowMs: number): Awaitable<number>;
}
