import type { Context, Reply } from "../context.js";
import { endByForce } from "../leases/leases.js";
import { taskState } from "../tasks/task-state.js";
import { taskOf } from "../tasks/tasks.js";
import { givenBack, recordGivenBack } from "../tasks/work.js";

/** Takes back a grant whose answer reached nobody; the attempt doesn't count (R21). */
export async function undoGrant(context: Context, taskId: string, leaseId: string): Promise<Reply> {
  const row = await taskOf(context, taskId);
  if (row.lease_id !== leaseId || !taskState(row, context.nowMs).held) return { body: { undone: false } };
  const after = await endByForce(
    context,
    row,
    { ...givenBack(context, row, false), attempts: row.attempts - 1 },
    "released",
  );
  await recordGivenBack(context, row, after, { reason: "undelivered" });
  return { body: { undone: true } };
}
