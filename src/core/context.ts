import type { DibsError } from "../contract/errors.js";
import type { Role } from "../contract/operation.js";
import type { Settings } from "../contract/workspace.js";
import type { AgentRow, SessionRow, TaskRow } from "./rows.js";
import type { Tx } from "./store.js";

/** Everything a handler may use: the transaction, who asks, and what the call changes for others. */
export interface Context {
  readonly tx: Tx;
  readonly nowMs: number;
  readonly workspaceId: string;
  readonly settings: Settings;
  readonly agent: AgentRow;
  /** What the agent may do here; on the bare file the file's permission is the right (R45). */
  readonly role: Role;
  /** The session the call names, or the agent's implicit one if it has one open; null else. */
  readonly session: SessionRow | null;
  /** The version the record must still have. */
  readonly ifVersion: number | undefined;
  /** The session that holds: as `session`, but an implicit one is opened where there is none (R13). */
  holder(): Promise<SessionRow>;
  /** Whether more tasks are due by the clock than were woken in this transaction. */
  readonly due: { more: boolean };
  /** Something became claimable: waiting calls look again after the commit. */
  woke(): void;
}

/** What a handler answers. */
export interface Reply {
  readonly body: unknown;
  readonly status?: number;
  readonly nextCursor?: string;
  /** A refusal that keeps what the handler wrote (a late result, a refused write's event). */
  readonly refusal?: DibsError;
  /** No task now: when the clock alone may change that, ms; null when it can't. The call may wait for it. */
  readonly emptyUntilMs?: number | null;
  /** Tasks granted by this call, to be undone if the answer can't be delivered. */
  readonly granted?: readonly TaskRow[];
}

export type Handler<I> = (context: Context, input: I) => Promise<Reply>;
