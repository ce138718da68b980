import { isSessionLive } from "../agents/session-life.js";
import type { Context } from "../context.js";
import { type By, recordBy } from "../events.js";
import { newId } from "../ids.js";
import type { HandoffEnd, HandoffRow } from "../port/handoff-verbs.js";
import { StoreConflict, type Tx } from "../port/store.js";
import { iso } from "../tasks/task-view.js";
import { endedMs, offeredThing } from "./handoff-state.js";

/** What is written down of handoffs: events, and notices to those concerned. */

const TYPES = {
  offered: ["task.handoff_offered", "scope.handoff_offered"],
  declined: ["task.handoff_declined", "scope.handoff_declined"],
  expired: ["task.handoff_expired", "scope.handoff_expired"],
  accepted: ["task.handed_off", "scope.handed_off"],
} as const;

/** An event about a handoff: the caller's, or the clock's. */
export async function handoffEvent(
  tx: Tx,
  happened: keyof typeof TYPES,
  row: HandoffRow,
  data: object,
  by: By,
): Promise<void> {
  const [ofTask, ofScope] = TYPES[happened];
  const named = row.task_id === null ? { scope: row.scope, claim_id: row.claim_id } : {};
  const to = { to_agent_id: row.to_agent, to_session_id: row.to_session };
  const said = { ...named, handoff_id: row.id, ...to, ...data };
  await recordBy(tx, by, row.task_id === null ? ofScope : ofTask, row, said);
}

/** An agent's sessions that are told; whoever has more finds the offer in the list. */
const TOLD_MAX = 100;

/** Those that may accept it, and are there to be told. */
async function receivers(tx: Tx, row: HandoffRow): Promise<string[]> {
  if (row.to_session !== null) return [row.to_session];
  const open = (await tx.sessions.openOf(row.to_agent)).filter((session) => isSessionLive(session, tx.nowMs));
  return open.map(({ id }) => id).filter((id) => id !== row.from_session);
}

/** Tells whom it is offered to; it stands in their answers until acknowledged, or until the offer has ended (R54). */
export async function tellReceivers(tx: Tx, row: HandoffRow): Promise<void> {
  for (const sessionId of (await receivers(tx, row)).slice(0, TOLD_MAX)) await tellReceiver(tx, row, sessionId);
}

async function tellReceiver(tx: Tx, row: HandoffRow, sessionId: string): Promise<void> {
  const note = row.note === null ? "" : ` Note: ${row.note.slice(0, 200)}`;
  await tell(tx, sessionId, "handoff.offered", row, {
    message: `${row.from_name} hands you ${offeredThing(row)}: accept_handoff with handoff_id ${row.id}, until ${iso(row.expires_at)}.${note}`,
    data: { from_agent_id: row.from_agent, expires_at: iso(row.expires_at) },
  });
}

/** Whose session comes. */
export type Told = Pick<Context, "tx" | "nowMs" | "workspaceId" | "agent">;

/** The same for a session that comes later: what is offered to its agent is offered to it. */
export async function tellOffers(context: Told, sessionId: string): Promise<void> {
  const filter = { toAgent: context.agent.id, ended: false };
  const page = { limit: TOLD_MAX, after: null };
  for (const row of await context.tx.handoffs.list(context.workspaceId, filter, context.nowMs, page))
    if (row.to_session === null) await tellReceiver(context.tx, row, sessionId);
}

export async function tell(
  tx: Tx,
  sessionId: string,
  type: "handoff.offered" | "handoff.declined" | "handoff.expired",
  row: HandoffRow,
  said: { readonly message: string; readonly data: object },
): Promise<void> {
  await tx.notes.addNotice({
    id: newId(tx.nowMs),
    session_id: sessionId,
    type,
    task_id: row.task_id,
    at: tx.nowMs,
    message: said.message,
    data: JSON.stringify({ handoff_id: row.id, ...said.data }),
  });
}

/** Writes down how an offer ended. Whoever comes second finds it ended, and is asked again. */
export async function endOffer(tx: Tx, row: HandoffRow, end: HandoffEnd): Promise<void> {
  if (!(await tx.handoffs.end(row, end)))
    throw new StoreConflict(`Handoff ${row.id} was read as offered but had ended.`);
  await tx.notes.dropNotices(await receivers(tx, row), "handoff.offered", { field: "handoff_id", id: row.id });
}

/** Records offers that the clock ended, with their own time or before (R12). Changes nothing that a reader could see. */
export async function expireOffers(tx: Tx, rows: readonly HandoffRow[]): Promise<void> {
  for (const row of rows) await tellGiver(tx, row, await expireOffer(tx, row));
}

/** The same of one whose giver knows; gives when it ended. */
export async function expireOffer(tx: Tx, row: HandoffRow): Promise<number> {
  const atMs = endedMs(row, tx.nowMs);
  await endOffer(tx, row, { state: "expired", ended_at: atMs });
  await handoffEvent(tx, "expired", row, { expired_at: iso(atMs) }, null);
  return atMs;
}

/** Who waits for an answer is told that none came, unless what was offered is gone, too: of that it is told anyhow. */
async function tellGiver(tx: Tx, row: HandoffRow, atMs: number): Promise<void> {
  const endMs = Math.min(row.lease_ends_at, row.giver_ends_at ?? row.lease_ends_at);
  if (endMs <= tx.nowMs) return;
  const message = `${row.to_name} didn't take ${offeredThing(row)} in time. You hold it still, until ${iso(row.lease_ends_at)} unless you renew it.`;
  await tell(tx, row.from_session, "handoff.expired", row, { message, data: { expired_at: iso(atMs) } });
}
