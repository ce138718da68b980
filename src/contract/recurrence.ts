import { z } from "zod";
import { cursor, id, json, limit, projectId, text, visibleText } from "./fields.js";
import { defineOperation } from "./operation.js";
import { newTask } from "./task.js";

const moment = z.string().nullable();

export const recurrence = z.object({
  id: z.string(),
  name: z.string(),
  project_id: z.string(),
  cron: z.string(),
  time_zone: z.string(),
  skip_if_open: z.boolean(),
  enabled: z.boolean(),
  content: z.string(),
  description: z.string().nullable(),
  labels: z.array(z.string()),
  priority: z.number(),
  max_attempts: z.number().nullable().describe("null: the workspace's at the time of the tick."),
  assigned_to_agent_id: z.string().nullable(),
  context: z.record(z.string(), json).nullable(),
  next_at: moment.describe("Its next tick; null while it is disabled."),
  last_at: moment.describe("The last tick that made a task."),
  last_task_id: z.string().nullable(),
  created_by_agent_id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  version: z.number(),
});
export type Recurrence = z.output<typeof recurrence>;

const { content, description, labels, priority, assigned_to_agent_id, max_attempts, context } = newTask.shape;
const name = visibleText(100).describe("Names it in its project, 1..100 characters.");
const cron = text(100).describe(
  'When: minute hour day month weekday, as "0 9 * * 1-5" for 09:00 on weekdays; or @hourly, @daily, @weekly, @monthly, @yearly.',
);
const timeZone = text(100).describe("Whose clock `cron` goes by, as Europe/Berlin; UTC where none is named.");
const skipIfOpen = z.boolean().describe("Pass a tick over while a task of an earlier one isn't closed.");
const enabled = z.boolean().describe("false: it makes no tasks until it is enabled again.");
const byRecurrence = { recurrence_id: id("the recurrence") } as const;

/** Templates that make a task at every tick of a clock. */
export const recurrenceOperations = {
  create_recurrence: defineOperation({
    name: "create_recurrence",
    summary: "Make a task again and again, at the times of a cron expression.",
    method: "POST",
    path: "/v1/recurrences",
    input: () =>
      z.strictObject({
        name,
        content,
        cron,
        time_zone: timeZone.optional(),
        skip_if_open: skipIfOpen.optional(),
        enabled: enabled.optional(),
        project_id: projectId.optional(),
        description,
        labels,
        priority,
        max_attempts,
        assigned_to_agent_id,
        context,
      }),
    output: () => recurrence,
    errors: ["not_found", "already_exists"],
    role: "coordinator",
    effect: "write",
    status: 201,
    nulls: "absent",
  }),
  list_recurrences: defineOperation({
    name: "list_recurrences",
    summary: "List what recurs, with the next tick of each.",
    method: "GET",
    path: "/v1/recurrences",
    input: () => z.strictObject({ project_id: projectId.optional(), limit, cursor: cursor.optional() }),
    output: () => z.array(recurrence),
    errors: ["invalid_cursor", "not_found"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  get_recurrence: defineOperation({
    name: "get_recurrence",
    summary: "Read one recurrence.",
    method: "GET",
    path: "/v1/recurrences/:recurrence_id",
    input: () => z.strictObject(byRecurrence),
    output: () => recurrence,
    errors: ["not_found"],
    role: "worker",
    effect: "read",
  }),
  update_recurrence: defineOperation({
    name: "update_recurrence",
    summary: "Change the fields named, for ticks to come; `null` clears. Honours `If-Match`.",
    method: "PATCH",
    path: "/v1/recurrences/:recurrence_id",
    aliases: [{ method: "PUT", path: "/v1/recurrences/:recurrence_id" }],
    input: () =>
      z.strictObject({
        ...byRecurrence,
        name: name.optional(),
        content: content.optional(),
        cron: cron.optional(),
        time_zone: timeZone.optional(),
        skip_if_open: skipIfOpen.optional(),
        enabled: enabled.optional(),
        description: description.nullable(),
        labels: labels.nullable(),
        priority,
        max_attempts: max_attempts.nullable(),
        assigned_to_agent_id: assigned_to_agent_id.nullable(),
        context: context.nullable(),
      }),
    output: () => recurrence,
    errors: ["not_found", "already_exists", "version_mismatch"],
    role: "coordinator",
    effect: "write",
    nulls: "clear",
  }),
  delete_recurrence: defineOperation({
    name: "delete_recurrence",
    summary: "Delete a recurrence; the tasks it made stay.",
    method: "DELETE",
    path: "/v1/recurrences/:recurrence_id",
    input: () => z.strictObject(byRecurrence),
    output: () => z.object({ deleted: z.literal(true), id: z.string() }),
    errors: ["not_found", "version_mismatch"],
    role: "coordinator",
    effect: "write",
  }),
};
