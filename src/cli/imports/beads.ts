import { type Backlog, DEFERRED_LABEL, type ImportOptions, NORMAL, type Priority } from "./backlog.js";
import { describe } from "./description.js";
import { Draft } from "./draft.js";
import { ForeignRecord } from "./foreign-record.js";
import { type JsonRow, jsonRows } from "./json-rows.js";

// What keeps an issue out of `bd ready`. The others only tell how issues hang together: parent-child, related,
// discovered-from and a dozen more, besides the user's own.
const WAITING_TYPES = new Set(["blocks", "conditional-blocks", "waits-for"]);
// `bd ready` never hands these out.
const NO_WORK_TYPES = new Set(["merge-request", "gate", "molecule", "message", "event", "agent", "role", "rig"]);
// Of beads' 0 (critical) to 4 (backlog).
const PRIORITIES: readonly Priority[] = [4, 3, 2, 1, 1];
// Any other status is the user's own, done if it has a time of closing.
const OPEN = new Set(["open", "in_progress", "blocked", "deferred", "hooked", "pinned"]);
const CALLED = { content: "title", description: "description" };

/** `bd export`'s JSONL (also `.beads/issues.jsonl` and `bd list --json`); keys are beads' ids, as `bd-a1b2.1`. */
export function beadsBacklog(text: string, _options: ImportOptions = {}): Backlog {
  const draft = new Draft();
  for (const row of jsonRows(text)) takeRow(row, draft);
  return draft.finish("remove it with bd dep remove, or add the issue to the export");
}

function takeRow(row: JsonRow, draft: Draft): void {
  const place = { row: row.row, column: row.column };
  const issue = "fault" in row ? undefined : ForeignRecord.of(row.value);
  const key = issue?.id("id");
  const noIssue = issue && whyNoIssue(issue);
  const noWork = issue && whyNoWork(issue);
  if ("fault" in row) draft.refuse(place, row.fault);
  else if (issue === undefined) draft.refuse(place, "must be a JSON object, as bd export writes one for each issue");
  else if (noIssue !== undefined) draft.skip(place, noIssue);
  else if (key === undefined) draft.refuse(place, issue.fault ?? "has no id; beads' issues have one, as bd-a1b2");
  else if (isClosed(issue)) draft.close(key, place);
  else if (noWork !== undefined) draft.skip(place, noWork, key);
  else takeIssue(issue, key, place, draft);
}

function whyNoIssue(issue: ForeignRecord): string | undefined {
  if (issue.has("_schema")) return "the export's head, no issue";
  return issue.raw("_type") === "memory" ? "a memory, no issue" : undefined;
}

function isClosed(issue: ForeignRecord): boolean {
  const status = issue.text("status") ?? "open";
  return status === "closed" || status === "tombstone" || (!OPEN.has(status) && issue.has("closed_at"));
}

function whyNoWork(issue: ForeignRecord): string | undefined {
  const type = issue.text("issue_type") ?? "";
  if (NO_WORK_TYPES.has(type)) return `a ${type}, no work that bd ready hands out`;
  if (issue.flag("pinned") || issue.text("status") === "pinned") return "pinned: it stays open, no work";
  if (issue.flag("is_template")) return "a template, no work";
  return issue.flag("ephemeral") || issue.flag("wisp") ? "ephemeral, not kept" : undefined;
}

function takeIssue(issue: ForeignRecord, key: string, place: { row: number; column: number }, draft: Draft): void {
  const deferred = issue.text("status") === "deferred";
  const priority = issue.whole("priority");
  const mapped = priority === undefined ? NORMAL : PRIORITIES[priority];
  if (mapped === undefined) issue.wrong("priority", "0..4");
  const links = linksOf(issue, key);
  const item = {
    key,
    place,
    called: CALLED,
    content: issue.text("title") ?? "",
    description: descriptionOf(issue, links),
    labels: [...issue.texts("labels"), ...(deferred ? [DEFERRED_LABEL] : [])],
    priority: deferred ? 1 : (mapped ?? NORMAL),
    dependsOn: links.filter((link) => WAITING_TYPES.has(link.type)).map((link) => link.other),
    dueDate: issue.text("due_at"),
    notBefore: issue.text("defer_until"),
  } as const;
  if (issue.fault === undefined) draft.take(item);
  else draft.refuse(place, issue.fault, key);
}

interface Link {
  readonly type: string;
  readonly other: string;
}

/** What an issue says of others. `bd show --json` writes the other issue itself, everything else a link to it. */
function linksOf(issue: ForeignRecord, key: string): Link[] {
  return issue.records("dependencies").flatMap((link) => {
    if ((link.id("issue_id") ?? key) !== key) return [];
    const other = link.id("depends_on_id") ?? link.id("id");
    if (other === undefined) link.wrong("depends_on_id", "the id of an issue");
    return other === undefined ? [] : [{ type: link.text("type") ?? link.text("dependency_type") ?? "blocks", other }];
  });
}

function descriptionOf(issue: ForeignRecord, links: readonly Link[]): string | undefined {
  const status = issue.text("status");
  const type = issue.text("issue_type");
  return describe({
    text: issue.text("description"),
    sections: [
      ["Design", issue.text("design")],
      ["Acceptance criteria", issue.text("acceptance_criteria")],
      ["Notes", issue.text("notes")],
      ["Comments", commentsOf(issue)],
    ],
    facts: [
      ["Type", type === "task" ? undefined : type],
      ["Status in beads", status === "open" ? undefined : status],
      ["Assignee", issue.text("assignee")],
      ["Estimated minutes", issue.whole("estimated_minutes")],
      ["Spec", issue.text("spec_id")],
      ["External reference", issue.text("external_ref")],
      ...links.filter((link) => !WAITING_TYPES.has(link.type)).map((link) => [capital(link.type), link.other] as const),
    ],
  });
}

function commentsOf(issue: ForeignRecord): string {
  return issue
    .records("comments")
    .map((comment) => `${comment.text("author") ?? "somebody"}: ${comment.text("text") ?? ""}`)
    .join("\n\n");
}

/** `parent-child` names the parent. */
function capital(type: string): string {
  const words = type === "parent-child" ? "parent" : type.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
