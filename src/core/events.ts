import type { Context } from "./context.js";
import type { TaskRow } from "./port/rows.js";
import type { Tx } from "./port/store.js";

/** Whose act it is; null for what the clock did, or the store's owner. */
export type By = Pick<Context, "agent" | "session"> | null;

/** What an event is about. */
export interface About {
  readonly workspace_id: string;
  readonly project_id: string | null;
  readonly task_id?: string | null;
}

/** Writes an event, in the transaction of the change itself (R50). */
export async function recordBy(tx: Tx, by: By, type: string, about: About, data: object): Promise<void> {
  await tx.events.append({
    workspace_id: about.workspace_id,
    type,
    at: tx.nowMs,
    agent_id: by?.agent.id ?? null,
    agent_name: by?.agent.name ?? null,
    session_id: by?.session?.id ?? null,
    project_id: about.project_id,
    task_id: about.task_id ?? null,
    data: JSON.stringify(data),
  });
}

/** The caller's. */
export function record(
  context: Context,
  type: string,
  about: Pick<TaskRow, "id" | "project_id"> | { readonly project_id: string } | null,
  data: object = {},
): Promise<void> {
  const { tx, workspaceId: workspace_id } = context;
  const task_id = about && "id" in about ? about.id : null;
  return recordBy(tx, context, type, { workspace_id, project_id: about?.project_id ?? null, task_id }, data);
}

/** Nobody's, about a task. */
export function recordByClock(
  tx: Tx,
  type: string,
  { workspace_id, project_id, id: task_id }: Pick<TaskRow, "id" | "project_id" | "workspace_id">,
  data: object,
): Promise<void> {
  return recordBy(tx, null, type, { workspace_id, project_id, task_id }, data);
}
