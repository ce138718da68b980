import type { Unlanded } from "../../contract/unlanded.js";
import type { StoredUnlanded, UnlandedRow } from "../port/unlanded-rows.js";
import { iso } from "../tasks/task-view.js";

/** Over at the instant, whoever noticed (R1). */
export function hasEnded(row: StoredUnlanded, nowMs: number): boolean {
  return row.ended_at !== null || nowMs >= row.expires_at;
}

export function unlandedView(row: UnlandedRow, nowMs: number): Unlanded {
  const expired = row.ended_at === null && hasEnded(row, nowMs);
  const endedAt = expired ? row.expires_at : row.ended_at;
  return {
    id: row.id,
    project_id: row.project_id,
    branch: row.branch,
    scopes: JSON.parse(row.scopes),
    intent: row.intent,
    agent_id: row.agent_id,
    agent_name: row.agent_name,
    agent_deleted: row.agent_deleted === 1,
    hops: row.hops,
    transfer_to_agent_id: endedAt === null ? row.offered_to : null,
    declared_at: iso(row.declared_at),
    expires_at: iso(row.expires_at),
    ended_at: endedAt === null ? null : iso(endedAt),
    ended_how: expired ? "expired" : row.ended_how,
  };
}
