import { hostileText } from "../../contract/json-shape.js";
import { newTask } from "../../contract/task.js";
import type { Backlog, BacklogItem, BadRow, Place, Remark } from "./backlog.js";
import { settled } from "./settled.js";

/** A row as its format gives it: not yet known to fit, its dependencies not yet known to exist. */
export interface DraftItem extends Omit<BacklogItem, "row"> {
  readonly place: Place;
  /** What the source calls what becomes content and description, for the messages. */
  readonly called: { readonly content: string; readonly description: string };
}

/** What became of the row with a key. */
export type Fate = "item" | "closed" | "skipped" | "bad";

const STEP_KEY = /^[A-Za-z0-9._-]{1,64}$/;
const CONTENTS = newTask.pick({
  content: true,
  description: true,
  labels: true,
  priority: true,
  due_date: true,
  not_before: true,
});
/** What one step may wait for, as a plan has it. */
const BLOCKERS_MAX = 10_000;
// Beyond, a file of some megabytes with thousands of blockers that thousands of subtasks inherit fills the memory.
const DEPENDENCIES_MAX = 1_000_000;

/** A backlog while its rows come in, one after another; a bad one never stops the rest. */
export class Draft {
  readonly items: DraftItem[] = [];
  readonly bad: BadRow[] = [];
  private readonly closed: { key: string; row: number }[] = [];
  private readonly skipped: Remark[] = [];
  private readonly fates = new Map<string, { readonly fate: Fate; readonly row: number }>();
  private dependencies = 0;

  /** Takes it if its key is free and all of it fits a task. */
  take(item: DraftItem): void {
    const { key, place } = item;
    const message = keyFault(key) ?? contentFault(item) ?? this.tooMany(item.dependsOn.length);
    if (message !== undefined) this.refuse(place, message, key);
    else if (this.name(key, place, "item")) {
      this.items.push(item);
      this.dependencies += item.dependsOn.length;
    }
  }

  /** Done in the source. */
  close(key: string, place: Place): void {
    if (this.name(key, place, "closed")) this.closed.push({ key, row: place.row });
  }

  /** No work: `message` says what it is. */
  skip(place: Place, message: string, key?: string): void {
    if (key === undefined || this.name(key, place, "skipped"))
      this.skipped.push({ row: place.row, ...(key === undefined ? {} : { key }), message });
  }

  refuse(place: Place, message: string, key?: string): void {
    // A bad row takes its key as well, so that those who depend on it can name it.
    if (key !== undefined && !this.fates.has(key)) this.fates.set(key, { fate: "bad", row: place.row });
    this.bad.push({ ...place, ...(key === undefined ? {} : { key }), message });
  }

  /** Why a row can't have so many dependencies, if it can't. */
  tooMany(dependencies: number): string | undefined {
    if (dependencies > BLOCKERS_MAX)
      return `depends on ${count(dependencies)} others; at most ${count(BLOCKERS_MAX)}: put one that gathers them between`;
    return this.dependencies + dependencies > DEPENDENCIES_MAX
      ? `the file has more than ${count(DEPENDENCIES_MAX)} dependencies up to here; import it in parts`
      : undefined;
  }

  fateOf(key: string): { readonly fate: Fate; readonly row: number } | undefined {
    return this.fates.get(key);
  }

  /** The backlog, with each dependency resolved. `whereElse` says what to do about one that isn't in the file. */
  finish(whereElse: string): Backlog {
    const { items, bad } = settled(this, whereElse);
    return { items, closed: this.closed, skipped: this.skipped, bad };
  }

  private name(key: string, place: Place, fate: Fate): boolean {
    const first = this.fates.get(key);
    if (first === undefined) this.fates.set(key, { fate, row: place.row });
    else this.refuse(place, `has the id of row ${first.row}; give one of them another`, key);
    return first === undefined;
  }
}

function keyFault(key: string): string | undefined {
  return STEP_KEY.test(key)
    ? undefined
    : `its id can't be a step's key: 1..64 of letters, digits, dot, underscore, hyphen; change it in the source`;
}

/** The first thing by which it is no task of Dibs, with the limit and the remedy. */
function contentFault(item: DraftItem): string | undefined {
  const { content, description, labels, priority, dueDate, notBefore, called } = item;
  for (const [name, text] of [
    [called.content, content],
    [called.description, description],
    ...labels.map((label) => ["label", label] as const),
  ] as const) {
    const fault = text === undefined ? undefined : hostileText(text);
    if (fault !== undefined) return `${name} ${fault}`;
  }
  const task = { content, description, labels: [...labels], priority, due_date: dueDate, not_before: notBefore };
  const issue = CONTENTS.safeParse(task).error?.issues[0];
  if (issue === undefined) return undefined;
  const remedy = "change it in the source";
  switch (issue.path[0]) {
    case "content":
      if (content.trim() === "") return `${called.content} ${issue.message}; write one in the source`;
      return `${called.content} ${issue.message} and has ${count(content.length)}; shorten it in the source and move the rest to the ${called.description}`;
    case "description":
      return `${called.description}, with all that goes into it, ${issue.message} and has ${count(description?.length ?? 0)}; shorten it in the source and link to the rest`;
    case "labels":
      return `label ${JSON.stringify(labels[Number(issue.path[1])] ?? labels.length)} ${issue.message}; ${remedy}`;
    default:
      return `${String(issue.path[0])} ${issue.message}; ${remedy}`;
  }
}

function count(number: number): string {
  return number.toLocaleString("en");
}
