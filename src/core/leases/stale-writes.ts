import type { Context, Reply } from "../context.js";
import { record } from "../events.js";
import type { TaskRow } from "../port/rows.js";
import { keepComment } from "../tasks/task-notes.js";
import type { LeaseProof } from "./leases.js";
import { type LostLease, leaseLost } from "./lost-lease.js";

/**
 * The refusal of a holder's write that came without the right to it. It leaves one event a session, task and minute
 * (R51), written by the clock of the refusal.
 */
export async function refuseLost(context: Context, row: TaskRow, proof: LeaseProof): Promise<Reply> {
  const { refusal } = await refuseStale(context, row, proof);
  return { body: null, refusal };
}

async function refuseStale(context: Context, row: TaskRow, proof: LeaseProof): Promise<LostLease> {
  const lost = await leaseLost(context, row, proof);
  const refused = await context.tx.events.lastOf(row.id, ["stale_write.refused"], 200);
  const sessionId = context.session?.id ?? null;
  const mine = refused.find((event) => event.session_id === sessionId && event.agent_id === context.agent.id);
  if (mine && context.nowMs - mine.at < 60_000) return lost;
  const { lease_id, fence } = proof;
  await record(context, "stale_write.refused", row, { lease_id, fence, reason: lost.refusal.details.reason });
  return lost;
}

/** A late result never changes what was delivered; it is kept as a comment, once per lost lease (R7). */
export async function refuseLate(
  context: Context,
  row: TaskRow,
  proof: LeaseProof,
  result: string | null,
): Promise<Reply> {
  const { refusal, leaseId } = await refuseStale(context, row, proof);
  const reply = { body: null, refusal };
  if (result === null || leaseId === null || (await context.tx.notes.hasLateResult(leaseId))) return reply;
  const comment = await keepComment(context, row, result, "late_result", leaseId);
  await record(context, "task.commented", row, { comment_id: comment.id, kind: "late_result", lease_id: leaseId });
  return reply;
}
