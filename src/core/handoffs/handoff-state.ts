import type { Handoff } from "../../contract/handoff.js";
import type { HandoffRow } from "../port/handoff-verbs.js";
import { iso } from "../tasks/task-view.js";

/** When the offer ends by the clock, ms: the earliest of its own end, its lease's, and its sessions'. */
function offerEndMs(row: HandoffRow): number {
  const { expires_at, lease_ends_at, giver_ends_at, receiver_ends_at } = row;
  return Math.min(expires_at, lease_ends_at, giver_ends_at ?? expires_at, receiver_ends_at ?? expires_at);
}

/** Whether it may be accepted at the instant, whatever its row says (R1, R39). */
export function stands(row: HandoffRow, nowMs: number): boolean {
  return row.state === "offered" && nowMs < offerEndMs(row);
}

/** When one that nobody accepted ended; what ended with its lease or a session ended at a time that only those know. */
export function endedMs(row: HandoffRow, nowMs: number): number {
  return Math.max(row.offered_at, Math.min(row.expires_at, nowMs));
}

/** What is handed over, as texts for people name it. */
export function offeredThing(row: Pick<HandoffRow, "content" | "scope">): string {
  if (row.content === null) return row.scope ?? "something";
  return `task "${row.content.length > 80 ? `${row.content.slice(0, 79)}…` : row.content}"`;
}

export function handoffView(row: HandoffRow, nowMs: number): Handoff {
  const standing = stands(row, nowMs);
  const lapsed = row.state === "offered" && !standing;
  const endMs = standing ? offerEndMs(row) : row.expires_at;
  return {
    id: row.id,
    project_id: row.project_id,
    scope: row.task_id === null ? (row.scope ?? "") : `task:${row.task_id}`,
    task_id: row.task_id,
    claim_id: row.claim_id,
    intent: row.content ?? row.intent ?? "",
    from_agent_id: row.from_agent,
    from_agent_name: row.from_name,
    from_session_id: row.from_session,
    to_agent_id: row.to_agent,
    to_agent_name: row.to_name,
    to_session_id: row.to_session,
    note: row.note,
    state: lapsed ? "expired" : row.state,
    offered_at: iso(row.offered_at),
    expires_at: iso(endMs),
    remaining_ms: standing ? endMs - nowMs : 0,
    ended_at: lapsed ? iso(endedMs(row, nowMs)) : row.ended_at === null ? null : iso(row.ended_at),
    accepted_by_session_id: row.by_session,
    lease_id: row.granted_lease,
    fence: row.granted_fence,
  };
}
