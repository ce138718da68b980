import { z } from "zod";
import { A_WHOLE_HASH, branchName, WHOLE_HASH } from "./evidence.js";
import { cursor, id, itsProject, limit, projectId, reason, visibleText } from "./fields.js";
import { defineOperation } from "./operation.js";
import { oneScope, SCOPES_MAX, scopeText } from "./scope-fields.js";

/** Branches that one call to prune may name as alive. */
const BRANCHES_MAX = 10_000;

/** An interest: what was changed on a branch that is not on its base yet. A warning, never a refusal. */
export const unlandedRow = z.object({
  id: z.string(),
  project_id: z.string(),
  branch: z.string(),
  scopes: z.array(z.string()).describe("What was changed there."),
  intent: z.string().nullable(),
  agent_id: z.string().describe("Its steward: who lands it, or hands it over."),
  agent_name: z.string(),
  hops: z.number().describe("How often it was handed over, at most 3 times; declaring it again doesn't reset that."),
  transfer_to_agent_id: z.string().nullable().describe("Who was asked to take it over and hasn't answered."),
  declared_at: z.string(),
  expires_at: z.string(),
  ended_at: z.string().nullable(),
  ended_how: z.enum(["landed", "pruned", "expired"]).nullable(),
});
export type Unlanded = z.output<typeof unlandedRow>;

/** What stands beside a grant or a refusal. */
export const unlandedBeside = z
  .array(unlandedRow)
  .describe("Work on other branches that overlaps and is not on the base yet; at most 20.");

const byUnlanded = { unlanded_id: id("the unlanded work"), ...itsProject } as const;

/** Work that is done and not on its base yet (R42). */
export const unlandedOperations = {
  declare_unlanded: defineOperation({
    name: "declare_unlanded",
    summary:
      "Say which scopes a branch has changed that isn't on its base yet; others are told with every claim that overlaps. It refuses nobody, and ends after 14 days unless it is declared again.",
    method: "POST",
    path: "/v1/unlanded",
    input: () =>
      z.strictObject({
        project_id: projectId.optional(),
        branch: branchName.describe("The branch's name, as `feat/login`."),
        scopes: z
          .array(scopeText)
          .min(1, "must name at least one scope")
          .max(SCOPES_MAX, "must name at most 1,000 scopes")
          .describe("What was changed on it, as `path:src/auth`; all of it, each time."),
        intent: visibleText(500).optional().describe("What it is about; others read it."),
      }),
    output: () => unlandedRow,
    errors: ["not_found", "invalid_scope", "already_exists"],
    role: "worker",
    effect: "write",
    status: 201,
    nulls: "absent",
  }),
  list_unlanded: defineOperation({
    name: "list_unlanded",
    summary: "Work that isn't on its base yet: on which branch, what it changed, and who looks after it.",
    method: "GET",
    path: "/v1/unlanded",
    input: () =>
      z.strictObject({
        project_id: projectId.optional().describe("Only this project (id or key)."),
        branch: branchName.optional().describe("Only this branch."),
        agent_id: id("the steward").optional(),
        scope: oneScope.optional().describe("Only what overlaps this scope."),
        ended: z.boolean().optional().describe("true: what has ended instead."),
        limit,
        cursor: cursor.optional(),
      }),
    output: () => z.array(unlandedRow),
    errors: ["not_found", "invalid_scope", "invalid_cursor"],
    role: "worker",
    effect: "read",
    paged: true,
  }),
  transfer_unlanded: defineOperation({
    name: "transfer_unlanded",
    summary: "Ask another agent to look after unlanded work; it stays yours until they accept. At most 3 hops.",
    method: "POST",
    path: "/v1/unlanded/:unlanded_id/transfer",
    input: () => z.strictObject({ ...byUnlanded, to_agent_id: id("who is to look after it") }),
    output: () => unlandedRow,
    errors: ["not_found", "limit_exceeded", "unlanded_ended"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  accept_unlanded: defineOperation({
    name: "accept_unlanded",
    summary: "Take over unlanded work that you were asked to look after.",
    method: "POST",
    path: "/v1/unlanded/:unlanded_id/accept",
    input: () => z.strictObject(byUnlanded),
    output: () => unlandedRow,
    errors: ["not_found", "unlanded_ended"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  decline_unlanded: defineOperation({
    name: "decline_unlanded",
    summary: "Leave unlanded work to whoever has it; its steward can take its request back so, too.",
    method: "POST",
    path: "/v1/unlanded/:unlanded_id/decline",
    input: () => z.strictObject({ ...byUnlanded, reason: reason.optional() }),
    output: () => unlandedRow,
    errors: ["not_found", "unlanded_ended"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  land_unlanded: defineOperation({
    name: "land_unlanded",
    summary:
      "Say that the work is on its base; its steward is told. Dibs opens no repository: `dibs land` finds out from git.",
    method: "POST",
    path: "/v1/unlanded/:unlanded_id/land",
    input: () =>
      z.strictObject({
        ...byUnlanded,
        how: z.enum(["merge", "content", "fast_forward"]).optional().describe("What shows it."),
        commit: z.string().regex(WHOLE_HASH, A_WHOLE_HASH).optional().describe("The base's commit that has it."),
      }),
    output: () => unlandedRow,
    errors: ["not_found"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
  prune_unlanded: defineOperation({
    name: "prune_unlanded",
    summary: "End what is declared for branches that are no more: name all that there are.",
    method: "POST",
    path: "/v1/unlanded/prune",
    input: () =>
      z.strictObject({
        project_id: projectId.optional(),
        branches: z
          .array(branchName)
          .max(BRANCHES_MAX, "must name at most 10,000 branches")
          .describe("All branches that there are; what is declared for others ends."),
        force: z.boolean().optional().describe("true: also with an empty list, which ends everything."),
        reason: reason.optional(),
      }),
    output: () => z.object({ pruned: z.array(unlandedRow) }),
    errors: ["not_found", "reason_required"],
    role: "worker",
    effect: "write",
    nulls: "absent",
  }),
};
