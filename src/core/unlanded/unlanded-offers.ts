import { isSessionLive } from "../agents/session-life.js";
import type { Context } from "../context.js";
import { newId } from "../ids.js";
import type { AgentRow } from "../port/rows.js";
import type { Tx } from "../port/store.js";
import type { UnlandedRow } from "../port/unlanded-rows.js";
import { iso } from "../tasks/task-view.js";

/** Telling agents that they are asked to look after unlanded work (R42, R54), as with handoffs. */

const TYPE = "unlanded.offered";
/** An agent's sessions that are told; whoever has more finds it in the list. */
const TOLD_MAX = 100;

async function sessionsOf(tx: Tx, agentId: string): Promise<string[]> {
  const open = (await tx.sessions.openOf(agentId)).filter((session) => isSessionLive(session, tx.nowMs));
  return open.map(({ id }) => id).slice(0, TOLD_MAX);
}

/** Tells the agent's sessions; it stands in their answers until acknowledged, or until it was answered. */
export async function tellOffer(context: Context, row: UnlandedRow, toAgentId: string): Promise<void> {
  for (const sessionId of await sessionsOf(context.tx, toAgentId)) await tell(context.tx, row, sessionId);
}

/** The same for a session that comes later. */
export async function tellOffersOfUnlanded(
  context: Pick<Context, "tx" | "nowMs" | "workspaceId" | "agent">,
  sessionId: string,
): Promise<void> {
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
export async function dropOffer({ tx }: Pick<Context, "tx">, { id, offered_to }: UnlandedRow): Promise<void> {
  if (offered_to === null) return;
  await tx.notes.dropNotices(await sessionsOf(tx, offered_to), TYPE, { field: "unlanded_id", id });
}

/**
 * Who waits for an answer hears of it: the session that asked, or where that has ended what its agent has open; a coordinator
 * that asked for a steward who is there sees it in the log.
 */
export async function tellAnswer(
  context: Context,
  row: UnlandedRow,
  { answer, message, reason = null }: { answer: "accepted" | "declined"; message: string; reason?: string | null },
): Promise<void> {
  const { tx, workspaceId, session: own } = context;
  const asked = row.session_id === null ? undefined : await tx.sessions.byId(workspaceId, row.session_id);
  const told = asked && isSessionLive(asked, tx.nowMs) ? [asked.id] : await sessionsOf(tx, row.agent_id);
  for (const session_id of told.filter((id) => id !== own?.id))
    await tx.notes.addNotice({
      id: newId(tx.nowMs),
      session_id,
      type: "unlanded.answered",
      task_id: null,
      at: tx.nowMs,
      message,
      data: JSON.stringify({ unlanded_id: row.id, branch: row.branch, agent_id: row.offered_to, answer, reason }),
    });
}

/** Who is no more answers nothing: what was offered to it stays with its steward, who is told. */
export async function endOffersTo(context: Context, agent: Pick<AgentRow, "id" | "name">): Promise<void> {
  const filter = { offeredTo: agent.id, ended: false, nowMs: context.nowMs };
  let after: [number] | null = null;
  for (;;) {
    const rows: UnlandedRow[] = await context.tx.unlanded.list(context.workspaceId, filter, { limit: TOLD_MAX, after });
    for (const row of rows) {
      after = [row.seq];
      const message = `${agent.name}, who was asked to look after ${row.branch}, was deleted: it is yours still.`;
      await tellAnswer(context, row, { answer: "declined", message, reason: "the agent was deleted" });
      await context.tx.unlanded.change(row.seq, { offered_to: null });
    }
    if (rows.length < TOLD_MAX) return;
  }
}
