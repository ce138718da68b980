import type { z } from "zod";
import type { Operations } from "../../contract/operations.js";
import { projectOf } from "../agents/projects.js";
import type { Context, Handler } from "../context.js";
import { cursorAfter, pageOf } from "../cursor.js";
import { record } from "../events.js";
import { frozenBy } from "../holds/frozen.js";
import { newId } from "../ids.js";
import { holds } from "../leases/leases.js";
import type { EventRow, TaskRow } from "../port/rows.js";
import { quoted } from "../quoted.js";
import { refusalToClaim } from "./refusals.js";
import { requirementOf } from "./required-verdict.js";
import { taskState } from "./task-state.js";
import { commentView, eventView, iso, linkView } from "./task-view.js";
import { taskNow, taskOf } from "./tasks.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

/** Why the caller can't claim the task now: the very refusal that the claim would give, as an answer. */
export const get_task_why: Handler<Input<"get_task_why">> = async (context, input) => {
  const row = await taskNow(context, input.task_id);
  const { ready } = taskState(row, context.nowMs, (await frozenBy(context, row)).length > 0);
  const claimable = async (text: string, next: string[]) => ({
    body: why(row, ready, true, null, text + (await requirementOf(context, row)), {}, next),
  });
  if (holds(context, row, {})) {
    const next = ["Heartbeat to keep it: heartbeat_task.", "Finish it: complete_task."];
    return claimable("you hold it; a claim renews it.", next);
  }
  const refusal = await refusalToClaim(context, row);
  if (!refusal) return claimable("it is ready.", ["Claim it: claim_task."]);
  const { next = [], ...details } = refusal.details as { next?: string[] };
  return {
    body: { ...why(row, ready, false, refusal.code, "", details, next), explanation: refusal.message },
  };
};

function why(
  row: TaskRow,
  ready: boolean,
  claimable: boolean,
  code: string | null,
  text: string,
  details: object,
  next: string[],
) {
  return { task_id: row.id, ready, claimable, code, explanation: `${quoted(row)}: ${text}`, details, next };
}

export const get_task_history: Handler<Input<"get_task_history">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  const page = pageOf("history", input);
  const rows = await context.tx.events.list(context.workspaceId, {
    taskId: row.id,
    afterId: page.after?.[0] ?? 0,
    newest: false,
    limit: page.limit,
  });
  const recorded = rows.map(eventView);
  return { body: recorded, ...cursorAfter("history", rows, page, (event: EventRow) => [event.id]) };
};

export const list_events: Handler<Input<"list_events">> = async (context, input) => {
  const projectId = input.project_id === undefined ? undefined : (await projectOf(context, input.project_id)).id;
  if (input.task_id !== undefined) await requireTrace(context, input.task_id);
  const rows = await context.tx.events.list(context.workspaceId, {
    afterId: Number(input.after ?? 0),
    newest: input.newest ?? false,
    limit: input.limit,
    ...(input.types ? { types: input.types } : {}),
    ...(projectId === undefined ? {} : { projectId }),
    ...(input.task_id === undefined ? {} : { taskId: input.task_id }),
  });
  return { body: rows.map(eventView) };
};

/** A task that was deleted is still in the log; one that never was is a mistake, not an empty list (R58). */
async function requireTrace(context: Context, taskId: string): Promise<void> {
  const [trace] = await context.tx.events.list(context.workspaceId, { taskId, afterId: 0, newest: false, limit: 1 });
  if (!trace) await taskOf(context, taskId);
}

export const list_comments: Handler<Input<"list_comments">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  const page = pageOf("comments", input);
  const rows = await context.tx.notes.comments(row.seq, page);
  return { body: rows.map(commentView), ...cursorAfter("comments", rows, page, (each) => [each.seq]) };
};

/** Always allowed, whoever holds the task (R19). */
export const add_comment: Handler<Input<"add_comment">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  const comment = await keepComment(context, row, input.body, "comment", null);
  await record(context, "task.commented", row, { comment_id: comment.id, kind: "comment" });
  return { body: comment };
};

export async function keepComment(
  context: Context,
  task: TaskRow,
  body: string,
  kind: "comment" | "late_result",
  leaseId: string | null,
) {
  const id = newId(context.nowMs);
  const written = { id, task_id: task.id, agent_id: context.agent.id, body, kind };
  await context.tx.notes.addComment({ ...written, task_seq: task.seq, lease_id: leaseId, created_at: context.nowMs });
  return { ...written, agent_name: context.agent.name, created_at: iso(context.nowMs) };
}

export const list_links: Handler<Input<"list_links">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  const page = pageOf("links", input);
  const rows = await context.tx.notes.links(row.seq, page);
  return { body: rows.map(linkView), ...cursorAfter("links", rows, page, (each) => [each.seq]) };
};

export const add_link: Handler<Input<"add_link">> = async (context, input) => {
  const task = await taskOf(context, input.task_id);
  const { url, title = null, kind } = input;
  const link = { id: newId(context.nowMs), task_id: task.id, agent_id: context.agent.id, url, title, kind };
  await context.tx.notes.addLink({ ...link, task_seq: task.seq, created_at: context.nowMs });
  await record(context, "task.linked", task, { url, kind });
  return { body: { ...link, created_at: iso(context.nowMs) } };
};
