import type { z } from "zod";
import { DibsError } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import type { Context, Handler } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { wakeTask } from "../engine/wake.js";
import { renew } from "../leases/leases.js";
import { lapseScopes, renewScope } from "../leases/scope-leases.js";
import { requireNamed, sessionOf } from "../named.js";
import { type SessionRow, type TaskRow, withChange } from "../port/rows.js";
import { isClaimLive, scopeEndMs } from "../scopes/scope-conflicts.js";
import { taskState } from "../tasks/task-state.js";
import { iso, sessionView } from "../tasks/task-view.js";
import { noticesOf } from "./notices.js";
import { projectOf } from "./projects.js";
import { isSessionLive, keepAlive, sessionEnded } from "./session-life.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** A session of the caller's own, or 404. */
export async function ownSession(context: Context, id: string): Promise<SessionRow> {
  const row = await context.tx.sessions.byId(context.workspaceId, id);
  if (row && row.agent_id === context.agent.id) return row;
  throw new DibsError("not_found", `There is no session ${id} of yours; see GET /v1/sessions.`, {});
}

/** The session as it is shown. */
export async function shown(context: Context, row: SessionRow) {
  return sessionView(row, await context.tx.sessions.heldCount(row.agent_id, row.id, context.nowMs), context.nowMs);
}

/** Records what became of a session. */
export async function sessionEvent(
  context: Context,
  type: string,
  row: Pick<SessionRow, "id" | "project_id">,
  data: object,
): Promise<void> {
  await context.tx.events.append({
    workspace_id: context.workspaceId,
    type,
    at: context.nowMs,
    agent_id: context.agent.id,
    agent_name: context.agent.name,
    session_id: row.id,
    project_id: row.project_id,
    task_id: null,
    data: JSON.stringify(data),
  });
}

export const list_sessions: Handler<Input<"list_sessions">> = async (context, input) => {
  const page = pageOf(`sessions:${input.state}`, input);
  await requireNamed(context, { agent_id: input.agent_id, session_id: input.parent_session_id });
  const filter = {
    state: input.state,
    agentId: input.agent_id,
    projectId: input.project_id === undefined ? undefined : (await projectOf(context, input.project_id)).id,
    parentId: input.parent_session_id,
    hasFindings: input.has_findings,
    nowMs: context.nowMs,
  };
  const rows = await context.tx.sessions.list(context.workspaceId, filter, page);
  const body = [];
  for (const row of rows) body.push(await shown(context, row));
  return { body, ...cursorAfter(`sessions:${input.state}`, rows, page, (row) => [row.seq]) };
};

export const get_session: Handler<Input<"get_session">> = async (context, input) => {
  const row = await sessionOf(context, input.session_id);
  const own = row.agent_id === context.agent.id;
  return {
    body: { ...(await shown(context, row)), notices: own ? await noticesOf({ ...context, session: row }) : [] },
  };
};

/** Renews everything the session holds and answers per item (R9); what was lost is said once, as its notices say it. */
export const heartbeat_session: Handler<Input<"heartbeat_session">> = async (context, input) => {
  const session = await ownSession(context, input.session_id);
  if (session.state !== "open") throw sessionEnded(session);
  const findings = await keepFindings(context, session, input.findings);
  const alive = await beaten(context, { ...session, findings });
  const body = await heldBy({ ...context, session: alive }, alive, { renew: true });
  return { body, beat: { sessionId: session.id } };
};

/** The answer to a heartbeat that came before, as things are now: what is dead by then is lost (R59). */
export async function beatenAnew(context: Context, sessionId: string) {
  const session = await ownSession(context, sessionId);
  if (session.state !== "open" || !isSessionLive(session, context.nowMs)) throw sessionEnded(session);
  return heldBy({ ...context, session }, session, { renew: false });
}

async function heldBy(within: Context, session: SessionRow, how: { readonly renew: boolean }) {
  const { tx, nowMs } = within;
  const items = [];
  for (const row of await tx.tasks.heldBySession(session.agent_id, session.id)) {
    // With many due at once some dead leases aren't on record yet.
    if (!taskState(row, nowMs).held) await wakeTask(tx, row);
    else items.push(renewed(within, how.renew ? await renew(within, row, row.lease_seconds ?? 0) : row, session));
  }
  items.push(...(await namesHeld(within, session, how)));
  const notices = await noticesOf(within);
  const held = new Set(items.map((item) => item.task_id ?? item.scope));
  const lost = notices.filter((notice) => notice.type === "lease.lost").map(lostItem);
  const gone = lost.filter((item) => !held.has(item.task_id ?? item.scope));
  return { ...(await shown(within, session)), items: [...items, ...gone], notices };
}

/** The session after its exact sign of life. */
async function beaten(context: Context, session: SessionRow): Promise<SessionRow> {
  if (session.ttl_seconds === null) return { ...session, seen_at: context.nowMs };
  const expiresMs = context.nowMs + session.ttl_seconds * 1000;
  const seen = { ...session, seen_at: context.nowMs };
  await keepAlive(context.tx, { ...seen, expires_at: expiresMs });
  return { ...seen, expires_at: Math.max(expiresMs, session.expires_at ?? 0) };
}

/** What the session claimed by itself. */
async function namesHeld(context: Context, session: SessionRow, how: { readonly renew: boolean }) {
  const items = [];
  const rows = await context.tx.scopes.ofSession(session.id);
  await lapseScopes(
    context.tx,
    rows.filter((row) => !isClaimLive(row, context.nowMs)),
  );
  for (const row of rows) {
    if (!isClaimLive(row, context.nowMs)) continue;
    const kept = how.renew ? await renewScope(context, row, {}) : row;
    const endMs = scopeEndMs({ ...kept, session_expires_at: session.expires_at });
    items.push({
      task_id: null,
      scope: row.scope,
      lease_id: row.id,
      outcome: "renewed" as const,
      reason: null,
      lease_expires_at: iso(endMs),
      lease_remaining_ms: endMs - context.nowMs,
    });
  }
  return items;
}

function lostItem({ task_id, data }: { readonly task_id: string | null; readonly data: unknown }) {
  const lost = data as { lease_id?: string; claim_id?: string; scope?: string; reason?: string };
  return {
    task_id,
    scope: lost.scope ?? null,
    lease_id: lost.lease_id ?? lost.claim_id ?? "",
    outcome: "lost" as const,
    reason: lost.reason ?? "expired",
    lease_expires_at: null,
    lease_remaining_ms: null,
  };
}

function renewed(context: Context, row: TaskRow, session: SessionRow) {
  const { leaseEndMs } = taskState(withChange(row, { session_expires_at: session.expires_at }), context.nowMs);
  return {
    task_id: row.id as string | null,
    scope: null as string | null,
    lease_id: row.lease_id ?? "",
    outcome: "renewed" as const,
    reason: null,
    lease_expires_at: leaseEndMs === null ? null : iso(leaseEndMs),
    lease_remaining_ms: leaseEndMs === null ? null : leaseEndMs - context.nowMs,
  };
}

/** Keeps what the session found, if it says so; what it has left then. */
export async function keepFindings(context: Context, session: SessionRow, findings: string | undefined) {
  if (findings === undefined || findings === session.findings) return session.findings;
  await context.tx.sessions.update(session.id, { findings });
  await sessionEvent(context, "session.updated", session, { fields: ["findings"] });
  return findings;
}
