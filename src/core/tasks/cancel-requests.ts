import type { Context } from "../context.js";
import { newId } from "../ids.js";
import type { TaskRow } from "../port/rows.js";
import { quoted } from "../quoted.js";

/** Tells the task's holder of now that it is to be cancelled, and who asked for it (R19, R54). */
export async function tellCancelRequest(context: Context, row: TaskRow): Promise<void> {
  // Until the request takes effect who asked stands where the closing agent will.
  const asker = row.closed_by === null ? null : await context.tx.agents.byId(context.workspaceId, row.closed_by);
  const reason = row.cancel_reason;
  await context.tx.notes.addNotice({
    id: newId(context.nowMs),
    session_id: row.holder_session ?? "",
    type: "cancel_requested",
    task_id: row.id,
    at: context.nowMs,
    message: `${asker?.name ?? "Somebody"} asks you to stop ${quoted(row)}${reason ? `: ${reason}` : ""}. Release or cancel it.`,
    data: JSON.stringify({ lease_id: row.lease_id, reason }),
  });
}
