import { z } from "zod";
import { cursor, id, limit } from "./fields.js";
import { defineOperation } from "./operation.js";
import { blockerIds, byTask, task } from "./task.js";

/** Which task waits for which: a task's blockers must be completed before it can be claimed. */
export const dependencyOperations = {
  list_dependencies: defineOperation({
    name: "list_dependencies",
    summary: "Tasks that a task waits for, or those that wait for it, oldest first, with their states.",
    method: "GET",
    path: "/v1/tasks/:task_id/dependencies",
    input: () =>
      z.strictObject({
        ...byTask,
        which: z
          .enum(["blockers", "dependents"])
          .default("blockers")
          .describe("`blockers`: what it waits for or did; `dependents`: what waits for it."),
        limit,
        cursor: cursor.optional(),
      }),
    output: () => z.array(task),
    errors: ["not_found", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  add_dependencies: defineOperation({
    name: "add_dependencies",
    summary: "Let a task wait for others. Those it waits for already stay as they are.",
    method: "POST",
    path: "/v1/tasks/:task_id/dependencies",
    input: () => z.strictObject({ ...byTask, depends_on: blockerIds.min(1, "must name at least one task") }),
    output: () => task,
    errors: ["not_found", "task_claimed", "version_mismatch", "unknown_dependency", "dependency_cycle"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  remove_dependency: defineOperation({
    name: "remove_dependency",
    summary: "Let a task wait for another no more.",
    method: "DELETE",
    path: "/v1/tasks/:task_id/dependencies/:blocker_id",
    input: () => z.strictObject({ ...byTask, blocker_id: id("the task it waits for") }),
    output: () => task,
    errors: ["not_found", "task_claimed", "version_mismatch"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
};
