import { z } from "zod";
import { id } from "./fields.js";
import { defineOperation } from "./operation.js";

/** What a session must know; repeats until acknowledged by its id. */
export const notice = z.object({
  id: z.string(),
  type: z.enum([
    "lease.lost",
    "lease.expiring",
    "cancel_requested",
    "blocker.reopened",
    "handoff.offered",
    "handoff.declined",
    "handoff.expired",
    "wait.offered",
    "wait.granted",
    "wait.ended",
    "wait.overruled",
    "yield.requested",
    "yield.answered",
    "unlanded.offered",
    "unlanded.answered",
    "unlanded.landed",
  ]),
  task_id: z.string().nullable(),
  at: z.string(),
  message: z.string(),
  data: z.record(z.string(), z.json()),
});
export const notices = z.array(notice).describe("What the session must know; acknowledge with their ids.");

export const noticeOperations = {
  ack_notices: defineOperation({
    name: "ack_notices",
    summary: "Acknowledge notices, so that they are not repeated.",
    method: "POST",
    path: "/v1/notices/ack",
    input: () => z.strictObject({ ids: z.array(id("a notice")).min(1, "must name at least one").max(1000) }),
    output: () => z.object({ acknowledged: z.number() }),
    errors: [],
    role: "worker",
    effect: "write",
  }),
};
