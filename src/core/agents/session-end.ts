import type { z } from "zod";
import type { Operations } from "../../contract/operations.js";
import type { Context, Handler } from "../context.js";
import { endByForce } from "../leases/leases.js";
import { endScopes, lapseScopes } from "../leases/scope-leases.js";
import { endWait } from "../line/line.js";
import type { SessionRow, TaskRow } from "../port/rows.js";
import type { ScopeClaimRow, ScopeEnd } from "../port/scope-rows.js";
import { isClaimLive } from "../scopes/scope-conflicts.js";
import { taskState } from "../tasks/task-state.js";
import { givenBack, recordGivenBack } from "../tasks/work.js";
import { keepFindings, ownSession, sessionEvent } from "./sessions.js";

/**
 * Ends a session with all its children and frees what they hold, in this transaction; none of it counts as an attempt
 * (R10, R20, R65). One that has ended already may still leave what it found.
 */
export const end_session: Handler<z.output<Operations["end_session"]["input"]>> = async (context, input) => {
  const session = await ownSession(context, input.session_id);
  await keepFindings(context, session, input.findings);
  const { tasks, claims, children } = session.state === "open" ? await endWithChildren(context, session) : NOTHING;
  return {
    body: { session_id: session.id, children_ended: children, tasks_released: tasks, claims_released: claims },
  };
};

const NOTHING = { tasks: 0, claims: 0, children: 0 };

async function endWithChildren(context: Context, session: SessionRow): Promise<typeof NOTHING> {
  const children = await context.tx.sessions.openUnder(session.id);
  const freed = { ...(await endAlone(context, session, {})), children: children.length };
  for (const child of children) {
    const { tasks, claims } = await endAlone(context, child, { ended_with: session.id });
    freed.tasks += tasks;
    freed.claims += claims;
  }
  return freed;
}

/** Ends one session and frees what it holds; how many tasks, and how many names, that were. */
export async function endAlone(
  context: Context,
  session: SessionRow,
  data: object,
): Promise<{ tasks: number; claims: number }> {
  await context.tx.scopes.alone(context.workspaceId);
  const held = await context.tx.tasks.heldBySession(session.agent_id, session.id);
  const tasks = await releaseAll(context, held, "released", { session_ended: true, ...data });
  const names = await context.tx.scopes.ofSession(session.id);
  const claims = await freeNames(context, names, "released", { session_ended: true, ...data });
  for (const wait of await context.tx.waits.ofSessions([session.id]))
    await endWait(context.tx, wait, "session_ended", { by: context });
  await context.tx.sessions.end(session.id, "ended", context.nowMs);
  const told = { tasks_released: tasks, claims_released: claims };
  await sessionEvent(context, "session.ended", session, { ...told, ...data });
  return { tasks, claims };
}

/** Frees every live one among the names, and records the others as what they are; how many were live. */
export async function freeNames(
  context: Context,
  rows: readonly ScopeClaimRow[],
  how: ScopeEnd,
  data: object,
): Promise<number> {
  const live = rows.filter((row) => isClaimLive(row, context.nowMs));
  await lapseScopes(
    context.tx,
    rows.filter((row) => !isClaimLive(row, context.nowMs)),
  );
  await endScopes(context, live, how, data);
  return live.length;
}

/** Gives back every live lease among the rows, with its names. */
export async function releaseAll(
  context: Context,
  rows: readonly TaskRow[],
  how: ScopeEnd,
  data: object,
): Promise<number> {
  let released = 0;
  for (const row of rows) {
    if (!taskState(row, context.nowMs).held) continue;
    const change = { ...givenBack(context, row, false), attempts: row.attempts - 1 };
    const after = await endByForce(context, row, change, how);
    await recordGivenBack(context, row, after, data);
    released += 1;
  }
  return released;
}
