import type { ClaimRow } from "../../contract/claim-row.js";
import type { Evidence, Verdict } from "../../contract/evidence.js";
import type { Task } from "../../contract/task.js";
import type { CommentRow, LinkRow, NoticeRow } from "../port/note-rows.js";
import type { BlockerRow, ClaimRecord, EventRow, SessionRow, TaskRow } from "../port/rows.js";
import { contextVersionOf } from "./context-versions.js";
import { evidenceOf, type KeptEvidence, type KeptVerdict, verdictOf } from "./evidence.js";
import { type Heads, isStale } from "./heads.js";
import { isBroken, openAmong, taskState } from "./task-state.js";

const DAY_MS = 86_400_000;
const digits = (count: number, width: number) =>
  Array.from({ length: count }, (_, number) => String(number).padStart(width, "0"));
const TWO = digits(60, 2);
const THREE = digits(1000, 3);
let lastDay = Number.NaN;
let dayText = "";

/** RFC 3339 in UTC with milliseconds. The day is kept from time to time: a task tells five, at 1 µs each without that. */
export function iso(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  if (day !== lastDay) {
    dayText = new Date(ms).toISOString().slice(0, -13);
    lastDay = day;
  }
  const inDay = ms - day * DAY_MS;
  const [hours, minutes] = [Math.floor(inDay / 3_600_000), Math.floor(inDay / 60_000) % 60];
  return `${dayText}${TWO[hours]}:${TWO[minutes]}:${TWO[Math.floor(inDay / 1000) % 60]}.${THREE[inDay % 1000]}Z`;
}
const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms));
const parsed = (json: string | null) => (json === null ? null : JSON.parse(json));

const CLOSED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/**
 * A task as the wire names it, at an instant, with what it waits for, those first that keep it longest, and where the
 * branches are that its result was judged on; `frozen` for who asks.
 */
export function taskView(
  row: TaskRow,
  nowMs: number,
  blockers: readonly BlockerRow[],
  heads: Heads,
  frozen: boolean,
): Task {
  const state = taskState(row, nowMs, frozen);
  const verdict = verdictOf(row);
  const [first] = blockers;
  const shown = state.held || state.lapsed;
  const exhausted = state.status === "failed" && row.status === "claimed";
  return {
    id: row.id,
    content: row.content,
    description: row.description,
    project_id: row.project_id,
    labels: JSON.parse(row.labels),
    priority: row.priority,
    status: state.status,
    ready: state.ready,
    stalled: state.waits && first !== undefined && isBroken(first, nowMs),
    lapsed: state.lapsed,
    frozen: state.frozen,
    depends_on: idsOf(blockers),
    depends_on_count: row.blockers,
    blocked_by: row.open_blockers === 0 ? [] : idsOf(openAmong(blockers)),
    blocked_by_count: row.open_blockers,
    plan: row.plan,
    scopes: parsed(row.scopes) ?? [],
    context: parsed(row.context),
    context_version: contextVersionOf(row),
    requires_verdict: row.requires_verdict === 1,
    assigned_to_agent_id: row.assigned_to || null,
    accountable_agent_id: row.accountable,
    created_by_agent_id: row.created_by,
    parent_task_id: row.parent_id,
    claimed_by_agent_id: shown ? row.holder_agent : null,
    claimed_by_session_id: shown ? row.holder_session : null,
    claimed_at: shown ? isoOrNull(row.claimed_at) : null,
    lease_id: state.held ? row.lease_id : null,
    fence: row.fence,
    lease_expires_at: isoOrNull(state.leaseEndMs),
    lease_remaining_ms: state.held && state.leaseEndMs !== null ? state.leaseEndMs - nowMs : null,
    state: state.held ? (row.state as Task["state"]) : null,
    state_detail: state.held ? row.state_detail : null,
    progress: parsed(row.progress),
    checkpoint: parsed(row.checkpoint),
    handoff_note: row.handoff_note,
    cancel_requested: state.held && row.cancel_requested === 1,
    cancel_reason: row.cancel_reason,
    attempts: row.attempts,
    max_attempts: row.max_attempts,
    failure_reason: exhausted ? ATTEMPTS_EXHAUSTED : row.failure_reason,
    result: parsed(row.result),
    evidence: evidenceOf(row).map((kept) => evidenceView(kept, heads, row.project_id)),
    verdict: verdict && verdictView(verdict, heads, row.project_id),
    closed_by_agent_id: CLOSED.has(state.status) ? row.closed_by : null,
    due_date: isoOrNull(row.due_date),
    not_before: isoOrNull(row.not_before),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    completed_at: row.status === "completed" ? isoOrNull(row.closed_at) : null,
    recurrence_id: row.recurrence_id,
    tick_at: isoOrNull(row.tick_at),
    version: row.version,
  };
}

/** A verdict as it is shown, at the heads that are known. */
export function verdictView(kept: KeptVerdict, heads: Heads, projectId: string): Verdict {
  const { outcome, note, commit, branch, agent_id, at } = kept;
  return { outcome, note, commit, branch, stale: isStale(heads, projectId, kept), agent_id, created_at: iso(at) };
}

function evidenceView({ at, ...kept }: KeptEvidence, heads: Heads, projectId: string): Evidence {
  return { ...kept, stale: isStale(heads, projectId, kept), created_at: iso(at) };
}

function idsOf(blockers: readonly BlockerRow[]): string[] {
  return [...blockers].sort((a, b) => a.seq - b.seq).map((blocker) => blocker.id);
}

export const ATTEMPTS_EXHAUSTED = "attempts_exhausted";

/** A row of the claims table, which is also the `holder` in a refusal. */
export function claimView(record: ClaimRecord, nowMs: number): ClaimRow {
  const endMs = Math.min(record.lease_until, record.session_expires_at ?? record.lease_until);
  return {
    id: record.lease_id,
    project_id: record.project_id,
    scope: `task:${record.task_id}`,
    kind: "task",
    mode: "exclusive",
    agent_id: record.agent_id,
    agent_name: record.agent_name,
    session_id: record.session_id,
    implicit: record.implicit === 1,
    client: record.client,
    branch: record.branch,
    task_id: record.task_id,
    intent: record.content,
    fence: record.fence,
    lease_id: record.lease_id,
    claimed_at: iso(record.claimed_at),
    expires_at: iso(endMs),
    remaining_ms: endMs - nowMs,
  };
}

export function sessionView(row: SessionRow, tasksHeld: number, nowMs: number) {
  const silent = row.state === "open" && row.expires_at !== null && row.expires_at <= nowMs;
  const live = row.state === "open" && !silent;
  return {
    id: row.id,
    agent_id: row.agent_id,
    agent_name: row.agent_name,
    project_id: row.project_id,
    state: silent ? ("expired" as const) : row.state,
    implicit: row.implicit === 1,
    parent_session_id: row.parent_session_id,
    share_with_children: row.share_with_children === 1,
    client: row.client,
    harness_id: row.harness_id,
    host: row.host,
    cwd: row.cwd,
    branch: row.branch,
    worktree: row.worktree,
    ttl_seconds: row.ttl_seconds,
    started_at: iso(row.started_at),
    expires_at: isoOrNull(row.expires_at),
    remaining_ms: live && row.expires_at !== null ? row.expires_at - nowMs : null,
    ended_at: silent ? isoOrNull(row.expires_at) : isoOrNull(row.ended_at),
    tasks_held: live ? tasksHeld : 0,
    findings: row.findings,
  };
}

export function eventView(row: EventRow) {
  const data = JSON.parse(row.data);
  return {
    id: String(row.id),
    type: row.type,
    at: iso(row.at),
    actor:
      row.agent_id === null
        ? null
        : { agent_id: row.agent_id, agent_name: row.agent_name ?? "", session_id: row.session_id },
    project_id: row.project_id,
    task_id: row.task_id,
    scope: scopeIn(data),
    data,
  };
}

/** Of events about a scope, and of those about several that are one. */
function scopeIn({ scope, scopes }: { readonly scope?: unknown; readonly scopes?: unknown }): string | null {
  if (typeof scope === "string") return scope;
  const only = Array.isArray(scopes) && scopes.length === 1 ? scopes[0]?.scope : null;
  return typeof only === "string" ? only : null;
}

export function commentView(row: CommentRow) {
  const { id, task_id, agent_id, agent_name, body, kind } = row;
  return { id, task_id, agent_id, agent_name, body, kind, created_at: iso(row.created_at) };
}

export function linkView(row: LinkRow) {
  const { id, task_id, agent_id, url, title, kind } = row;
  return { id, task_id, agent_id, url, title, kind, created_at: iso(row.created_at) };
}

export function noticeView(row: NoticeRow) {
  const { id, type, task_id, message } = row;
  return { id, type, task_id, message, at: iso(row.at), data: JSON.parse(row.data) };
}
