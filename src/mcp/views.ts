import type { ClaimRow } from "../contract/claim-row.js";
import type { Session } from "../contract/session.js";
import type { Task } from "../contract/task.js";

/**
 * The compact views: which fields of which record a tool's answer carries. Fields that are null, false or empty are
 * left out, so that an answer costs an agent's context only what it says.
 */
export const VIEWS = {
  /** A task just claimed: all that its holder needs to work on it. */
  claimed: [
    "id",
    "content",
    "description",
    "project_id",
    "priority",
    "labels",
    "context",
    "requires_verdict",
    "verdict",
    "handoff_note",
    "checkpoint",
    "due_date",
    "lease_id",
    "fence",
    "lease_expires_at",
    "lease_remaining_ms",
    "attempts",
    "max_attempts",
    "cancel_requested",
    "cancel_reason",
  ],
  /** A task whose holder did something with it. */
  lease: [
    "id",
    "status",
    "lease_id",
    "fence",
    "lease_expires_at",
    "lease_remaining_ms",
    "attempts",
    "max_attempts",
    "failure_reason",
    "verdict",
    "cancel_requested",
    "cancel_reason",
  ],
  /** A task that somebody judged. */
  judged: ["id", "status", "requires_verdict", "verdict"],
  /** A task's context after a change. */
  context: ["context", "version", "task_id"],
  /** A task in a list. */
  listed: [
    "id",
    "content",
    "status",
    "ready",
    "stalled",
    "blocked_by_count",
    "lapsed",
    "priority",
    "labels",
    "not_before",
    "lease_remaining_ms",
    "verdict",
  ],
  /** A task whose dependencies were changed. */
  waiting: ["id", "status", "ready", "stalled", "depends_on_count", "blocked_by_count"],
  /** A task just created. */
  created: ["id", "content"],
  /** A row of what is held; also the holder inside a refusal. */
  claim: [
    "id",
    "scope",
    "mode",
    "task_id",
    "intent",
    "agent_id",
    "agent_name",
    "session_id",
    "client",
    "branch",
    "claimed_at",
    "expires_at",
    "remaining_ms",
  ],
  /** A scope just claimed, or one in the way. */
  scope: ["id", "scope", "mode", "agent_name", "intent", "fence", "expires_at", "remaining_ms"],
  /** What freezes something; where it names no scope, the whole project. */
  hold: ["id", "scope", "reason", "agent_name", "expires_at", "remaining_ms"],
  /** Work on another branch beside what was claimed. */
  unlanded: ["branch", "scopes", "agent_name", "intent"],
  scopeItem: ["claim_id", "scope", "outcome", "reason"],
  session: [
    "id",
    "agent_name",
    "project_id",
    "state",
    "implicit",
    "parent_session_id",
    "client",
    "branch",
    "ttl_seconds",
    "expires_at",
    "remaining_ms",
    "tasks_held",
    "findings",
    "resumed",
    "resume_token",
  ],
  /** What a session's heartbeat did for one task. */
  item: ["task_id", "lease_id", "outcome", "reason", "lease_remaining_ms"],
  event: ["id", "type", "at", "agent_name", "session_id", "task_id", "data"],
  notice: ["id", "type", "task_id", "message"],
  why: ["claimable", "code", "explanation", "next"],
} as const satisfies {
  claimed: readonly (keyof Task)[];
  lease: readonly (keyof Task)[];
  listed: readonly (keyof Task)[];
  created: readonly (keyof Task)[];
  waiting: readonly (keyof Task)[];
  judged: readonly (keyof Task)[];
  claim: readonly (keyof ClaimRow)[];
  session: readonly (keyof Session | "resumed" | "resume_token")[];
  [other: string]: readonly string[];
};

/** Fields that hold what agents wrote: data for whoever reads it, never instructions; the answer names those it has. */
const AGENT_TEXT: ReadonlySet<string> = new Set([
  "content",
  "description",
  "labels",
  "context",
  "handoff_note",
  "checkpoint",
  "progress",
  "state_detail",
  "failure_reason",
  "cancel_reason",
  "result",
  "evidence",
  "verdict",
  "intent",
  "findings",
  "client",
  "branch",
  "scope",
  "scopes",
  "host",
  "cwd",
  "worktree",
  "data",
]);

const NONE_SAYS_NOTHING: ReadonlySet<string> = new Set(["depends_on_count", "blocked_by_count"]);

export type Row = Readonly<Record<string, unknown>>;
export type View = Record<string, unknown>;

/**
 * A record in the compact form: the fields named (all without names), minus what is empty. Of what agents wrote,
 * longer texts than `textLimit` characters are cut, longer JSON is left out, and `cut` names both.
 */
export function view(record: Row, fields: readonly string[] | undefined, textLimit: number): View {
  const shown: View = {};
  const cut: string[] = [];
  for (const name of fields ?? Object.keys(record)) {
    const value = record[name];
    if (isEmpty(value) || (value === 0 && NONE_SAYS_NOTHING.has(name))) continue;
    const long = AGENT_TEXT.has(name) && textLength(value) > textLimit;
    if (long) cut.push(name);
    if (!long) shown[name] = value;
    else if (typeof value === "string") shown[name] = `${[...value.slice(0, textLimit)].slice(0, -1).join("")}…`;
  }
  if (cut.length > 0) shown.cut = cut;
  return shown;
}

/** The names, anywhere in an answer's records, of the fields that hold what agents wrote. */
export function agentTextFields(answer: View): string[] {
  const found = new Set<string>();
  const look = (value: unknown) => {
    if (Array.isArray(value)) for (const item of value) look(item);
    else if (typeof value === "object" && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        if (AGENT_TEXT.has(name)) found.add(name);
        else look(inner);
      }
    }
  };
  look(answer);
  return [...found];
}

function textLength(value: unknown): number {
  return typeof value === "string" ? value.length : JSON.stringify(value).length;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0);
}
