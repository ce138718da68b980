import { z } from "zod";
import { claimRow } from "./claim-row.js";
import { cursor, id, leaseProof, leaseSeconds, limit, projectId, visibleText, waitSeconds, whole } from "./fields.js";
import { holdRow } from "./hold.js";
import { notices } from "./notice.js";
import { defineOperation } from "./operation.js";
import { scopeMode as mode, oneScope, SCOPES_MAX, scopesWanted, scopeText } from "./scope-fields.js";
import { unlandedBeside } from "./unlanded.js";

const claimed = claimRow.extend({ nested: z.number().describe("How often this session claimed it.") });

const chosen = {
  project_id: projectId.optional(),
  claim_ids: z.array(id("a claim")).min(1).max(SCOPES_MAX).optional(),
  scopes: z.array(scopeText).min(1).max(SCOPES_MAX).optional().describe("As they were claimed."),
  all: z.boolean().optional().describe("true: everything the session claimed by itself."),
  ...leaseProof,
} as const;

const item = z.object({
  claim_id: z.string().nullable(),
  scope: z.string().nullable(),
  outcome: z.enum(["renewed", "released", "kept", "lost"]),
  reason: z.string().nullable().describe("Why it is kept or lost."),
  expires_at: z.string().nullable(),
  remaining_ms: z.number().nullable(),
  now: z.array(z.string()).optional().describe("With the reason narrowed: the claims that it is now."),
});

/** Announcing what one is about to touch: names as leases (R29-R36). */
export const scopeOperations = {
  claim_scopes: defineOperation({
    name: "claim_scopes",
    summary:
      "Claim scopes (files, branches, ports, databases …) under a lease, all or none; what the session holds already is renewed. A refusal names every holder that is in the way.",
    method: "POST",
    path: "/v1/scopes/claim",
    input: () =>
      z.strictObject({
        project_id: projectId.optional(),
        scopes: scopesWanted.min(1, "must name at least one scope"),
        mode: mode.default("exclusive").describe("Of those that name none; only shared beside shared coexist."),
        intent: visibleText(500).describe("What for; others read it."),
        ttl_seconds: leaseSeconds.optional(),
        task_id: id("a task you hold").optional().describe("They live by its lease, and end with it."),
        wait: z.boolean().optional().describe("true: get into line where they aren't free."),
        wait_seconds: waitSeconds.optional().describe("With wait: how long this call stays there, 0..60 seconds."),
        priority: whole(1, 4).optional().describe("In line: 4 urgent … 1 low; 2 where none is said."),
      }),
    output: () =>
      z.object({
        claims: z.array(claimed),
        unlanded: unlandedBeside.optional(),
        ticket: z.string().optional().describe("What you wait by: asking the same again keeps your place."),
        position: z.number().optional().describe("In line; 1 is the next."),
        notices,
      }),
    errors: [
      "not_found",
      "invalid_scope",
      "frozen",
      "scope_conflict",
      "would_deadlock",
      "lease_lost",
      "limit_exceeded",
    ],
    otherwise: { status: 202, when: "you wait in line" },
    role: "worker",
    effect: "write",
    status: 201,
    nulls: "absent",
  }),
  heartbeat_scopes: defineOperation({
    name: "heartbeat_scopes",
    summary: "Renew claimed scopes; an answer for each.",
    method: "POST",
    path: "/v1/scopes/heartbeat",
    input: () =>
      z.strictObject({
        ...chosen,
        ttl_seconds: leaseSeconds.optional().describe("A new length; else the running one is kept."),
        intent: visibleText(500).optional().describe("What they are held for now: a report of progress."),
      }),
    output: () => z.object({ items: z.array(item), notices }),
    errors: ["not_found", "invalid_scope"],
    role: "worker",
    effect: "write",
    nulls: "absent",
    heartbeat: true,
  }),
  release_scopes: defineOperation({
    name: "release_scopes",
    summary: "Give claimed scopes back; what was claimed twice is kept until it is released twice.",
    method: "POST",
    path: "/v1/scopes/release",
    input: () => z.strictObject(chosen),
    output: () => z.object({ released: z.number(), items: z.array(item) }),
    errors: ["not_found", "invalid_scope"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  check_scope: defineOperation({
    name: "check_scope",
    summary: "Who would refuse a scope now, claiming nothing.",
    method: "GET",
    path: "/v1/scopes/check",
    input: () => z.strictObject({ scope: oneScope, mode: mode.default("exclusive"), project_id: projectId.optional() }),
    output: () =>
      z.object({
        scope: z.string(),
        mode,
        free: z.boolean().describe("It would be granted."),
        held: z.boolean().describe("By the asking session, in this mode or alone."),
        conflicts: z.array(claimRow),
        holds: z.array(holdRow).describe("What freezes it."),
      }),
    errors: ["not_found", "invalid_scope"],
    role: "worker",
    effect: "read",
  }),
  list_scope_history: defineOperation({
    name: "list_scope_history",
    summary: "Who holds a scope, or what overlaps it, and who held it before; newest first.",
    method: "GET",
    path: "/v1/scopes/history",
    input: () =>
      z.strictObject({ scope: oneScope, project_id: projectId.optional(), limit, cursor: cursor.optional() }),
    output: () =>
      z.array(
        claimRow.extend({
          ended_at: z.string().nullable(),
          ended_how: z.enum(["expired", "released", "revoked", "transferred"]).nullable(),
        }),
      ),
    errors: ["not_found", "invalid_scope", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
};
