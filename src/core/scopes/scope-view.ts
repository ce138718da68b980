import type { ClaimRow } from "../../contract/claim-row.js";
import type { GrantedScope } from "../port/scope-rows.js";
import { iso } from "../tasks/task-view.js";
import { scopeEndMs } from "./scope-conflicts.js";

/** A claim of a name as a row of the claims table. */
export function scopeClaimView(row: GrantedScope, nowMs: number): ClaimRow {
  const endMs = row.ended_at ?? scopeEndMs(row);
  return {
    id: row.id,
    project_id: row.project_id,
    scope: row.scope,
    kind: row.kind,
    mode: row.mode,
    agent_id: row.holder_agent,
    agent_name: row.agent_name,
    session_id: row.holder_session,
    implicit: row.implicit === 1,
    client: row.client,
    branch: row.branch,
    task_id: row.task_id,
    intent: row.intent,
    fence: row.fence,
    lease_id: row.id,
    claimed_at: iso(row.claimed_at),
    expires_at: iso(endMs),
    remaining_ms: Math.max(0, endMs - nowMs),
  };
}
