import { type Backlog, type ImportOptions, NORMAL, type Place, type Priority } from "./backlog.js";
import { describe } from "./description.js";
import { Draft } from "./draft.js";
import { ForeignRecord } from "./foreign-record.js";
import { issueReferences, repositoryOf } from "./issue-references.js";
import { type JsonRow, jsonRows } from "./json-rows.js";

const CALLED = { content: "title", description: "body" };
const FIELDS = "number,title,body,labels,state,url,assignees,milestone";
// gh lists 30 open issues unless it is told otherwise; what an issue waits for is often closed.
const ALL = "if it is closed or older, list them all: gh issue list --state all --limit 100000";
// P0 is the most urgent; the words are those of GitHub's own and Kubernetes' label sets.
const PRIORITIES: readonly (readonly [RegExp, Priority])[] = [
  [/^(?:p0|(?:priority|prio)[\s:/-]*(?:p?0|critical|urgent|highest|critical-urgent))$/i, 4],
  [/^(?:p1|(?:priority|prio)[\s:/-]*(?:p?1|high|important-soon))$/i, 3],
  [/^(?:p2|(?:priority|prio)[\s:/-]*(?:p?2|medium|normal|important-longterm))$/i, 2],
  [/^(?:p[34]|(?:priority|prio)[\s:/-]*(?:p?[34]|low|lowest|backlog))$/i, 1],
];

/**
 * GitHub's issues as `gh issue list --json number,title,…` prints them, with whichever fields; keys are `gh-12`. An
 * issue waits for what its `blockedBy` and the "Depends on #12" lines of its body name; closed ones are done.
 */
export function githubBacklog(text: string, _options: ImportOptions = {}): Backlog {
  const draft = new Draft();
  for (const row of jsonRows(text)) takeRow(row, draft);
  return draft.finish(ALL);
}

function takeRow(row: JsonRow, draft: Draft): void {
  const place = { row: row.row, column: row.column };
  const issue = "fault" in row ? undefined : ForeignRecord.of(row.value);
  const number = issue?.whole("number");
  const key = keyOf(number ?? 0);
  if ("fault" in row) draft.refuse(place, row.fault);
  else if (issue === undefined) draft.refuse(place, "must be a JSON object, as gh writes one for each issue");
  else if (number === undefined || number < 1)
    draft.refuse(place, issue.fault ?? `has no number; list the issues with --json ${FIELDS}`);
  else if (issue.text("state")?.toUpperCase() === "CLOSED" || issue.flag("closed")) draft.close(key, place);
  else if (!issue.has("title")) draft.refuse(place, `has no title; list the issues with --json ${FIELDS}`, key);
  else takeIssue(issue, key, place, draft);
}

function takeIssue(issue: ForeignRecord, key: string, place: Place, draft: Draft): void {
  const labels = issue.list("labels").map((label) => nameOf(label, issue));
  const waits = waitsFor(issue);
  const item = {
    key,
    place,
    called: CALLED,
    content: issue.text("title") ?? "",
    description: descriptionOf(issue),
    labels,
    priority: priorityOf(labels),
    dependsOn: waits.keys,
  };
  const fault = issue.fault ?? waits.fault;
  if (fault === undefined) draft.take(item);
  else draft.refuse(place, fault, key);
}

function keyOf(number: number): string {
  return `gh-${number}`;
}

/** gh writes a label as a record; `--jq` filters often leave its name. */
function nameOf(label: unknown, issue: ForeignRecord): string {
  const name = typeof label === "string" ? label : ForeignRecord.of(label)?.text("name");
  if (name === undefined) issue.wrong("labels", 'a list of labels, as [{"name": "bug"}]');
  return name ?? "";
}

function priorityOf(labels: readonly string[]): Priority {
  return PRIORITIES.find(([pattern]) => labels.some((label) => pattern.test(label)))?.[1] ?? NORMAL;
}

function waitsFor(issue: ForeignRecord): { keys: readonly string[]; fault?: string } {
  const own = repositoryOf(issue.text("url"));
  const listed = issue.child("blockedBy");
  const blockers = listed?.records("nodes") ?? [];
  const total = listed?.whole("totalCount") ?? blockers.length;
  if (total > blockers.length)
    return {
      keys: [],
      fault: `is blocked by ${total} issues, of which gh listed ${blockers.length}; name the others in its body`,
    };
  const native = blockers.flatMap((blocker) => {
    const number = blocker.whole("number") ?? blocker.wrong("number", "the number of an issue");
    const done = blocker.text("state")?.toUpperCase() === "CLOSED";
    return number === undefined ? [] : [{ number, done, repository: repositoryOf(blocker.text("url")) }];
  });
  const known = new Set(native.map(({ number }) => number));
  const written = issueReferences(issue.text("body") ?? "").filter(({ number }) => !known.has(number));
  const open = [...native.filter(({ done }) => !done), ...written];
  const elsewhere = open.find(({ repository }) => repository?.toLowerCase() !== own?.toLowerCase() && repository);
  const fault = elsewhere && inAnother(`${elsewhere.repository}#${elsewhere.number}`);
  return { keys: [...new Set(open.map(({ number }) => keyOf(number)))], fault };
}

// Without a url of its own, an issue's repository is unknown, and so is whether another is the same.
function inAnother(reference: string): string {
  return `depends on ${reference}, which is in another repository, or this one's url is not listed; add url to --json, or remove the dependency`;
}

function descriptionOf(issue: ForeignRecord): string | undefined {
  const milestone = issue.child("milestone");
  const parent = issue.child("parent");
  const due = milestone?.text("dueOn")?.slice(0, 10);
  return describe({
    text: issue.text("body")?.replaceAll("\r\n", "\n"),
    sections: [["Comments", commentsOf(issue)]],
    facts: [
      ["Issue", issue.text("url")],
      ["Author", issue.child("author")?.text("login")],
      [
        "Assignees",
        issue
          .records("assignees")
          .flatMap((person) => person.text("login") ?? [])
          .join(", "),
      ],
      ["Milestone", milestone && `${milestone.text("title") ?? ""}${due === undefined ? "" : `, due ${due}`}`],
      ["Type", issue.child("issueType")?.text("name")],
      ["Parent", parent && `#${parent.whole("number") ?? "?"} ${parent.text("title") ?? ""}`.trimEnd()],
    ],
  });
}

function commentsOf(issue: ForeignRecord): string {
  return issue
    .records("comments")
    .map((comment) => `${comment.child("author")?.text("login") ?? "somebody"}: ${comment.text("body") ?? ""}`)
    .join("\n\n");
}
