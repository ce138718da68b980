import { z } from "zod";
import { VERDICT } from "./evidence.js";
import { cursor, id, limit, projectId, reason, text, visibleText } from "./fields.js";
import { defineOperation } from "./operation.js";
import { byTask, newTask, TASK_STATUS, task, taskChanges } from "./task.js";

/** One thing that happened: the log's row, which is also a task's history. */
export const historyEntry = z.object({
  id: z.string().describe("Decimal; orders the workspace's events."),
  type: z.string(),
  at: z.string(),
  actor: z
    .object({ agent_id: z.string(), agent_name: z.string(), session_id: z.string().nullable() })
    .nullable()
    .describe("Who did it, with the name at that time; null when the clock did."),
  project_id: z.string().nullable(),
  task_id: z.string().nullable(),
  scope: z.string().nullable().describe("The one it is about; of several `data` has them."),
  data: z.record(z.string(), z.json()),
});

export const comment = z.object({
  id: z.string(),
  task_id: z.string(),
  agent_id: z.string(),
  agent_name: z.string(),
  body: z.string(),
  kind: z
    .enum(["comment", "late_result"])
    .describe("`late_result`: delivered after the lease was lost, kept for reading."),
  created_at: z.string(),
});

export const link = z.object({
  id: z.string(),
  task_id: z.string(),
  agent_id: z.string(),
  url: z.string(),
  title: z.string().nullable(),
  kind: z.string(),
  created_at: z.string(),
});

/** Making, reading and changing tasks, and what is written beside them. */
export const taskRecordOperations = {
  create_task: defineOperation({
    name: "create_task",
    summary: "Create a task.",
    method: "POST",
    path: "/v1/tasks",
    input: () => newTask,
    output: () => task,
    errors: ["not_found", "unknown_dependency", "invalid_scope"],
    role: "worker",
    effect: "write",
    status: 201,
    nulls: "absent",
  }),
  create_tasks: defineOperation({
    name: "create_tasks",
    summary: "Create many tasks, all or none.",
    method: "POST",
    path: "/v1/tasks/batch",
    input: () =>
      z.strictObject({
        tasks: z.array(newTask).min(1, "must hold at least one task").max(1000, "must hold at most 1,000 tasks"),
      }),
    output: () => z.array(task),
    errors: ["not_found", "unknown_dependency", "invalid_scope"],
    role: "worker",
    effect: "write",
    status: 201,
    nulls: "absent",
  }),
  list_tasks: defineOperation({
    name: "list_tasks",
    summary: "List tasks; without filters all of the workspace.",
    method: "GET",
    path: "/v1/tasks",
    input: () =>
      z.strictObject({
        status: z.enum(TASK_STATUS).optional(),
        ready: z.boolean().optional().describe("Only tasks that could (or could not) be claimed now."),
        blocked: z.boolean().optional().describe("Only open tasks that wait for others."),
        stalled: z.boolean().optional().describe("Only those that wait for one that failed or was cancelled."),
        lapsed: z.boolean().optional().describe("Only tasks whose last lease ended by the clock."),
        claimed: z
          .boolean()
          .optional()
          .describe("true: being worked on now; false: available (lapsed ones too, closed ones not)."),
        project_id: projectId.optional(),
        label: text(100).optional(),
        plan: text(64).optional().describe("Slug of the plan it is part of, in any project unless one is named."),
        assigned_to: id("the agent it is assigned to").optional(),
        verdict: z
          .enum([...VERDICT, "stale", "none"])
          .optional()
          .describe("How they were judged last: `pass` and `fail` that still count, `stale` ones, or `none` yet."),
        search: text(200).optional().describe("Text in title or description, in any letter case."),
        sort: z
          .enum(["handout", "created", "-created"])
          .optional()
          .describe(
            "`handout`: as claims hand them out (priority, then oldest), the default for open and ready ones; `created`; `-created`: newest first.",
          ),
        limit,
        cursor: cursor.optional(),
      }),
    output: () => z.array(task),
    errors: ["invalid_cursor", "not_found"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  get_task: defineOperation({
    name: "get_task",
    summary: "Read one task.",
    method: "GET",
    path: "/v1/tasks/:task_id",
    input: () => z.strictObject(byTask),
    output: () => task,
    errors: ["not_found"],
    role: "worker",
    effect: "read",
  }),
  update_task: defineOperation({
    name: "update_task",
    summary: "Change the fields named; `null` clears. Honours `If-Match`.",
    method: "PATCH",
    path: "/v1/tasks/:task_id",
    aliases: [{ method: "PUT", path: "/v1/tasks/:task_id" }],
    input: () => z.strictObject({ ...byTask, ...taskChanges }),
    output: () => task,
    errors: [
      "not_found",
      "task_claimed",
      "version_mismatch",
      "unknown_dependency",
      "dependency_cycle",
      "invalid_scope",
      "frozen",
      "scope_conflict",
      "lease_lost",
    ],
    role: "worker",
    effect: "write",
    nulls: "clear",
  }),
  delete_task: defineOperation({
    name: "delete_task",
    summary: "Delete a task that nobody holds; one that others depend on only with `force`, which frees them.",
    method: "DELETE",
    path: "/v1/tasks/:task_id",
    input: () =>
      z.strictObject({
        ...byTask,
        force: z.boolean().optional().describe("true: also when other tasks depend on it, which wait for it no more."),
        reason: reason.optional(),
      }),
    output: () => z.object({ deleted: z.literal(true), id: z.string() }),
    errors: ["not_found", "task_claimed", "version_mismatch", "has_dependents"],
    role: "worker",
    effect: "write",
  }),
  get_task_why: defineOperation({
    name: "get_task_why",
    summary: "Why a task can't be claimed by the caller now, and what to do next.",
    method: "GET",
    path: "/v1/tasks/:task_id/why",
    input: () => z.strictObject(byTask),
    output: () =>
      z.object({
        task_id: z.string(),
        ready: z.boolean(),
        claimable: z.boolean().describe("The caller could claim it now."),
        code: z.string().nullable().describe("The code a claim by the caller would be refused with."),
        explanation: z.string(),
        details: z.record(z.string(), z.json()),
        next: z.array(z.string()),
      }),
    errors: ["not_found"],
    role: "worker",
    effect: "read",
  }),
  get_task_history: defineOperation({
    name: "get_task_history",
    summary: "Everything that happened to a task, oldest first.",
    method: "GET",
    path: "/v1/tasks/:task_id/history",
    input: () => z.strictObject({ ...byTask, limit, cursor: cursor.optional() }),
    output: () => z.array(historyEntry),
    errors: ["not_found", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  list_comments: defineOperation({
    name: "list_comments",
    summary: "Comments of a task, oldest first.",
    method: "GET",
    path: "/v1/tasks/:task_id/comments",
    input: () => z.strictObject({ ...byTask, limit, cursor: cursor.optional() }),
    output: () => z.array(comment),
    errors: ["not_found", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  add_comment: defineOperation({
    name: "add_comment",
    summary: "Write a comment; always allowed.",
    method: "POST",
    path: "/v1/tasks/:task_id/comments",
    input: () => z.strictObject({ ...byTask, body: visibleText(100_000).describe("The comment's text.") }),
    output: () => comment,
    errors: ["not_found"],
    role: "worker",
    effect: "write",
    status: 201,
    nulls: "absent",
  }),
  list_links: defineOperation({
    name: "list_links",
    summary: "Links of a task, oldest first.",
    method: "GET",
    path: "/v1/tasks/:task_id/links",
    input: () => z.strictObject({ ...byTask, limit, cursor: cursor.optional() }),
    output: () => z.array(link),
    errors: ["not_found", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  add_link: defineOperation({
    name: "add_link",
    summary: "Link a task to a pull request, commit, issue or page; always allowed.",
    method: "POST",
    path: "/v1/tasks/:task_id/links",
    input: () =>
      z.strictObject({
        ...byTask,
        url: z
          .url({ protocol: /^https?$/, message: "must be an http or https address" })
          .max(2000, "must have at most 2,000 characters"),
        title: visibleText(500).optional(),
        kind: z.enum(["pull_request", "commit", "issue", "artifact", "other"]).default("other"),
      }),
    output: () => link,
    errors: ["not_found"],
    role: "worker",
    effect: "write",
    status: 201,
    nulls: "absent",
  }),
};
