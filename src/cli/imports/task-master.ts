import { type Backlog, DEFERRED_LABEL, type ImportOptions, NORMAL, type Place, type Priority } from "./backlog.js";
import { describe } from "./description.js";
import { Draft } from "./draft.js";
import { type Member, takeFamily } from "./family.js";
import { ForeignRecord } from "./foreign-record.js";
import { notJson, withoutMark } from "./json-rows.js";
import { placesOf, readJson } from "./json-text.js";

const CLOSED = new Set(["done", "completed", "cancelled"]);
const OPEN = new Set(["pending", "in-progress", "review", "blocked", "deferred"]);
const PRIORITIES = new Map<string, Priority>([
  ["low", 1],
  ["medium", 2],
  ["high", 3],
  ["critical", 4],
]);
const CALLED = { content: "title", description: "description" };
const MASTER = "master";

/**
 * task-master's `tasks.json`, with tags and without; keys are its ids, `3.2` for subtask 2 of task 3. What is done or
 * cancelled is closed, and so is what belongs to a closed task: task-master doesn't hand that out either.
 */
export function taskMasterBacklog(text: string, options: ImportOptions = {}): Backlog {
  const draft = new Draft();
  const plain = withoutMark(text);
  const placeAt = placesOf(plain);
  const read = readJson(plain);
  if ("fault" in read) draft.refuse(placeAt(read.fault.offset), notJson(read.fault.message));
  else {
    const place = (value: unknown) => placeAt(read.offsets.get(value as object) ?? 0);
    const tasks = tasksOf(read.value, options, draft, place);
    const tree = new Tree(draft, place);
    for (const task of tasks) tree.grow(task, undefined);
    takeFamily(tree.members, draft);
  }
  return draft.finish("remove it with task-master validate-dependencies and fix-dependencies");
}

/** The tasks of the one tag that is meant; the others are named. */
function tasksOf(
  value: unknown,
  { tag }: ImportOptions,
  draft: Draft,
  place: (value: unknown) => Place,
): readonly unknown[] {
  const file = ForeignRecord.of(value);
  if (Array.isArray(file?.raw("tasks"))) {
    if (tag === undefined || tag === MASTER) return file.list("tasks");
    draft.refuse(place(value), `the file has no tags; leave out --tag ${tag}`);
    return [];
  }
  const tags = (file?.names() ?? []).filter((name) => Array.isArray(file?.child(name)?.raw("tasks")));
  if (tags.length === 0) {
    draft.refuse(
      place(value),
      'has no tasks: a tasks.json of task-master is {"master": {"tasks": […]}} or {"tasks": […]}',
    );
    return [];
  }
  const chosen = tag ?? (tags.length === 1 ? tags[0] : MASTER);
  if (chosen === undefined || !tags.includes(chosen)) {
    const which = tag === undefined ? `has no tag ${MASTER}, but several others` : `has no tag ${tag}`;
    draft.refuse(place(value), `${which}; name one with --tag: ${tags.join(", ")}`);
    return [];
  }
  for (const other of tags.filter((name) => name !== chosen)) {
    const tasks = file?.child(other)?.list("tasks").length;
    draft.skip(place(file?.raw(other)), `tag ${other} with ${tasks} tasks; import it with --tag ${other}`);
  }
  return file?.child(chosen)?.list("tasks") ?? [];
}

interface Branch {
  readonly id: string;
  readonly place: Place;
  readonly member: Member | undefined;
  readonly closed: boolean;
  readonly deferred: boolean;
  readonly priority: Priority;
}

class Tree {
  readonly members: Member[] = [];

  constructor(
    private readonly draft: Draft,
    private readonly place: (value: unknown) => Place,
  ) {}

  grow(value: unknown, parent: Branch | undefined): void {
    const task = ForeignRecord.of(value);
    const place = task === undefined ? (parent?.place ?? { row: 1 }) : this.place(value);
    const id = task && idOf(task, parent);
    if (task === undefined) {
      const what = parent === undefined ? "a task" : `a subtask of ${parent.id}`;
      this.draft.refuse(place, `${what} is no JSON object; remove it`);
    } else if (id === undefined) this.draft.refuse(place, task.fault ?? "has no id; number it");
    else {
      const branch = this.branch(task, id, place, parent);
      for (const child of task.list("subtasks")) this.grow(child, branch);
    }
  }

  private branch(task: ForeignRecord, id: string, place: Place, parent: Branch | undefined): Branch {
    const status = task.text("status")?.toLowerCase() ?? "pending";
    const closed = CLOSED.has(status) || parent?.closed === true;
    const deferred = status === "deferred" || parent?.deferred === true;
    const priority = priorityOf(task) ?? parent?.priority ?? NORMAL;
    const branch = { id, place, closed, deferred, priority, member: undefined };
    if (closed) this.draft.close(id, place);
    if (closed) return branch;
    if (!OPEN.has(status)) task.wrong("status", [...OPEN, ...CLOSED].join(", "));
    const item = {
      key: id,
      place,
      called: CALLED,
      content: task.text("title") ?? "",
      description: descriptionOf(task, status, parent),
      labels: [...task.texts("tags"), ...(deferred ? [DEFERRED_LABEL] : [])],
      priority: deferred ? 1 : priority,
      dependsOn: task.ids("dependencies").map((other) => fullId(other, parent)),
    } as const;
    task.list("subtasks");
    parent?.member?.openChildren.push(id);
    const member: Member = { item, fault: task.fault, parent: parent?.member, openChildren: [] };
    this.members.push(member);
    return { ...branch, member };
  }
}

/** A subtask's id counts within its task, unless it is written in full. */
function idOf(task: ForeignRecord, parent: Branch | undefined): string | undefined {
  const id = task.id("id");
  if (id === undefined || parent === undefined) return id;
  return id.startsWith(`${parent.id}.`) ? id : `${parent.id}.${id}`;
}

/** In a subtask, a number without a dot is one of its siblings. */
function fullId(id: string, parent: Branch | undefined): string {
  return parent === undefined || id.includes(".") ? id : `${parent.id}.${id}`;
}

function priorityOf(task: ForeignRecord): Priority | undefined {
  const written = task.text("priority")?.toLowerCase();
  if (written === undefined) return undefined;
  return PRIORITIES.get(written) ?? task.wrong("priority", [...PRIORITIES.keys()].join(", "));
}

function descriptionOf(task: ForeignRecord, status: string, parent: Branch | undefined): string | undefined {
  return describe({
    text: task.text("description"),
    sections: [
      ["Details", task.prose("details")],
      ["Implementation approach", task.prose("implementationApproach")],
      ["Technical constraints", task.prose("technicalConstraints")],
      ["Relevant files", task.prose("relevantFiles")],
      ["Acceptance criteria", task.prose("acceptanceCriteria")],
      ["Test strategy", task.prose("testStrategy")],
      ["Metadata", task.prose("metadata")],
    ],
    facts: [
      ["Subtask of", parent?.id],
      ["Status in task-master", status === "pending" ? undefined : status],
      ["Assignee", task.text("assignee")],
      ["Complexity", complexityOf(task)],
    ],
  });
}

function complexityOf(task: ForeignRecord): string | number | undefined {
  const complexity = task.raw("complexity");
  return typeof complexity === "string" || typeof complexity === "number" ? complexity : undefined;
}
