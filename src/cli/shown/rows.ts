import type { Screen } from "./screen.js";
import type { Column } from "./table.js";
import { verdictWord } from "./verdict-words.js";
import { lasting, relative, when } from "./when.js";

/** What the rows of a list are, for the table that shows them. */
export type Noun =
  | "task"
  | "claim"
  | "agent"
  | "session"
  | "project"
  | "recurrence"
  | "event"
  | "history"
  | "comment"
  | "link"
  | "version"
  | "head"
  | "plan"
  | "step"
  | "item"
  | "hold"
  | "unlanded"
  | "past"
  | "handoff"
  | "places"
  | "wait"
  | "yield"
  | "present";

type Row = Readonly<Record<string, unknown>>;

const field = (title: string, name: string): Column => ({ title, text: (row) => textOf(row[name]) });
const flexible = (title: string, name: string): Column => ({ ...field(title, name), flexible: true });
const left = (name: string): Column => ({
  title: "LEFT",
  text: (row) => (typeof row[name] === "number" ? lasting(row[name]) : ""),
  paint: (text, row, { paint }) => (Number(row[name]) < 30_000 ? paint.yellow(text) : text),
});
const time = (title: string, name: string, how: "ago" | "both" = "both"): Column => ({
  title,
  text: (row, screen) => {
    const atMs = Date.parse(textOf(row[name]));
    if (Number.isNaN(atMs)) return "";
    return how === "ago" ? relative(atMs, screen.nowMs) : when(atMs, screen);
  },
});

const happened: readonly Column[] = [
  field("ID", "id"),
  time("AT", "at"),
  field("TYPE", "type"),
  { title: "WHO", text: (row) => textOf((row.actor as Row | null)?.agent_name ?? "(the clock)") },
];
/** What an event carries, but for the ids, which say nothing to people. */
const whatElse: Column = {
  title: "DATA",
  flexible: true,
  text: (row) =>
    Object.entries(row.data as Row)
      .filter(([name]) => !name.endsWith("_id"))
      .map(([name, value]) => `${name}=${scopesIn(value) ?? textOf(value)}`)
      .join(" "),
};

/** A list of scopes, with whose they are. */
function scopesIn(value: unknown): string | undefined {
  if (!Array.isArray(value) || !value.every((each) => typeof each?.scope === "string")) return undefined;
  return value.map(({ scope, agent_name }) => (agent_name ? `${scope} (${agent_name})` : scope)).join(",");
}

const countOf = (progress: unknown, name: string) => Number((progress as Row)[name]);

/** The columns in which each kind of record is listed. */
export const columnsFor: Readonly<Record<Noun, readonly Column[]>> = {
  task: [
    field("ID", "id"),
    { title: "STATUS", text: statusOf, paint: (text, row, screen) => paintStatus(text, row, screen) },
    field("PRIO", "priority"),
    flexible("TITLE", "content"),
    { title: "LABELS", text: (row) => (row.labels as string[]).join(",") },
    left("lease_remaining_ms"),
  ],
  claim: [
    { ...field("WHO", "agent_name"), paint: (text, _row, { paint }) => paint.cyan(text) },
    { title: "HOLDS", text: ({ scope, mode }) => (mode === "shared" ? `${scope} (shared)` : textOf(scope)) },
    { ...field("PROJECT", "project"), ifSaid: true },
    flexible("INTENT", "intent"),
    time("SINCE", "claimed_at", "ago"),
    time("UNTIL", "expires_at"),
    field("CLIENT", "client"),
    field("BRANCH", "branch"),
  ],
  agent: [
    field("ID", "id"),
    field("NAME", "name"),
    field("ROLE", "role"),
    { title: "KEYS", text: (row) => String((row.keys as unknown[]).length) },
    flexible("DESCRIPTION", "description"),
  ],
  session: [
    field("ID", "id"),
    field("AGENT", "agent_name"),
    field("STATE", "state"),
    field("HOLDS", "tasks_held"),
    field("CLIENT", "client"),
    flexible("WORKTREE", "worktree"),
    field("BRANCH", "branch"),
    flexible("FINDINGS", "findings"),
    time("STARTED", "started_at", "ago"),
    left("remaining_ms"),
  ],
  plan: [
    field("SLUG", "slug"),
    flexible("TITLE", "title"),
    { title: "DONE", text: ({ progress }) => `${countOf(progress, "completed")}/${countOf(progress, "total")}` },
    { title: "CLAIMABLE", text: ({ progress }) => String(countOf(progress, "claimable")) },
    { title: "IN FLIGHT", text: ({ progress }) => String(countOf(progress, "in_flight")) },
    { title: "BLOCKED", text: ({ progress }) => String(countOf(progress, "blocked")) },
    {
      title: "STALLED",
      text: ({ progress }) => String(countOf(progress, "stalled")),
      paint: (text, row, { paint }) => (countOf(row.progress, "stalled") > 0 ? paint.yellow(text) : text),
    },
    field("PROJECT", "project_id"),
  ],
  step: [
    field("KEY", "key"),
    { title: "STATUS", text: statusOf, paint: (text, row, screen) => paintStatus(text, row, screen) },
    flexible("TITLE", "content"),
    flexible("WAITS FOR", "waits_for"),
    field("TASK", "task_id"),
  ],
  item: [
    flexible("SCOPE", "scope"),
    field("OUTCOME", "outcome"),
    flexible("WHY", "reason"),
    left("remaining_ms"),
    field("CLAIM", "claim_id"),
  ],
  hold: [
    field("ID", "id"),
    { title: "FROZEN", flexible: true, text: (row) => textOf(row.scope ?? "(the project)") },
    field("PROJECT", "project_id"),
    flexible("REASON", "reason"),
    field("WHO", "agent_name"),
    time("UNTIL", "expires_at"),
    left("remaining_ms"),
  ],
  unlanded: [
    field("ID", "id"),
    field("BRANCH", "branch"),
    { title: "CHANGED", flexible: true, text: (row) => (row.scopes as string[]).join(", ") },
    { ...field("WHO", "agent_name"), paint: (text, _row, { paint }) => paint.cyan(text) },
    flexible("INTENT", "intent"),
    time("SINCE", "declared_at", "ago"),
    time("UNTIL", "expires_at"),
  ],
  past: [
    flexible("SCOPE", "scope"),
    field("MODE", "mode"),
    field("WHO", "agent_name"),
    flexible("INTENT", "intent"),
    time("SINCE", "claimed_at"),
    time("ENDED", "ended_at"),
    field("HOW", "ended_how"),
  ],
  places: [
    flexible("SCOPE", "scope"),
    field("CAPACITY", "capacity"),
    field("TAKEN", "taken"),
    field("FREE", "free"),
    field("PROJECT", "project_id"),
  ],
  handoff: [
    field("ID", "id"),
    field("FROM", "from_agent_name"),
    field("TO", "to_agent_name"),
    flexible("INTENT", "intent"),
    flexible("NOTE", "note"),
    field("STATE", "state"),
    left("remaining_ms"),
  ],
  wait: [
    field("WHO", "agent_name"),
    { title: "WAITS FOR", flexible: true, text: (row) => (row.scopes as Row[]).map(({ scope }) => scope).join(", ") },
    {
      title: "STATE",
      text: waitState,
      paint: (text, row, { paint }) => (row.state === "offered" ? paint.green(text) : text),
    },
    flexible("INTENT", "intent"),
    field("PRIO", "priority"),
    time("SINCE", "asked_at", "ago"),
    field("TICKET", "ticket"),
  ],
  present: [
    { ...field("WHO", "agent_name"), paint: (text, _row, { paint }) => paint.cyan(text) },
    { title: "DOES", flexible: true, text: (row) => namesOf(row.tasks, "content") },
    { title: "STATE", text: ({ tasks }) => stateOf(tasks as Row[]) },
    { title: "HOLDS", flexible: true, text: (row) => heldBy(row.claims as Row[]) },
    {
      title: "WAITS FOR",
      flexible: true,
      text: (row) => (row.waits as Row[]).map(({ scopes }) => namesOf(scopes, "scope")).join(", "),
      paint: (text, _row, { paint }) => paint.yellow(text),
    },
    {
      title: "WHERE",
      flexible: true,
      text: ({ client, branch, worktree, cwd }) => placeOf([client, branch, worktree ?? cwd]),
    },
    time("SEEN", "seen_at", "ago"),
  ],
  yield: [
    field("SCOPE", "scope"),
    flexible("REASON", "reason"),
    { title: "ANSWER", text: ({ answer }) => textOf(answer ?? "(none yet)") },
    flexible("BECAUSE", "answer_reason"),
    time("ASKED", "asked_at", "ago"),
    field("ID", "id"),
  ],
  project: [
    field("ID", "id"),
    field("KEY", "key"),
    flexible("NAME", "name"),
    { title: "REPOSITORIES", flexible: true, text: (row) => (row.repositories as string[]).join(", ") },
  ],
  recurrence: [
    field("ID", "id"),
    field("NAME", "name"),
    field("CRON", "cron"),
    field("ZONE", "time_zone"),
    time("NEXT", "next_at"),
    time("LAST", "last_at", "ago"),
    flexible("TITLE", "content"),
  ],
  event: [...happened, field("TASK", "task_id"), whatElse],
  history: [...happened, whatElse],
  comment: [time("AT", "created_at"), field("WHO", "agent_name"), field("KIND", "kind"), flexible("BODY", "body")],
  version: [
    field("VERSION", "version"),
    time("AT", "created_at"),
    field("WHO", "agent_name"),
    { title: "CHANGED", flexible: true, text: (row) => (row.changed as string[]).join(", ") },
  ],
  head: [
    field("BRANCH", "branch"),
    field("COMMIT", "commit"),
    time("SINCE", "updated_at"),
    field("PROJECT", "project_id"),
  ],
  link: [time("AT", "created_at"), field("KIND", "kind"), flexible("URL", "url"), field("TITLE", "title")],
};

const namesOf = (rows: unknown, name: string) => (rows as Row[]).map((row) => textOf(row[name])).join(", ");
const heldBy = (claims: readonly Row[]) =>
  claims.map(({ scope, project }) => (project === undefined ? scope : `${scope} (${project})`)).join(", ");
const stateOf = (tasks: readonly Row[]) => [...new Set(tasks.map(({ state }) => textOf(state)))].join(", ");
const placeOf = (parts: readonly unknown[]) =>
  parts
    .map(textOf)
    .filter((part) => part !== "")
    .join(" ");

function waitState({ state, position, offer_remaining_ms: left }: Row): string {
  if (state === "offered") return `offered, ${lasting(Number(left))} left`;
  return state === "waiting" ? `number ${position}` : textOf(state);
}

/** A task's status in a word or two: what a claim would meet, and how the result was judged. */
export function statusOf(row: Row): string {
  const judged = verdictWord(row);
  if (row.status === "completed" && judged !== undefined) return `completed (${judged})`;
  if (row.lapsed === true && row.status === "open") return "open (lapsed)";
  if (row.stalled === true) return `${row.status} (stalled)`;
  if (row.status === "open" && (row.blocked === true || Number(row.blocked_by_count) > 0)) return "open (blocked)";
  if (row.status === "open" && row.frozen === true) return "open (frozen)";
  if (row.status === "open" && row.ready === false) return "open (scheduled)";
  if (row.cancel_requested === true) return `${row.status} (cancel?)`;
  return textOf(row.status);
}

export function paintStatus(text: string, row: Row, { paint }: Screen): string {
  if (row.status === "claimed") return paint.yellow(text);
  if (row.status === "completed") return verdictWord(row) === "fail" ? paint.red(text) : paint.green(text);
  if (row.status === "failed" || row.stalled === true) return paint.red(text);
  return row.ready === true ? paint.cyan(text) : paint.dim(text);
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
