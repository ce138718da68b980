import { z } from "zod";
import { claimRow } from "./claim-row.js";
import { cursor, id, itsProject, leaseProof, leaseSeconds, limit, projectId, visibleText, whole } from "./fields.js";
import { notices } from "./notice.js";
import { defineOperation } from "./operation.js";
import { byTask, task } from "./task.js";
import { unlandedBeside } from "./unlanded.js";

/** How long an offer stands where its giver doesn't say. */
const OFFER_SECONDS = 300;
/** So often may a lease change hands before somebody who has it reports progress. */
export const HOPS_MAX = 3;

const HANDOFF_STATE = ["offered", "accepted", "declined", "withdrawn", "replaced", "expired"] as const;
export type HandoffState = (typeof HANDOFF_STATE)[number];

export const handoff = z.object({
  id: z.string(),
  project_id: z.string(),
  scope: z.string().describe("What is handed over: `task:ID` for a task."),
  task_id: z.string().nullable(),
  claim_id: z.string().nullable(),
  intent: z.string().describe("The task's title, or what the scope is held for."),
  from_agent_id: z.string(),
  from_agent_name: z.string(),
  from_session_id: z.string(),
  to_agent_id: z.string(),
  to_agent_name: z.string(),
  to_session_id: z.string().nullable().describe("null: any session of that agent."),
  note: z.string().nullable(),
  state: z.enum(HANDOFF_STATE),
  offered_at: z.string(),
  expires_at: z.string().describe("The earliest of its own end, the lease's, and the sessions'."),
  remaining_ms: z.number(),
  ended_at: z.string().nullable(),
  accepted_by_session_id: z.string().nullable(),
  lease_id: z.string().nullable().describe("Of whoever accepted it."),
  fence: z.number().nullable(),
});
export type Handoff = z.output<typeof handoff>;

const offered = {
  to_session_id: id("the session that is to have it").optional(),
  to_agent_id: id("the agent any session of which may have it").optional(),
  note: visibleText(100_000).optional().describe("For whoever accepts it; of a task it becomes the handoff note."),
  offer_seconds: whole(1, 86_400, "seconds").default(OFFER_SECONDS).describe("How long the offer stands."),
};
const byHandoff = { handoff_id: id("the handoff"), ...itsProject };

/** Passing what one holds to another session: offered, then accepted once; free at no instant (R39). */
export const handoffOperations = {
  handoff_task: defineOperation({
    name: "handoff_task",
    summary:
      "Offer the task you hold, with its scopes, to another session or agent. You hold it until it is accepted; offering it again replaces the offer.",
    method: "POST",
    path: "/v1/tasks/:task_id/handoff",
    input: () => z.strictObject({ ...byTask, ...leaseProof, ...offered }),
    output: () => handoff,
    errors: ["not_found", "lease_lost", "limit_exceeded"],
    role: "worker",
    effect: "write",
    status: 201,
    nulls: "absent",
  }),
  handoff_claim: defineOperation({
    name: "handoff_claim",
    summary:
      "Offer a scope that your session claimed by itself to a session or an agent; until it is accepted, it is kept.",
    method: "POST",
    path: "/v1/claims/:claim_id/handoff",
    input: () => z.strictObject({ claim_id: id("the claim"), ...itsProject, ...leaseProof, ...offered }),
    output: () => handoff,
    errors: ["not_found", "lease_lost", "limit_exceeded"],
    role: "worker",
    effect: "write",
    status: 201,
    nulls: "absent",
  }),
  list_handoffs: defineOperation({
    name: "list_handoffs",
    summary: "What is offered now to you and by you, oldest first.",
    method: "GET",
    path: "/v1/handoffs",
    input: () =>
      z.strictObject({
        whose: z.enum(["mine", "to_me", "by_me", "all"]).default("mine").describe("`all`: of the whole workspace."),
        ended: z.boolean().optional().describe("true: those that were accepted or ended, too."),
        task_id: id("the task").optional(),
        project_id: projectId.optional(),
        limit,
        cursor: cursor.optional(),
      }),
    output: () => z.array(handoff),
    errors: ["not_found", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  accept_handoff: defineOperation({
    name: "accept_handoff",
    summary: "Take what is offered to you: it is yours from this instant, under a new lease of full length.",
    method: "POST",
    path: "/v1/handoffs/:handoff_id/accept",
    input: () =>
      z.strictObject({
        ...byHandoff,
        lease_seconds: leaseSeconds.optional().describe("Else as long as the giver's."),
      }),
    output: () =>
      handoff.extend({
        task: task.nullable().describe("The task, if it is one."),
        claim: claimRow.nullable().describe("The claim, if it is a scope."),
        unlanded: unlandedBeside.optional(),
        notices,
      }),
    errors: ["not_found", "handoff_taken", "lease_lost", "scope_conflict", "frozen", "limit_exceeded"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  decline_handoff: defineOperation({
    name: "decline_handoff",
    summary: "Say no to what is offered to you, or take back what you offered.",
    method: "POST",
    path: "/v1/handoffs/:handoff_id/decline",
    input: () => z.strictObject({ ...byHandoff, reason: visibleText(1000).optional() }),
    output: () => handoff,
    errors: ["not_found", "handoff_taken"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
};
