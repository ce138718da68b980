import { z } from "zod";
import { claimRow } from "./claim-row.js";
import { said } from "./evidence.js";
import { json, leaseProof, leaseSeconds, text, visibleText, whole } from "./fields.js";
import { holdRow } from "./hold.js";
import { notices } from "./notice.js";
import { defineOperation } from "./operation.js";
import { byTask, claimFilter, claimOptions, task, WORK_STATE, withReason } from "./task.js";
import { unlandedBeside } from "./unlanded.js";

const holding = { ...byTask, ...leaseProof } as const;

/**
 * So many tasks that a claim passed over are counted. To count 10,000 of them a claim took 2 to 6 times as long on SQLite,
 * half as long again on PostgreSQL.
 */
export const SKIPPED_COUNTED = 1_000;
const COUNTED = SKIPPED_COUNTED.toLocaleString("en");

const skipped = z.object({
  id: z.string(),
  content: z.string(),
  code: z
    .enum(["scope_conflict", "frozen", "limit_exceeded"])
    .describe("`limit_exceeded`: with its scopes it is more than the caller may hold beside what it holds."),
  holder: claimRow.nullable().describe("Who holds a scope of it."),
  hold: holdRow.nullable().describe("What freezes it."),
});

/** The life of a claim: taking, keeping and ending it. */
export const taskWorkOperations = {
  claim_next_task: defineOperation({
    name: "claim_next_task",
    summary: "Claim the next ready task: highest priority, then oldest. `null` when there is none.",
    method: "POST",
    path: "/v1/tasks/claim",
    input: () =>
      z.strictObject({
        ...claimFilter,
        ...claimOptions,
        count: whole(1, 100)
          .optional()
          .describe("Up to so many tasks, each under its own lease; the answer is then `tasks`."),
      }),
    output: () =>
      z.object({
        task: task.nullable().optional(),
        tasks: z.array(task).optional(),
        skipped: z
          .array(skipped)
          .describe("What came first and is frozen, has scopes that aren't free or too many of them, at most ten."),
        skipped_count: z
          .number()
          .describe(`How many they are; ${COUNTED} means so many or more, as counting ends there.`),
        unlanded: unlandedBeside.optional(),
        notices,
      }),
    errors: ["not_found", "lease_lost", "limit_exceeded", "idempotency_key_reused"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  claim_task: defineOperation({
    name: "claim_task",
    summary: "Claim one named task, or learn why not.",
    method: "POST",
    path: "/v1/tasks/:task_id/claim",
    input: () =>
      z.strictObject({
        ...byTask,
        lease_seconds: claimOptions.lease_seconds,
        takeover: z
          .boolean()
          .optional()
          .describe("Take it from its live holder: another session of the same agent, or an admin; needs `reason`."),
        reason: withReason.shape.reason,
      }),
    output: () => z.object({ task, unlanded: unlandedBeside.optional(), notices }),
    errors: [
      "not_found",
      "task_claimed",
      "task_closed",
      "task_scheduled",
      "task_blocked",
      "task_delegated",
      "task_assigned",
      "frozen",
      "scope_conflict",
      "reason_required",
      "lease_lost",
      "limit_exceeded",
      "idempotency_key_reused",
    ],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  heartbeat_task: defineOperation({
    name: "heartbeat_task",
    summary:
      "Keep the lease: it runs for its length from now. May carry progress for people and a checkpoint for the next holder.",
    method: "POST",
    path: "/v1/tasks/:task_id/heartbeat",
    input: () =>
      z.strictObject({
        ...holding,
        lease_seconds: leaseSeconds.optional().describe("A new length; else the running one is kept."),
        state: z.enum(WORK_STATE).optional(),
        detail: text(2000).optional(),
        progress: json.optional(),
        checkpoint: json.optional(),
      }),
    output: () => task.extend({ notices }),
    errors: ["not_found", "lease_lost"],
    role: "worker",
    effect: "write",
    nulls: "absent",
    heartbeat: true,
  }),
  release_task: defineOperation({
    name: "release_task",
    summary: "Give the task back to the queue at once, with a note for the next holder.",
    method: "POST",
    path: "/v1/tasks/:task_id/release",
    input: () =>
      z.strictObject({
        ...holding,
        handoff: visibleText(100_000).optional().describe("A note for the next holder."),
      }),
    output: () => task,
    errors: ["not_found", "lease_lost"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  complete_task: defineOperation({
    name: "complete_task",
    summary: "Finish the task with its result, what shows it, and how it is judged.",
    method: "POST",
    path: "/v1/tasks/:task_id/complete",
    input: () => z.strictObject({ ...holding, result: json.optional().describe("What came out; any JSON."), ...said }),
    output: () => task,
    errors: ["not_found", "lease_lost", "verdict_required"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  fail_task: defineOperation({
    name: "fail_task",
    summary: "Say that the work failed; with `retry` it opens again and the attempt counts.",
    method: "POST",
    path: "/v1/tasks/:task_id/fail",
    input: () =>
      z.strictObject({
        ...holding,
        reason: withReason.shape.reason,
        retry: z.boolean().optional().describe("true: open again, if attempts are left."),
      }),
    output: () => task,
    errors: ["not_found", "lease_lost", "reason_required"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  cancel_task: defineOperation({
    name: "cancel_task",
    summary: "Cancel a task. While somebody else holds it this is a request to the holder (202).",
    method: "POST",
    path: "/v1/tasks/:task_id/cancel",
    input: () => z.strictObject({ ...holding, reason: withReason.shape.reason }),
    output: () => task,
    otherwise: { status: 202, when: "while somebody else holds the task: its holder is asked to stop" },
    errors: ["not_found", "task_closed", "lease_lost"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  reopen_task: defineOperation({
    name: "reopen_task",
    summary: "Open a completed, failed or cancelled task again.",
    method: "POST",
    path: "/v1/tasks/:task_id/reopen",
    aliases: [{ method: "POST", path: "/v1/tasks/:task_id/uncomplete" }],
    input: () => withReason,
    output: () => task,
    errors: ["not_found", "task_claimed"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  set_task_state: defineOperation({
    name: "set_task_state",
    summary: "Say how the work goes; doesn't extend the lease.",
    method: "POST",
    path: "/v1/tasks/:task_id/state",
    input: () => z.strictObject({ ...holding, state: z.enum(WORK_STATE), detail: text(2000).optional() }),
    output: () => task,
    errors: ["not_found", "lease_lost"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  force_release_task: defineOperation({
    name: "force_release_task",
    summary: "Take a task from its live holder and open it; needs a reason.",
    method: "POST",
    path: "/v1/tasks/:task_id/force-release",
    input: () => withReason,
    output: () => task,
    errors: ["not_found", "task_closed", "reason_required"],
    role: "coordinator",
    effect: "write",
    nulls: "absent",
  }),
  retry_task: defineOperation({
    name: "retry_task",
    summary: "Open a failed task again with fresh attempts; needs a reason.",
    method: "POST",
    path: "/v1/tasks/:task_id/retry",
    input: () => withReason,
    output: () => task,
    errors: ["not_found", "task_claimed", "task_closed", "reason_required"],
    role: "coordinator",
    effect: "write",
    nulls: "absent",
  }),
};
