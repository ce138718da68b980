import type { z } from "zod";
import { DibsError } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import type { Context, Handler } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { record } from "../events.js";
import { newId, newKey } from "../ids.js";
import { notifyLost } from "../leases/leases.js";
import { tellLost } from "../leases/scope-leases.js";
import { agentOf } from "../named.js";
import type { AgentRow } from "../port/rows.js";
import type { Tx } from "../port/store.js";
import { quoted } from "../quoted.js";
import { unassignRecurrences } from "../recurrences/recurrences.js";
import { isClaimLive } from "../scopes/scope-conflicts.js";
import { scopeClaimView } from "../scopes/scope-view.js";
import { unassignAll } from "../tasks/assignments.js";
import { taskState } from "../tasks/task-state.js";
import { claimView, iso } from "../tasks/task-view.js";
import { endOffersTo } from "../unlanded/unlanded-offers.js";
import { endAlone, freeNames, releaseAll } from "./session-end.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

async function view(context: Context, row: Omit<AgentRow, "seq">) {
  const keys = await context.tx.agents.liveKeys(row.id, context.nowMs);
  const { id, name, role, display_name, description } = row;
  return {
    id,
    name,
    role,
    display_name,
    description,
    created_at: iso(row.created_at),
    keys: keys.map((key) => ({
      id: key.id,
      created_at: iso(key.created_at),
      expires_at: key.ends_at === null ? null : iso(key.ends_at),
    })),
  };
}

/** Makes a key for the agent and returns it; only its hash is kept (R48). */
export async function giveKey(tx: Tx, agentId: string): Promise<string> {
  const { key, id, hash } = newKey();
  await tx.agents.insertKey({ id, hash, agent_id: agentId, created_at: tx.nowMs, ends_at: null });
  return key;
}

async function refuseTakenName(context: Context, name: string, ownId?: string): Promise<void> {
  const taken = await context.tx.agents.byName(context.workspaceId, name);
  if (taken && taken.id !== ownId) {
    throw new DibsError("already_exists", `There is an agent ${taken.name} already (${taken.id}).`, {});
  }
}

export const create_agent: Handler<Input<"create_agent">> = async (context, input) => {
  await refuseTakenName(context, input.name);
  const row = {
    id: newId(context.nowMs),
    workspace_id: context.workspaceId,
    name: input.name,
    role: input.role,
    display_name: input.display_name ?? null,
    description: input.description ?? null,
    created_at: context.nowMs,
    deleted_at: null,
  };
  await context.tx.agents.insert(row);
  const key = await giveKey(context.tx, row.id);
  await record(context, "agent.created", null, { agent_id: row.id, name: row.name, role: row.role });
  return { body: { ...(await view(context, row)), key } };
};

export const list_agents: Handler<Input<"list_agents">> = async (context, input) => {
  const page = pageOf("agents", input);
  const rows = await context.tx.agents.list(context.workspaceId, page);
  const body = [];
  for (const row of rows) body.push(await view(context, row));
  return { body, ...cursorAfter("agents", rows, page, (row) => [row.seq]) };
};

export const get_me: Handler<Input<"get_me">> = async (context) => {
  const workspace = await context.tx.workspaces.byId(context.workspaceId);
  return { body: { ...(await view(context, context.agent)), workspace: workspace?.name ?? "" } };
};

export const get_agent: Handler<Input<"get_agent">> = async (context, input) => ({
  body: await view(context, await agentOf(context, input.agent_id)),
});

export const update_agent: Handler<Input<"update_agent">> = async (context, input) => {
  const row = await agentOf(context, input.agent_id);
  if (input.name !== undefined) await refuseTakenName(context, input.name, row.id);
  const { name = row.name, role = row.role, display_name = row.display_name, description = row.description } = input;
  const change = { name, role, display_name, description };
  await context.tx.agents.update(row.id, change);
  await record(context, "agent.updated", null, {
    agent_id: row.id,
    name,
    role,
    was: { name: row.name, role: row.role },
  });
  return { body: await view(context, { ...row, ...change }) };
};

/**
 * Refused while the agent holds something; forced, it is revoked in the same transaction (R48). What was assigned to it
 * is anybody's, and what it made recurs on.
 */
export const delete_agent: Handler<Input<"delete_agent">> = async (context, input) => {
  const row = await agentOf(context, input.agent_id);
  const page = { limit: 1000, after: null };
  const claims = await context.tx.claims.list(context.workspaceId, { agentId: row.id }, context.nowMs, page);
  const names = await context.tx.scopes.list(context.workspaceId, { agentId: row.id }, context.nowMs, page);
  if (claims.length + names.length > 0 && !input.force) {
    throw new DibsError(
      "agent_has_claims",
      `${row.name} holds ${claims.length} task(s) and ${names.length} scope(s); repeat with force, and say why, to revoke them.`,
      {
        claims: [
          ...claims.map((claim) => claimView(claim, context.nowMs)),
          ...names.map((claim) => scopeClaimView(claim, context.nowMs)),
        ],
        next: [
          "Repeat with force: true, and a reason for those who lose it.",
          "Wait until it has finished: GET /v1/claims?agent_id=…",
        ],
      },
    );
  }
  const released = await revokeAll(context, row, `${context.agent.name} deleted the agent ${row.name}`, input.reason);
  for (const session of await context.tx.sessions.openOf(row.id)) await endAlone(context, session, {});
  await endKeys(context, row.id, undefined, context.nowMs);
  const unassigned = await unassignAll(context, row.id);
  if (unassigned > 0) context.woke();
  await unassignRecurrences(context, row.id);
  await endOffersTo(context, row);
  await context.tx.agents.update(row.id, { deleted_at: context.nowMs });
  const freed = { tasks_released: released, tasks_unassigned: unassigned };
  const { force: forced = false, reason = null } = input;
  await record(context, "agent.deleted", null, { agent_id: row.id, name: row.name, forced, reason, ...freed });
  return { body: { deleted: true, id: row.id, ...freed } };
};

/** Frees all that it holds; those who lose it are told what was done, and why where that was said. */
async function revokeAll(context: Context, agent: AgentRow, done: string, why: string | undefined): Promise<number> {
  const reason = why === undefined ? done : `${done}: ${why}`;
  const held = await context.tx.tasks.heldByAgent(agent.id);
  for (const row of held) {
    if (taskState(row, context.nowMs).held) await notifyLost(context.tx, row, "revoked", `${quoted(row)}: ${reason}`);
  }
  const names = await context.tx.scopes.ofAgent(agent.id);
  for (const row of names)
    if (isClaimLive(row, context.nowMs)) await tellLost(context.tx, row, "revoked", `${row.scope}: ${reason}`);
  await freeNames(context, names, "revoked", { reason });
  return releaseAll(context, held, "revoked", { forced: true, reason });
}

async function endKeys(
  context: Context,
  agentId: string,
  keyId: string | undefined,
  endsAtMs: number,
): Promise<number> {
  const keys = await context.tx.agents.liveKeys(agentId, context.nowMs);
  const ending = keys.filter((key) => keyId === undefined || key.id === keyId);
  for (const key of ending) await context.tx.agents.endKey(key.id, Math.min(endsAtMs, key.ends_at ?? endsAtMs));
  return ending.length;
}

/** The old keys work on for the grace time, so a holder isn't locked out in mid-lease; at most two keys live (R48). */
export const rotate_agent_key: Handler<Input<"rotate_agent_key">> = async (context, input) => {
  const row = await agentOf(context, input.agent_id);
  const older = (await context.tx.agents.liveKeys(row.id, context.nowMs)).slice(0, -1);
  for (const key of older) await context.tx.agents.endKey(key.id, context.nowMs);
  await endKeys(context, row.id, undefined, context.nowMs + input.grace_seconds * 1000);
  const key = await giveKey(context.tx, row.id);
  await record(context, "agent.key_rotated", null, { agent_id: row.id, grace_seconds: input.grace_seconds });
  return { body: { ...(await view(context, row)), key } };
};

export const revoke_agent_key: Handler<Input<"revoke_agent_key">> = async (context, input) => {
  const row = await agentOf(context, input.agent_id);
  const revoked = await endKeys(context, row.id, input.key_id, context.nowMs);
  if (revoked === 0 && input.key_id !== undefined) {
    throw new DibsError("not_found", `${row.name} has no live key ${input.key_id}.`, {});
  }
  const { release = false, reason = null } = input;
  const done = `${context.agent.name} revoked the key of ${row.name}`;
  const released = release ? await revokeAll(context, row, done, input.reason) : 0;
  await record(context, "agent.key_rotated", null, { agent_id: row.id, revoked, tasks_released: released, reason });
  return { body: { revoked, tasks_released: released } };
};
