import type { z } from "zod";
import type { Operations } from "../../contract/operations.js";
import type { Context, Handler } from "../context.js";
import { aboutToLapse } from "../leases/leases.js";
import { quoted } from "../quoted.js";
import { taskState } from "../tasks/task-state.js";
import { iso, noticeView } from "../tasks/task-view.js";

/** Newest first; a session that never acknowledges doesn't make its answers grow without end. */
const NOTICES_SHOWN = 20;

/** What the session must know: what was recorded for it, and leases of its own about to lapse (R54). */
export async function noticesOf(context: Context) {
  const { session, tx, nowMs } = context;
  if (!session) return [];
  const waiting = await context.noticeCount(session);
  const recorded = waiting === 0 ? [] : (await tx.notes.notices(session.id, NOTICES_SHOWN)).map(noticeView);
  const held = session.implicit ? [] : await context.prefetched.expiring(context.workspaceId, session.id);
  const expiring = held
    .filter((row) => aboutToLapse(row, nowMs))
    .map((row) => ({
      id: row.lease_id ?? "",
      type: "lease.expiring" as const,
      task_id: row.id,
      at: iso(nowMs),
      message: `The lease on ${quoted(row)} ends soon; heartbeat to keep it.`,
      data: { lease_id: row.lease_id, expires_at: iso(taskState(row, nowMs).leaseEndMs ?? nowMs) },
    }));
  return [...expiring, ...recorded].slice(0, NOTICES_SHOWN);
}

export const ack_notices: Handler<z.output<Operations["ack_notices"]["input"]>> = async (context, input) => ({
  body: {
    acknowledged: context.session ? await context.tx.notes.ackNotices(context.session.id, input.ids) : 0,
  },
});
