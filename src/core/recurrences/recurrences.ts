import type { z } from "zod";
import { DibsError } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import type { Recurrence } from "../../contract/recurrence.js";
import { projectOf } from "../agents/projects.js";
import type { Context, Handler } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { record } from "../events.js";
import { newId } from "../ids.js";
import { agentOf } from "../named.js";
import type { RecurrenceChange, RecurrenceRow } from "../port/recurrence-verbs.js";
import { iso } from "../tasks/task-view.js";
import { scheduleOf } from "./cron.js";
import type { Template } from "./ticks.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms));

function view(row: Omit<RecurrenceRow, "seq">): Recurrence {
  const template: Template = JSON.parse(row.template);
  return {
    id: row.id,
    name: row.name,
    project_id: row.project_id,
    cron: row.cron,
    time_zone: row.time_zone,
    skip_if_open: row.skip_if_open === 1,
    enabled: row.enabled === 1,
    content: template.content,
    description: template.description,
    labels: [...template.labels],
    priority: template.priority,
    max_attempts: template.max_attempts,
    assigned_to_agent_id: row.assigned_to || null,
    context: template.context as Recurrence["context"],
    next_at: isoOrNull(row.next_at),
    last_at: isoOrNull(row.last_at),
    last_task_id: row.last_task_id,
    created_by_agent_id: row.created_by,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    version: row.version,
  };
}

/** The recurrence, or 404; another workspace's answers like an unknown one (R47). */
async function recurrenceOf(context: Context, id: string): Promise<RecurrenceRow> {
  const row = await context.tx.recurrences.byId(context.workspaceId, id);
  if (row) return row;
  throw new DibsError("not_found", `There is no recurrence ${id}; see GET /v1/recurrences (dibs recur list).`, {});
}

async function refuseTakenName(context: Context, projectId: string, name: string): Promise<void> {
  const taken = await context.tx.recurrences.byName(projectId, name);
  if (!taken) return;
  throw new DibsError(
    "already_exists",
    `There is a recurrence "${name}" in this project already (${taken.id}); change it, or take another name.`,
    {},
  );
}

/** Never at or before a tick that had its task: not when the clock was set back, nor when the times were changed. */
function nextTick(row: Pick<RecurrenceRow, "cron" | "time_zone" | "enabled" | "last_at">, nowMs: number) {
  const schedule = scheduleOf(row.cron, row.time_zone);
  return row.enabled === 1 ? schedule.after(Math.max(nowMs, row.last_at ?? 0)) : null;
}

function say(context: Context, type: string, row: Omit<RecurrenceRow, "seq">, data: object): Promise<void> {
  const about = { project_id: row.project_id };
  return record(context, type, about, { recurrence_id: row.id, name: row.name, ...data });
}

export const create_recurrence: Handler<Input<"create_recurrence">> = async (context, input) => {
  const project = await projectOf(context, input.project_id);
  if (input.assigned_to_agent_id !== undefined) await agentOf(context, input.assigned_to_agent_id);
  const when = {
    cron: input.cron,
    time_zone: input.time_zone ?? "UTC",
    enabled: input.enabled === false ? 0 : 1,
    last_at: null,
  };
  const next = nextTick(when, context.nowMs);
  await refuseTakenName(context, project.id, input.name);
  const template: Template = {
    content: input.content,
    description: input.description ?? null,
    labels: [...new Set(input.labels ?? [])],
    priority: input.priority ?? 2,
    max_attempts: input.max_attempts ?? null,
    context: input.context ?? null,
  };
  const row = {
    ...when,
    id: newId(context.nowMs),
    workspace_id: context.workspaceId,
    project_id: project.id,
    name: input.name,
    skip_if_open: input.skip_if_open ? 1 : 0,
    template: JSON.stringify(template),
    assigned_to: input.assigned_to_agent_id ?? "",
    created_by: context.agent.id,
    next_at: next,
    last_task_id: null,
    created_at: context.nowMs,
    updated_at: context.nowMs,
    version: 1,
  };
  await context.tx.recurrences.insert(row);
  await say(context, "recurrence.created", row, { cron: row.cron, time_zone: row.time_zone });
  // Who waits for a task has to know until when.
  context.woke();
  return { body: view(row) };
};

export const list_recurrences: Handler<Input<"list_recurrences">> = async (context, input) => {
  const page = pageOf("recurrences", input);
  const project = input.project_id === undefined ? null : await projectOf(context, input.project_id);
  const rows = await context.tx.recurrences.list(context.workspaceId, project?.id ?? null, page);
  return { body: rows.map(view), ...cursorAfter("recurrences", rows, page, (row) => [row.seq]) };
};

export const get_recurrence: Handler<Input<"get_recurrence">> = async (context, input) => ({
  body: view(await recurrenceOf(context, input.recurrence_id)),
});

export const update_recurrence: Handler<Input<"update_recurrence">> = async (context, input) => {
  const row = await recurrenceOf(context, input.recurrence_id);
  requireVersion(context, row);
  if (input.assigned_to_agent_id) await agentOf(context, input.assigned_to_agent_id);
  if (input.name !== undefined && input.name !== row.name) await refuseTakenName(context, row.project_id, input.name);
  const change: RecurrenceChange = { template: JSON.stringify(changedTemplate(JSON.parse(row.template), input)) };
  for (const field of ["name", "cron", "time_zone"] as const) {
    if (input[field] !== undefined) change[field] = input[field];
  }
  for (const field of ["enabled", "skip_if_open"] as const) {
    if (input[field] !== undefined) change[field] = input[field] ? 1 : 0;
  }
  if (input.assigned_to_agent_id !== undefined) change.assigned_to = input.assigned_to_agent_id ?? "";
  const retimed = ["cron", "time_zone", "enabled"].some((field) => field in change);
  if (retimed) change.next_at = nextTick({ ...row, ...change }, context.nowMs);
  const { recurrence_id: _id, ...given } = input;
  const fields = Object.keys(given).filter((field) => given[field as keyof typeof given] !== undefined);
  return { body: view(await changed(context, row, change, fields)) };
};

/** Writes the change and its event; the row as it is then. */
async function changed(
  context: Context,
  row: RecurrenceRow,
  change: RecurrenceChange,
  fields: readonly string[],
): Promise<RecurrenceRow> {
  const all = { ...change, version: row.version + 1, updated_at: context.nowMs };
  if (!(await context.tx.recurrences.change(row, all))) throw new Error("A recurrence that was locked has moved.");
  const after = { ...row, ...all };
  await say(context, "recurrence.updated", after, { fields });
  context.woke();
  return after;
}

function changedTemplate(template: Template, input: Input<"update_recurrence">): Template {
  const { content = template.content, priority = template.priority } = input;
  const { description = template.description, context = template.context } = input;
  const { max_attempts = template.max_attempts, labels = template.labels } = input;
  return { content, priority, description, context, max_attempts, labels: [...new Set(labels ?? [])] };
}

function requireVersion(context: Context, row: RecurrenceRow): void {
  const { version, name } = row;
  if (context.ifVersion === undefined || context.ifVersion === version) return;
  throw new DibsError("version_mismatch", `"${name}" is at version ${version}; read it again and repeat.`, { version });
}

export const delete_recurrence: Handler<Input<"delete_recurrence">> = async (context, input) => {
  const row = await recurrenceOf(context, input.recurrence_id);
  requireVersion(context, row);
  await context.tx.recurrences.remove(row);
  await say(context, "recurrence.deleted", row, {});
  return { body: { deleted: true, id: row.id } };
};

/** What recurs for a deleted agent goes on, for anybody (R48); what it made goes on as it is. */
export async function unassignRecurrences(context: Context, agentId: string): Promise<void> {
  for (const row of await context.tx.recurrences.assignedTo(context.workspaceId, agentId)) {
    await changed(context, row, { assigned_to: "" }, ["assigned_to_agent_id"]);
  }
}
