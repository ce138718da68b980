import { DibsError } from "../../contract/errors.js";
import type { Operation } from "../../contract/operation.js";
import { projectOf } from "../agents/projects.js";
import type { Context } from "../context.js";
import type { Awaitable } from "../port/verbs.js";

type Placed = { readonly project_id: string | null; readonly task_id?: string | null } | undefined;
type Look = (context: Context, id: string) => Awaitable<Placed>;

/** How the records are found that calls name in their path and that are of a project. */
const RECORDS: Readonly<Record<string, Look>> = {
  ticket: ({ tx, workspaceId }, id) => tx.waits.byId(workspaceId, id),
  claim_id: async ({ tx, workspaceId }, id) => (await tx.scopes.byIds(workspaceId, [id]))[0],
  yield_id: ({ tx, workspaceId }, id) => tx.waits.yieldById(workspaceId, id),
  handoff_id: ({ tx, workspaceId }, id) => tx.handoffs.byId(workspaceId, id),
  hold_id: ({ tx, workspaceId }, id) => tx.holds.byId(workspaceId, id),
  unlanded_id: ({ tx, workspaceId }, id) => tx.unlanded.byId(workspaceId, id),
  session_id: ({ tx, workspaceId }, id) => tx.sessions.byId(workspaceId, id),
};

/** The record that a call names by its id, of those that are of a project. */
export async function recordNamed(context: Context, input: Readonly<Record<string, unknown>>): Promise<Placed> {
  const field = Object.keys(RECORDS).find((each) => typeof input[each] === "string");
  return field === undefined ? undefined : RECORDS[field]?.(context, String(input[field]));
}

/**
 * A call that names one record by its id may say its project besides, as programs do that send it with every call. Throws
 * `not_found` where there is no such project, or the record is of another one.
 */
export async function requireItsProject(
  context: Context,
  { path }: Operation,
  input: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (typeof input.project_id !== "string") return;
  const field = Object.keys(RECORDS).find((each) => path.includes(`:${each}`));
  if (field === undefined) return;
  const project = await projectOf(context, input.project_id);
  const id = String(input[field]);
  const row = await RECORDS[field]?.(context, id);
  if (!row || row.project_id === null || row.project_id === project.id) return;
  throw new DibsError("not_found", `There is no ${field.replace("_id", "")} ${id} in project ${project.key}.`, {});
}
