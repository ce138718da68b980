import { DibsError } from "../contract/errors.js";
import type { Context } from "./context.js";
import type { AgentRow, SessionRow } from "./port/rows.js";

/** The agent, or 404; another workspace's answers like an unknown one (R47). */
export async function agentOf(context: Context, id: string): Promise<AgentRow> {
  const row = await context.tx.agents.byId(context.workspaceId, id);
  if (row) return row;
  throw new DibsError("not_found", `There is no agent ${id}; see GET /v1/agents (dibs agent list).`, {});
}

/** The session, anybody's, or 404. */
export async function sessionOf(context: Context, id: string): Promise<SessionRow> {
  const row = await context.tx.sessions.byId(context.workspaceId, id);
  if (row) return row;
  throw new DibsError("not_found", `There is no session ${id}; see GET /v1/sessions (dibs session list).`, {});
}

/** A list of what an unknown agent or session has is no empty list but a mistake (R58). Throws `not_found`. */
export async function requireNamed(
  context: Context,
  filter: { readonly agent_id?: string | undefined; readonly session_id?: string | undefined },
): Promise<void> {
  if (filter.agent_id !== undefined) await agentOf(context, filter.agent_id);
  if (filter.session_id !== undefined) await sessionOf(context, filter.session_id);
}
