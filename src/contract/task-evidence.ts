import { z } from "zod";
import { A_WHOLE_HASH, branchName, said, WHOLE_HASH } from "./evidence.js";
import { cursor, limit, projectId } from "./fields.js";
import { defineOperation } from "./operation.js";
import { byTask, task } from "./task.js";

export const head = z.object({
  project_id: z.string(),
  branch: z.string(),
  commit: z.string(),
  agent_id: z.string().describe("Who said so."),
  updated_at: z.string().describe("Since when it is known to be there."),
});

/** How results are judged, and where branches stand: Dibs opens no repository, so it has to be told. */
export const evidenceOperations = {
  judge_task: defineOperation({
    name: "judge_task",
    summary:
      "Judge a task's result, or add evidence to it; always allowed, also while others hold it and when it is closed.",
    method: "POST",
    path: "/v1/tasks/:task_id/verdict",
    aliases: [{ method: "POST", path: "/v1/tasks/:task_id/evidence" }],
    input: () => z.strictObject({ ...byTask, ...said }),
    output: () => task,
    errors: ["not_found"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  report_head: defineOperation({
    name: "report_head",
    summary:
      "Say which commit a branch is at; verdicts and evidence about its other commits read `stale` from then on.",
    method: "POST",
    path: "/v1/heads",
    input: () =>
      z.strictObject({
        branch: branchName.describe("The branch's name, as `main`."),
        commit: z.string().regex(WHOLE_HASH, A_WHOLE_HASH).describe("The whole hash of its last commit."),
        project_id: projectId.optional(),
      }),
    output: () => head,
    errors: ["not_found"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  list_heads: defineOperation({
    name: "list_heads",
    summary: "Which commit each branch is at, as far as Dibs was told, in the order they were first named.",
    method: "GET",
    path: "/v1/heads",
    input: () =>
      z.strictObject({
        project_id: projectId.optional(),
        branch: branchName.optional().describe("Only this branch."),
        limit,
        cursor: cursor.optional(),
      }),
    output: () => z.array(head),
    errors: ["not_found", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
};
