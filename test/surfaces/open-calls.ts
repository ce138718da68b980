import { type Operation, type OperationName, operationList } from "dibs/contract";
import type { Fields } from "./surface.js";

/** An id that nothing has. */
export const UNKNOWN = "0123456789abcdef0123456789abcdef";

/** Fields that the tools leave out, or take for all calls alike. */
export const NOT_IN_TOOLS = new Set([
  "open_session.harness_id",
  "open_session.host",
  "open_session.worktree",
  "open_session.share_with_children",
  // What is named by its id is of the project it is of.
  ...operationList.filter(({ path }) => path.includes(":")).map(({ name }) => `${name}.project_id`),
  ...["plan", "labels", "priority", "due_date", "not_before", "max_attempts", "context", "fence"].map(
    (field) => `delegate_task.${field}`,
  ),
  "delegate_task.handoff",
  "release_scopes.claim_ids",
  "answer_yield.handoff",
  "claim_scopes.priority",
]);

/** What a call has to say beside the field in question. */
export function required(operation: OperationName): Fields {
  const some: Partial<Record<OperationName, Fields>> = {
    create_task: { content: "x" },
    create_plan: { slug: "unknown", steps: [{ key: "a", content: "x" }] },
    add_plan_steps: { steps: [{ key: "a", content: "x" }] },
    create_recurrence: { name: "unknown", content: "x", cron: "@yearly" },
    fail_task: { reason: "x" },
    set_task_state: { state: "working" },
    add_dependencies: { depends_on: [UNKNOWN] },
    delegate_task: { content: "x" },
    claim_scopes: { scopes: ["path:x"], intent: "x" },
    place_hold: { scope: "path:x", reason: "x", ttl_seconds: 60 },
    declare_unlanded: { branch: "feat/x", scopes: ["path:x"] },
    transfer_unlanded: { to_agent_id: UNKNOWN },
    prune_unlanded: { branches: ["main"] },
    grant_wait: { reason: "x" },
    request_yield: { reason: "x" },
    answer_yield: { answer: "hold", reason: "x" },
    heartbeat_scopes: { scopes: ["path:x"] },
    release_scopes: { scopes: ["path:x"] },
    check_scope: { scope: "path:x" },
    set_scope_capacity: { scope: "port:1", capacity: 2 },
    list_scope_history: { scope: "path:x" },
    list_dependencies: { which: "blockers" },
    judge_task: { verdict: "pass" },
    report_head: { branch: "main", commit: "a".repeat(40) },
    change_task_context: { context: {} },
    add_comment: { body: "x" },
    add_link: { url: "https://example.org" },
    force_release_task: { reason: "x" },
    retry_task: { reason: "x" },
    project_for_repository: { root_commit: "a".repeat(40) },
  };
  return some[operation] ?? {};
}

/** Ids for what stands in the path. */
export function pathOf({ path }: Operation, id = UNKNOWN): Fields {
  return Object.fromEntries((path.match(/:\w+/g) ?? []).map((part) => [part.slice(1), id]));
}
