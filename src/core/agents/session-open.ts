import type { z } from "zod";
import { DibsError, invalidInput } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import type { Context, Handler, Reply } from "../context.js";
import { type Told, tellOffers } from "../handoffs/handoff-record.js";
import { newResumeToken, resumedBy, sha256 } from "../ids.js";
import type { SessionRow } from "../port/rows.js";
import type { SessionChange } from "../port/session-verbs.js";
import { tellOffersOfUnlanded } from "../unlanded/unlanded-offers.js";
import { projectOf } from "./projects.js";
import { carryParents, isSessionLive, keepAlive, newSession, sessionEnded } from "./session-life.js";
import { ownSession, sessionEvent, shown } from "./sessions.js";

type Input = z.output<Operations["open_session"]["input"]>;

const TTL_SECONDS = 900;
/** So deep may subagents nest: each sign of life of the lowest is one of all above it. */
const DEPTH_MAX = 8;

/** Opens a session, or resumes one that is open already: by its token under a new name, or by the name it has (R65). */
export const open_session: Handler<Input> = async (context, input) => {
  const parent = input.parent_session_id === undefined ? null : await liveParent(context, input.parent_session_id);
  const open = await toResume(context, input, parent);
  return open ? resume(context, open, input) : openNew(context, input, parent);
};

async function openNew(context: Context, input: Input, parent: SessionRow | null): Promise<Reply> {
  const { tx, nowMs, agent } = context;
  const said = await saidBy(context, input);
  const row = newSession(nowMs, agent, {
    ...said,
    ttl_seconds: input.ttl_seconds ?? TTL_SECONDS,
    parent_session_id: parent?.id ?? null,
  });
  const { token, hash } = newResumeToken(row.id);
  await tx.sessions.insert({ ...row, resume_hash: hash });
  await carryParents(tx, row);
  const family = parent ? { parent_session_id: parent.id } : {};
  await tellOffered(context, row.id);
  await sessionEvent(context, "session.started", row, { client: row.client, ...family });
  const opened = await ownSession(context, row.id);
  return { body: { ...(await shown(context, opened)), resumed: false, resume_token: token } };
}

/** What is offered to an agent is offered to each of its sessions, also one that a call opens which names none (R13). */
export async function tellOffered(context: Told, sessionId: string): Promise<void> {
  await tellOffers(context, sessionId);
  await tellOffersOfUnlanded(context, sessionId);
}

/** The session goes on with all it holds; whatever it is told of itself is so from now on, and only a new token resumes it. */
async function resume(context: Context, open: SessionRow, input: Input): Promise<Reply> {
  const { tx, nowMs } = context;
  const ttl = input.ttl_seconds === undefined ? {} : { ttl_seconds: input.ttl_seconds };
  const { token, hash } = newResumeToken(open.id);
  await tx.sessions.update(open.id, { ...(await saidBy(context, input)), ...ttl, resume_hash: hash });
  const ttlSeconds = input.ttl_seconds ?? open.ttl_seconds ?? TTL_SECONDS;
  const expiresMs = nowMs + ttlSeconds * 1000;
  await keepAlive(tx, { ...open, ttl_seconds: ttlSeconds, seen_at: nowMs, expires_at: expiresMs });
  const resumed = await ownSession(context, open.id);
  const by = input.resume_token === undefined ? "harness_id" : "resume_token";
  await sessionEvent(context, "session.resumed", resumed, { client: resumed.client, by });
  return { body: { ...(await shown(context, resumed)), resumed: true, resume_token: token }, otherwise: true };
}

/** What the caller says of the session, and nothing of what it doesn't say. */
async function saidBy(context: Context, input: Input): Promise<SessionChange> {
  const { client, harness_id, host, cwd, branch, worktree } = input;
  const project = input.project_id === undefined ? undefined : (await projectOf(context, input.project_id)).id;
  const share = input.share_with_children;
  const said = { client, harness_id, host, cwd, branch, worktree, project_id: project };
  const shares = share === undefined ? undefined : Number(share);
  const all = Object.entries({ ...said, share_with_children: shares });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

/** A session of the caller's own that lives: whoever ends it ends its children, so it may be nobody else's. */
async function liveParent(context: Context, id: string): Promise<SessionRow> {
  const parent = await ownSession(context, id);
  if (!isSessionLive(parent, context.nowMs)) throw sessionEnded(parent);
  let depth = 1;
  for (let above = parent.parent_session_id; above !== null; depth += 1) {
    above = (await context.tx.sessions.byId(context.workspaceId, above))?.parent_session_id ?? null;
  }
  if (depth > DEPTH_MAX)
    throw invalidInput("parent_session_id", `has ${DEPTH_MAX} sessions above it, the most there may be`);
  return parent;
}

/** The session that is meant, if there is one to go on with. */
async function toResume(context: Context, input: Input, parent: SessionRow | null): Promise<SessionRow | undefined> {
  const { harness_id: harnessId, resume_token: token } = input;
  const { sessions } = context.tx;
  if (token !== undefined) {
    const named = await tokensSession(context, token);
    if (parent && parent.id !== named.parent_session_id) {
      throw invalidInput("parent_session_id", "is not the parent of the session that the token resumes");
    }
    const name = harnessId && { harnessId, parentId: named.parent_session_id };
    const other = name ? await sessions.byHarness(context.agent.id, name, context.nowMs) : undefined;
    if (other && other.id !== named.id) {
      const text = `Your session ${other.id} goes by that harness_id already; end it first: end_session.`;
      throw new DibsError("already_exists", text, {});
    }
    return named;
  }
  if (harnessId === undefined) return undefined;
  return sessions.byHarness(context.agent.id, { harnessId, parentId: parent?.id ?? null }, context.nowMs);
}

/** The live session that a token resumes. Throws `not_found`, `resume_token_used` or `session_ended`. */
async function tokensSession(context: Context, token: string): Promise<SessionRow> {
  const id = resumedBy(token);
  const row = id === undefined ? undefined : await context.tx.sessions.byId(context.workspaceId, id);
  if (!row || row.agent_id !== context.agent.id) {
    throw new DibsError("not_found", "No session of yours goes with this resume_token; open one without it.", {});
  }
  if (row.resume_hash !== sha256(token)) {
    const text = `The resume_token of session ${row.id} has been used; only the newest one resumes it.`;
    throw new DibsError("resume_token_used", text, {
      next: ["Open a session of your own: open_session without resume_token.", "Or take the newest token."],
    });
  }
  if (!isSessionLive(row, context.nowMs)) throw sessionEnded(row);
  return row;
}
