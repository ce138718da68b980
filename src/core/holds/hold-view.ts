import type { HoldRecord } from "../../contract/hold.js";
import type { HoldRow } from "../port/hold-rows.js";
import { iso } from "../tasks/task-view.js";

/** A hold as the wire names it, at an instant: one whose time is over reads `expired`, whoever noticed (R1). */
export function holdView(row: HoldRow, nowMs: number): HoldRecord {
  const expired = row.ended_at === null && nowMs >= row.expires_at;
  const endedAt = expired ? row.expires_at : row.ended_at;
  return {
    id: row.id,
    project_id: row.project_id,
    scope: row.scope,
    reason: row.reason,
    agent_id: row.placed_by,
    agent_name: row.agent_name,
    allow_agent_ids: JSON.parse(row.allow),
    placed_at: iso(row.placed_at),
    expires_at: iso(row.expires_at),
    remaining_ms: endedAt === null ? row.expires_at - nowMs : 0,
    ended_at: endedAt === null ? null : iso(endedAt),
    ended_how: expired ? "expired" : row.ended_how,
  };
}
