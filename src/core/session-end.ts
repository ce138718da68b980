import type { z } from "zod";
import type { Operations } from "../contract/operations.js";
import type { Context, Handler } from "./context.js";
import { endByForce } from "./leases.js";
import type { SessionRow, TaskRow } from "./rows.js";
import { keepFindings, ownSession, sessionEvent } from "./sessions.js";
import { taskState } from "./task-state.js";
import { givenBack, recordGivenBack } from "./work.js";

/**
 * Ends a session with all its children and frees what they hold, in this transaction; none of it counts as an attempt
 * (R10, R20, R65). One that has ended already may still leave what it found.
 */
export const end_session: Handler<z.output<Operations["end_session"]["input"]>> = async (context, input) => {
  const session = await ownSession(context, input.session_id);
  await keepFindings(context, session, input.findings);
  const { released, children } = session.state === "open" ? await endWithChildren(context, session) : NOTHING;
  return {
    body: { session_id: session.id, children_ended: children, tasks_released: released, claims_released: 0 },
  };
};

const NOTHING = { released: 0, children: 0 };

async function endWithChildren(context: Context, session: SessionRow): Promise<typeof NOTHING> {
  const children = await context.tx.sessions.openUnder(session.id);
  let released = await endAlone(context, session, {});
  for (const child of children) released += await endAlone(context, child, { ended_with: session.id });
  return { released, children: children.length };
}

/** Ends one session and frees what it holds; how many tasks that were. */
export async function endAlone(context: Context, session: SessionRow, data: object): Promise<number> {
  const held = await context.tx.tasks.heldBySession(session.agent_id, session.id);
  const released = await releaseAll(context, held, { session_ended: true, ...data });
  await context.tx.sessions.end(session.id, "ended", context.nowMs);
  await sessionEvent(context, "session.ended", session, { tasks_released: released, ...data });
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
