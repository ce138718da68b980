import { DibsError } from "../../contract/errors.js";
import type { Context } from "../context.js";
import { blockedByOthers, delegatedToOthers } from "../dependencies/blockers.js";
import { frozen, frozenBy } from "../holds/frozen.js";
import type { TaskRow } from "../port/rows.js";
import { quoted } from "../quoted.js";
import { scopeConflict } from "../scopes/scope-conflicts.js";
import { refusedTaskBeside } from "../unlanded/unlanded-beside.js";
import { judgementOf } from "./required-verdict.js";
import { takenFrom } from "./task-scopes.js";
import { type TaskState, taskState } from "./task-state.js";
import { ATTEMPTS_EXHAUSTED, claimView, iso } from "./task-view.js";

/** The first cause that keeps the caller from claiming a task, or null. One function for claim, `why` and page (R17). */
export async function refusalToClaim(context: Context, row: TaskRow): Promise<DibsError | null> {
  const state = taskState(row, context.nowMs);
  if (state.status === "completed" || state.status === "failed" || state.status === "cancelled") {
    return closed(context, row, state);
  }
  if (state.status === "delegated") return delegatedToOthers(context, row);
  if (state.held) return heldByOther(context, row);
  if (row.not_before !== null && row.not_before > context.nowMs) {
    return new DibsError("task_scheduled", `${quoted(row)} may not start before ${iso(row.not_before)}.`, {
      not_before: iso(row.not_before),
      next: ["Claim another task: claim_next_task.", `Claim this one from ${iso(row.not_before)} on.`],
    });
  }
  if (state.blocked) return blockedByOthers(context, row);
  const holds = await frozenBy(context, row);
  if (holds.length > 0) return refusedTaskBeside(context, row, frozen(context, quoted(row), holds));
  if (row.assigned_to !== "" && row.assigned_to !== context.agent.id) {
    const assignee = await context.tx.agents.byId(context.workspaceId, row.assigned_to);
    return new DibsError("task_assigned", `${quoted(row)} is assigned to ${assignee?.name ?? row.assigned_to}.`, {
      assigned_to_agent_id: row.assigned_to,
      next: ["Claim another task: claim_next_task.", "A coordinator can assign it to you: update_task."],
    });
  }
  const conflicts = await takenFrom(context, row);
  return conflicts.length > 0 ? refusedTaskBeside(context, row, scopeConflict(context, conflicts, null)) : null;
}

async function closed(context: Context, row: TaskRow, state: TaskState): Promise<DibsError<"task_closed">> {
  const unnoticed = row.status === "claimed";
  const exhausted = unnoticed && state.status === "failed";
  const by = row.closed_by;
  const name = by === null ? null : ((await context.tx.agents.byId(context.workspaceId, by))?.name ?? by);
  const at = unnoticed ? state.leaseEndMs : row.closed_at;
  const reason = exhausted ? ATTEMPTS_EXHAUSTED : row.failure_reason;
  const judged = state.status === "completed" ? await judgementOf(context, row) : "";
  const why = state.status === "failed" && reason !== null ? ` (${reason})` : "";
  return new DibsError(
    "task_closed",
    `${quoted(row)} is ${state.status}${why}${name === null ? "" : ` by ${name}`}${at === null ? "" : ` since ${iso(at)}`}${judged}.`,
    {
      status: state.status,
      by,
      at: at === null ? null : iso(at),
      next: [
        "Claim another task: claim_next_task.",
        state.status === "failed" ? "A coordinator can retry it: retry_task." : "Open it again: reopen_task.",
      ],
    },
  );
}

/** The refusal that names who holds the task, why, since and until when. */
export async function heldByOther(context: Context, row: TaskRow): Promise<DibsError<"task_claimed">> {
  const holder = await holderOf(context, row);
  const who = holder ? `${holder.agent_name} (session ${holder.session_id})` : "somebody";
  const until = holder ? ` since ${holder.claimed_at} until ${holder.expires_at}` : "";
  return new DibsError("task_claimed", `${quoted(row)} is held by ${who}${until}.`, {
    holder: holder ?? {},
    next: [
      "Claim another task: claim_next_task.",
      holder
        ? `Try this one again after ${holder.expires_at}, when its lease ends unless it is renewed.`
        : "Try again.",
      "Another session of the same agent, or an admin, may take it over with a reason (takeover).",
    ],
  });
}

/** The claims-table row of a task's live holder. */
export async function holderOf(context: Context, row: TaskRow) {
  const page = { limit: 1, after: null };
  const [record] = await context.tx.claims.list(context.workspaceId, { taskId: row.id }, context.nowMs, page);
  return record && claimView(record, context.nowMs);
}
