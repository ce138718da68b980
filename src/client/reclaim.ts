import { DibsError, isDibsError } from "../contract/errors.js";
import type { Task } from "../contract/task.js";
import type { DibsSession } from "./dibs.js";

/** A grant and the session that holds it. */
export interface HeldTask {
  readonly session: DibsSession;
  /** The task as its claim gave it. */
  readonly record: Task;
}

interface ReclaimOptions {
  readonly leaseSeconds: number | undefined;
  readonly openSession: (signal: AbortSignal) => Promise<DibsSession>;
  readonly signal: AbortSignal;
}

/** What names the grant in a holder's call. */
export function proofOf(record: Task) {
  return { task_id: record.id, lease_id: record.lease_id ?? undefined, fence: record.fence };
}

/**
 * Claims a task again whose lease the clock ended, as after a laptop's sleep (R7), in a new session if the old one fell
 * silent. One try. Throws what the server said instead: `loss` itself when the lease ended in any other way, since whoever
 * took it, gave it back or ended the session meant that; else why the task can't be had.
 */
export async function reclaim(lost: HeldTask, loss: unknown, options: ReclaimOptions): Promise<HeldTask> {
  if (!isDibsError(loss, "session_ended")) return claimAgain(lost.session, lost.record, loss, options);
  const { state } = await lost.session.getSession({ session_id: lost.session.record.id }, { signal: options.signal });
  if (state !== "expired") throw loss;
  const session = await options.openSession(options.signal);
  try {
    return await claimAgain(session, lost.record, await howItEnded(session, lost.record, options.signal), options);
  } catch (refusal) {
    // Nobody waits for this: the work is to stop now. Should it fail, the session dies of silence.
    void session.end().catch(() => undefined);
    throw refusal;
  }
}

/** A dead session says nothing of its leases, which may have been taken from it before; any session of the agent may ask. */
async function howItEnded(session: DibsSession, record: Task, signal: AbortSignal): Promise<unknown> {
  try {
    await session.heartbeatTask(proofOf(record), { signal });
  } catch (refusal) {
    return refusal;
  }
  throw new Error(`The lease of task ${record.id} outlived its session.`);
}

async function claimAgain(session: DibsSession, lost: Task, loss: unknown, options: ReclaimOptions): Promise<HeldTask> {
  if (!isDibsError(loss, "lease_lost") || loss.details.reason !== "expired") throw loss;
  const { leaseSeconds, signal } = options;
  const input = { task_id: lost.id, ...(leaseSeconds ? { lease_seconds: leaseSeconds } : {}) };
  const { task } = await session.claimTask(input, { signal });
  if (task.fence === lost.fence + 1) return { session, record: task };
  // What runs began before that holder's work, and an outside store may have seen its fence: neither may go on.
  await session.releaseTask(proofOf(task), { signal });
  const message = `Task ${lost.id} was held by another after your lease ended (fence ${lost.fence}); its fence is ${task.fence} now.`;
  throw new DibsError("lease_lost", message, { reason: "expired", next: ["Claim other work: claim_next_task."] });
}
