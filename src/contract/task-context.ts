import { z } from "zod";
import { cursor, json, leaseProof, limit } from "./fields.js";
import { defineOperation } from "./operation.js";
import { byTask, CONTEXT_VERSIONS_KEPT, taskContext } from "./task.js";

const A_VERSION = "must be a version of the context: a whole number";
const version = (least: number) => z.int(A_VERSION).min(least, A_VERSION);

const written = {
  agent_id: z.string().nullable().describe("Who wrote it; null when nobody did yet."),
  agent_name: z.string().nullable(),
  session_id: z.string().nullable(),
  created_at: z.string().nullable(),
} as const;

export const contextRecord = z.object({
  task_id: z.string(),
  context: z.record(z.string(), json),
  ...written,
  version: z.number().describe("Grows by one with every change; 0 when it never had any."),
});

/** A task's context: data for whoever works on it, changed under a version of its own. */
export const contextOperations = {
  get_task_context: defineOperation({
    name: "get_task_context",
    summary: "Read a task's context, as it is or as it was in one of the versions kept.",
    method: "GET",
    path: "/v1/tasks/:task_id/context",
    input: () => z.strictObject({ ...byTask, version: version(1).optional().describe("An older version.") }),
    output: () => contextRecord,
    errors: ["not_found"],
    role: "worker",
    effect: "read",
  }),
  change_task_context: defineOperation({
    name: "change_task_context",
    summary: "Merge into a task's context, or replace it. Honours `If-Match` with the context's version.",
    method: "PATCH",
    path: "/v1/tasks/:task_id/context",
    input: () =>
      z.strictObject({
        ...byTask,
        ...leaseProof,
        context: taskContext.describe(
          "Merged key by key, objects inside as well (RFC 7396): null removes a key, any other value takes its place.",
        ),
        replace: z.boolean().optional().describe("true: the context is exactly this from now on."),
        expected_version: version(0)
          .optional()
          .describe("Refuse unless the context still has this version; as `If-Match`."),
      }),
    output: () => contextRecord,
    errors: ["not_found", "task_claimed", "lease_lost", "version_mismatch"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  list_context_versions: defineOperation({
    name: "list_context_versions",
    summary: `Who changed a task's context, when and where, newest first; the last ${CONTEXT_VERSIONS_KEPT} versions are kept.`,
    method: "GET",
    path: "/v1/tasks/:task_id/context/versions",
    input: () => z.strictObject({ ...byTask, limit, cursor: cursor.optional() }),
    output: () =>
      z.array(
        z.object({
          version: z.number(),
          changed: z.array(z.string()).describe("Keys of the outermost object that were set, changed or removed."),
          ...written,
        }),
      ),
    errors: ["not_found", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
};
