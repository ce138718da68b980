import { DibsError } from "../../contract/errors.js";
import type { Context } from "../context.js";
import type { TaskRow } from "../port/rows.js";
import { quoted } from "../quoted.js";
import { holderOf } from "../tasks/refusals.js";
import { taskState } from "../tasks/task-state.js";
import { isHolder, type LeaseProof, type LostReason } from "./leases.js";

export interface LostLease {
  readonly refusal: DibsError<"lease_lost">;
  /** The lease that was lost; null when the caller had none, or still has one and named another. */
  readonly leaseId: string | null;
}

/** The refusal of a write by one who doesn't hold the task (any more): how the lease ended, and who holds it now (R3). */
export async function leaseLost(context: Context, row: TaskRow, proof: LeaseProof): Promise<LostLease> {
  const { reason, leaseId } = await lostLease(context, row, proof);
  const state = taskState(row, context.nowMs);
  const holder = state.held ? await holderOf(context, row) : undefined;
  const now = holder
    ? ` ${holder.agent_name} (session ${holder.session_id}) holds it now, until ${holder.expires_at}.`
    : ` It is ${state.status} now.`;
  const refusal = new DibsError("lease_lost", `${quoted(row)}: ${LOST[reason]}${now}`, {
    reason,
    ...(holder ? { holder } : {}),
    next: [
      "Stop working on it: nothing you deliver is taken.",
      holder || !state.free || state.waits
        ? "Claim other work: claim_next_task."
        : "Claim it again if you want it: claim_task.",
    ],
  });
  return { refusal, leaseId };
}

const LOST: Record<LostReason, string> = {
  expired: "your lease ended by the clock.",
  superseded: "you hold it under a newer lease than the one you named.",
  released: "you gave it back.",
  revoked: "your lease was taken from you.",
  transferred: "you handed it over.",
  completed: "it is finished.",
  never_held: "you don't hold it.",
};

/** Events that end a lease; each names it, its agent and its session. */
const ENDS = [
  "lease.expired",
  "task.released",
  "task.completed",
  "task.failed",
  "task.cancelled",
  "task.retried",
  "task.delegated",
  "task.handed_off",
];
type EndedLease = { lease_id?: string | null; agent_id?: string | null; session_id?: string | null; forced?: boolean };

/** The lease the caller speaks of, the one it names or its session's last on the task, and how it ended. */
async function lostLease(
  context: Context,
  row: TaskRow,
  proof: LeaseProof,
): Promise<{ reason: LostReason; leaseId: string | null }> {
  const state = taskState(row, context.nowMs);
  const sessionId = context.session?.id;
  const named = proof.lease_id;
  const holdsIt = state.held && isHolder(context, row);
  if (holdsIt && (named === undefined || named === row.lease_id)) return { reason: "superseded", leaseId: null };
  // Another agent's lease is nobody's business, even where its id is known.
  const isMine = (lease: EndedLease) =>
    named === undefined
      ? lease.session_id === sessionId
      : lease.lease_id === named && lease.agent_id === context.agent.id;
  const last = { lease_id: row.lease_id, agent_id: row.holder_agent, session_id: row.holder_session };
  if (state.lapsed && isMine(last)) return { reason: "expired", leaseId: row.lease_id };
  for (const event of await context.tx.events.lastOf(row.id, ENDS, 200)) {
    const lease = JSON.parse(event.data) as EndedLease;
    if (typeof lease.lease_id !== "string" || !isMine(lease)) continue;
    return { reason: holdsIt ? "superseded" : reasonOf(event.type, lease), leaseId: lease.lease_id };
  }
  return { reason: "never_held", leaseId: null };
}

function reasonOf(type: string, lease: EndedLease): LostReason {
  if (type === "lease.expired") return "expired";
  if (lease.forced) return "revoked";
  if (type === "task.delegated" || type === "task.handed_off") return "transferred";
  return type === "task.released" || type === "task.retried" ? "released" : "completed";
}
