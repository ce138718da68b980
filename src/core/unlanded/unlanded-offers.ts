import { isLive } from "../agents/session-life.js";
import type { Context } from "../context.js";
import { newId } from "../ids.js";
import type { Tx } from "../port/store.js";
import type { UnlandedRow } from "../port/unlanded-rows.js";
import { iso } from "../tasks/task-view.js";

/** Telling agents that they are asked to look after unlanded work (R42, R54), as with handoffs. */

const TYPE = "unlanded.offered";
/** An agent's sessions that are told; whoever has more finds it in the list. */
const TOLD_MAX = 100;

async function sessionsOf(tx: Tx, agentId: string): Promise<string[]> {
  const open = (await tx.sessions.openOf(agentId)).filter((session) => isLive(session, tx.nowMs));
  return open.map(({ id }) => id).slice(0, TOLD_MAX);
}

/** Tells the agent's sessions; it stands in their answers until acknowledged, or until it was answered. */
export async function tellOffer(context: Context, row: UnlandedRow, toAgentId: string): Promise<void> {
  for (const sessionId of await sessionsOf(context.tx, toAgentId)) await tell(context.tx, row, sessionId);
}

/** The same for a session that comes later. */
export async function tellOffersOfUnlanded(context: Context, sessionId: string): Promise<void> {
  if (!context.tx.unlandedKnown && !context.tx.unlanded.declared) return;
  const filter = { offeredTo: context.agent.id, ended: false, nowMs: context.nowMs };
  const rows = await context.tx.unlanded.list(context.workspaceId, filter, { limit: TOLD_MAX, after: null });
  for (const row of rows) await tell(context.tx, row, sessionId);
}

async function tell(tx: Tx, row: UnlandedRow, sessionId: string): Promise<void> {
  const { id, branch, agent_id, agent_name, expires_at } = row;
  await tx.notes.addNotice({
    id: newId(tx.nowMs),
    session_id: sessionId,
    type: TYPE,
    task_id: null,
    at: tx.nowMs,
    message: `You are asked to look after ${branch}, unlanded work of ${agent_name}: accept_unlanded or decline_unlanded with unlanded_id ${id}.`,
    data: JSON.stringify({ unlanded_id: id, branch, from_agent_id: agent_id, expires_at: iso(expires_at) }),
  });
}

/** Nobody is asked any more: what sessions were told of it is gone. */
export async function dropOffer({ tx }: Context, { id, offered_to }: UnlandedRow): Promise<void> {
  if (offered_to === null) return;
  await tx.notes.dropNotices(await sessionsOf(tx, offered_to), TYPE, { field: "unlanded_id", id });
}
