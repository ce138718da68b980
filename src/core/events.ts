import type { Context } from "./context.js";
import type { TaskRow } from "./port/rows.js";
import type { Tx } from "./port/store.js";

/** Writes an event of the caller's, in the transaction of the change itself (R50). */
export async function record(
  context: Context,
  type: string,
  about: Pick<TaskRow, "id" | "project_id"> | { readonly project_id: string } | null,
  data: object = {},
): Promise<void> {
  await context.tx.events.append({
    workspace_id: context.workspaceId,
    type,
    at: context.nowMs,
    agent_id: context.agent.id,
    agent_name: context.agent.name,
    session_id: context.session?.id ?? null,
    project_id: about?.project_id ?? null,
    task_id: about && "id" in about ? about.id : null,
    data: JSON.stringify(data),
  });
}

/** Writes an event that is nobody's: the clock acted, or the store's owner. */
export async function recordByClock(
  tx: Tx,
  type: string,
  task: Pick<TaskRow, "id" | "project_id" | "workspace_id">,
  data: object,
): Promise<void> {
  await tx.events.append({
    workspace_id: task.workspace_id,
    type,
    at: tx.nowMs,
    agent_id: null,
    agent_name: null,
    session_id: null,
    project_id: task.project_id,
    task_id: task.id,
    data: JSON.stringify(data),
  });
}
