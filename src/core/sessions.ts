import type { z } from "zod";
import { DibsError } from "../contract/errors.js";
import type { Operations } from "../contract/operations.js";
import type { Context, Handler } from "./context.js";
import { cursorAfter, pageOf } from "./cursor.js";
import { newId } from "./ids.js";
import { endByForce, renew } from "./leases.js";
import { requireNamed, sessionOf } from "./named.js";
import { noticesOf } from "./notices.js";
import { projectOf } from "./projects.js";
import { type SessionRow, type TaskRow, withChange } from "./rows.js";
import { taskState } from "./task-state.js";
import { iso, sessionView } from "./task-view.js";
import { wakeTask } from "./wake.js";
import { givenBack, recordGivenBack } from "./work.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** A session of the caller's own, or 404. */
async function ownSession(context: Context, id: string): Promise<SessionRow> {
  const row = await context.tx.sessions.byId(context.workspaceId, id);
  if (row && row.agent_id === context.agent.id) return row;
  throw new DibsError("not_found", `There is no session ${id} of yours; see GET /v1/sessions.`, {});
}

async function view(context: Context, row: SessionRow) {
  return sessionView(row, await context.tx.sessions.heldCount(row.agent_id, row.id, context.nowMs), context.nowMs);
}

async function sessionEvent(context: Context, type: string, row: Pick<SessionRow, "id" | "project_id">, data: object) {
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

export const open_session: Handler<Input<"open_session">> = async (context, input) => {
  const project = input.project_id === undefined ? null : await projectOf(context, input.project_id);
  const row: Omit<SessionRow, "seq"> = {
    id: newId(context.nowMs),
    workspace_id: context.workspaceId,
    agent_id: context.agent.id,
    agent_name: context.agent.name,
    project_id: project?.id ?? null,
    state: "open",
    implicit: 0,
    client: input.client ?? null,
    harness_id: input.harness_id ?? null,
    host: input.host ?? null,
    cwd: input.cwd ?? null,
    branch: input.branch ?? null,
    worktree: input.worktree ?? null,
    ttl_seconds: input.ttl_seconds,
    started_at: context.nowMs,
    seen_at: context.nowMs,
    expires_at: context.nowMs + input.ttl_seconds * 1000,
    ended_at: null,
  };
  await context.tx.sessions.insert(row);
  await sessionEvent(context, "session.started", row, { client: row.client });
  return { body: sessionView({ ...row, seq: 0 }, 0, context.nowMs) };
};

export const list_sessions: Handler<Input<"list_sessions">> = async (context, input) => {
  const page = pageOf(`sessions:${input.state}`, input);
  await requireNamed(context, input);
  const filter = { state: input.state, nowMs: context.nowMs };
  const narrowed = input.agent_id === undefined ? filter : { ...filter, agentId: input.agent_id };
  const rows = await context.tx.sessions.list(context.workspaceId, narrowed, page);
  const body = [];
  for (const row of rows) body.push(await view(context, row));
  return { body, ...cursorAfter(`sessions:${input.state}`, rows, page, (row) => [row.seq]) };
};

export const get_session: Handler<Input<"get_session">> = async (context, input) => {
  const row = await sessionOf(context, input.session_id);
  const own = row.agent_id === context.agent.id;
  return { body: { ...(await view(context, row)), notices: own ? await noticesOf({ ...context, session: row }) : [] } };
};

/** Renews everything the session holds and answers per item (R9); what was lost is said once, as its notices say it. */
export const heartbeat_session: Handler<Input<"heartbeat_session">> = async (context, input) => {
  const session = await ownSession(context, input.session_id);
  if (session.state !== "open") throw sessionEnded(session);
  const expiresMs = session.ttl_seconds === null ? null : context.nowMs + session.ttl_seconds * 1000;
  const later = Math.max(expiresMs ?? 0, session.expires_at ?? 0);
  if (expiresMs !== null) await context.tx.sessions.touch(session.id, context.nowMs, later);
  const alive: SessionRow = { ...session, seen_at: context.nowMs, expires_at: expiresMs === null ? null : later };
  const within = { ...context, session: alive };
  const items = [];
  for (const row of await context.tx.tasks.heldBySession(context.agent.id, session.id)) {
    // With many due at once some dead leases aren't on record yet.
    if (!taskState(row, context.nowMs).held) await wakeTask(context.tx, row);
    else items.push(renewed(within, await renew(within, row, row.lease_seconds ?? 0), alive));
  }
  const notices = await noticesOf(within);
  const held = new Set(items.map((item) => item.task_id));
  const lost = notices.filter((notice) => notice.type === "lease.lost" && !held.has(notice.task_id ?? ""));
  const gone = lost.map((notice) => ({
    task_id: notice.task_id ?? "",
    lease_id: String((notice.data as { lease_id?: string }).lease_id ?? ""),
    outcome: "lost" as const,
    reason: String((notice.data as { reason?: string }).reason ?? "expired"),
    lease_expires_at: null,
    lease_remaining_ms: null,
  }));
  return { body: { ...(await view(context, alive)), items: [...items, ...gone], notices } };
};

function renewed(context: Context, row: TaskRow, session: SessionRow) {
  const { leaseEndMs } = taskState(withChange(row, { session_expires_at: session.expires_at }), context.nowMs);
  return {
    task_id: row.id,
    lease_id: row.lease_id ?? "",
    outcome: "renewed" as const,
    reason: null,
    lease_expires_at: leaseEndMs === null ? null : iso(leaseEndMs),
    lease_remaining_ms: leaseEndMs === null ? null : leaseEndMs - context.nowMs,
  };
}

export function sessionEnded(session: SessionRow): DibsError<"session_ended"> {
  // A session that ended by silence reads open until somebody notices; the answer must not depend on that (R1).
  const how = session.state === "ended" ? "has ended" : "fell silent and ended";
  return new DibsError("session_ended", `Session ${session.id} ${how}; what it held is free.`, {
    next: ["Open a new session: open_session.", "Claim again what you still want: claim_task."],
  });
}

/** Ends a session and frees all it held, in this transaction; none of it counts as an attempt (R10, R20). */
export const end_session: Handler<Input<"end_session">> = async (context, input) => {
  const session = await ownSession(context, input.session_id);
  const released = session.state === "open" ? await endSession(context, session) : 0;
  return { body: { session_id: session.id, tasks_released: released, claims_released: 0 } };
};

export async function endSession(context: Context, session: SessionRow): Promise<number> {
  const released = await releaseAll(context, await context.tx.tasks.heldBySession(session.agent_id, session.id), {
    session_ended: true,
  });
  await context.tx.sessions.end(session.id, "ended", context.nowMs);
  await sessionEvent(context, "session.ended", session, { tasks_released: released });
  return released;
}

/** Gives back every live lease among the rows. */
export async function releaseAll(context: Context, rows: readonly TaskRow[], data: object): Promise<number> {
  let released = 0;
  for (const row of rows) {
    if (!taskState(row, context.nowMs).held) continue;
    const change = { ...givenBack(context, row, false), attempts: row.attempts - 1 };
    const after = await endByForce(context, row, change);
    await recordGivenBack(context, row, after, data);
    released += 1;
  }
  return released;
}
