import { createHash } from "node:crypto";
import { type Backlog, type ImportOptions, NORMAL, type Priority } from "./backlog.js";
import { type ChecklistLine, checklistLines } from "./checklist-lines.js";
import { type Marks, marksOf, numbersNamed } from "./checklist-marks.js";
import { describe } from "./description.js";
import { Draft } from "./draft.js";
import { type Member, takeFamily } from "./family.js";
import { withoutMark } from "./json-rows.js";

type Box = Extract<ChecklistLine, { kind: "box" }>;

const CALLED = { content: "text", description: "lines below" };
const DONE = new Set(["x", "X"]);
// "/" is under way in Obsidian.
const OPEN = new Set([" ", "/"]);

/**
 * A checklist: lines as `- [ ] text`. A box within another is a part of it; what else stands below a box describes it.
 * A key is made of the text and of all it stands in (headings, outer lines), so that a line keeps its key wherever
 * lines are added; identical lines in one place are told apart by their order. A line's own id is its key: 🆔 abc,
 * [id:: abc], ^abc or T012.
 */
export function markdownBacklog(text: string, _options: ImportOptions = {}): Backlog {
  const draft = new Draft();
  const outline = new Outline(draft);
  for (const line of checklistLines(withoutMark(text))) outline.read(line);
  if (outline.boxes === 0)
    draft.refuse({ row: 1 }, "has no checklist; write tasks as lines like - [ ] Fix the login page");
  takeFamily(outline.members(), draft);
  return draft.finish(
    "a line is named by its own id, as T012, 🆔 abc or ^abc; give the other line one, or remove this",
  );
}

/** A line that others may stand in. */
interface Outer {
  readonly indent: number;
  readonly digest: string;
  readonly entry: Entry | undefined;
}

/** An open box; its description grows while lines follow. */
interface Entry {
  readonly key: string;
  readonly box: Box;
  readonly marks: Marks;
  readonly section: string;
  readonly parent: Entry | undefined;
  readonly priority: Priority;
  /** All lines below it, and of them those that go on with its paragraph. */
  readonly below: string[];
  readonly wrapped: string[];
  readonly openChildren: string[];
}

class Outline {
  boxes = 0;
  private readonly entries: Entry[] = [];
  private readonly headings: { level: number; text: string; digest: string }[] = [];
  private readonly occurrences = new Map<string, number>();
  private outer: Outer[] = [];
  private before: ChecklistLine["kind"] = "blank";

  constructor(private readonly draft: Draft) {}

  read(line: ChecklistLine): void {
    if (line.kind === "heading") this.heading(line.level, line.text);
    else if (line.kind === "box") this.box(line);
    else if (line.kind === "bullet") this.bullet(line);
    else if (line.kind === "text") this.text(line.indent, line.line);
    else this.entry()?.below.push("");
    // The lines of a box's paragraph count as the box itself.
    if (line.kind !== "text" || this.before !== "box") this.before = line.kind;
  }

  members(): Member[] {
    const members = new Map<Entry, Member>();
    for (const entry of this.entries) {
      const parent = entry.parent === undefined ? undefined : members.get(entry.parent);
      members.set(entry, { item: itemOf(entry), fault: undefined, parent, openChildren: entry.openChildren });
    }
    return [...members.values()];
  }

  private heading(level: number, text: string): void {
    while ((this.headings.at(-1)?.level ?? 0) >= level) this.headings.pop();
    this.headings.push({ level, text, digest: digestOf(this.headings.at(-1)?.digest, bare(text)) });
    this.outer = [];
  }

  private box(box: Box): void {
    this.boxes++;
    this.leave(box.indent);
    const marks = marksOf(box.text);
    const around = this.outer.at(-1)?.digest ?? this.headings.at(-1)?.digest;
    const first = digestOf(around, bare(marks.text));
    const count = (this.occurrences.get(first) ?? 0) + 1;
    this.occurrences.set(first, count);
    const digest = marks.id ?? (count === 1 ? first : digestOf(first, String(count)));
    const key = marks.id ?? keyOf(marks.text, digest);
    this.outer.push({ indent: box.indent, digest, entry: this.take(box, marks, key) });
  }

  private take(box: Box, marks: Marks, key: string): Entry | undefined {
    const place = { row: box.row };
    if (DONE.has(box.mark)) this.draft.close(key, place);
    else if (!OPEN.has(box.mark))
      this.draft.refuse(
        place,
        `has the box [${box.mark}], which tools read differently; write [ ] for open or [x] for done`,
        key,
      );
    else {
      const parent = this.entry();
      const section = this.headings.map(({ text }) => text).join(" / ");
      const priority = marks.priority ?? parent?.priority ?? NORMAL;
      const entry = { key, box, marks, section, parent, priority, below: [], wrapped: [], openChildren: [] };
      parent?.openChildren.push(key);
      this.entries.push(entry);
      return entry;
    }
    return undefined;
  }

  private bullet({ indent, text, line }: Extract<ChecklistLine, { kind: "bullet" }>): void {
    this.leave(indent);
    this.entry()?.below.push(line);
    const digest = digestOf(this.outer.at(-1)?.digest ?? this.headings.at(-1)?.digest, bare(text));
    this.outer.push({ indent, digest, entry: this.entry() });
  }

  private text(indent: number, line: string): void {
    // Text that isn't indented goes on with the line before, unless a blank line ended it.
    if (this.before === "blank") this.leave(indent);
    this.entry()?.below.push(line);
    if (this.before === "box") this.entry()?.wrapped.push(line);
  }

  private leave(indent: number): void {
    while ((this.outer.at(-1)?.indent ?? -1) >= indent) this.outer.pop();
  }

  private entry(): Entry | undefined {
    return this.outer.at(-1)?.entry;
  }
}

function itemOf({ key, box, marks, section, parent, priority, below, wrapped }: Entry): Member["item"] {
  return {
    key,
    place: { row: box.row },
    called: CALLED,
    content: marks.text,
    description: describe({
      text: unindented(below),
      facts: [
        ["Section", section],
        ["Part of", parent?.marks.text],
      ],
    }),
    labels: box.optional ? ["optional"] : [],
    priority,
    dependsOn: [...marks.dependsOn, ...numbersNamed([marks.text, ...wrapped].join(" "))],
  };
}

/** Without numbering and with single spaces: what stays the same when lines are added above. */
function bare(text: string): string {
  return text
    .normalize("NFC")
    .replace(/^\**\d{1,9}(?:\.\d{1,9})*[.):]?\s+/, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

function digestOf(around: string | undefined, text: string): string {
  return createHash("sha256")
    .update(`${around ?? ""}\n${text}`)
    .digest("hex");
}

/** Readable, and as good as unique: 48 bits beside the words. */
function keyOf(text: string, digest: string): string {
  const words = bare(text)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 32)
    .replaceAll(/^-+|-+$/g, "");
  return `${words === "" ? "task" : words}-${digest.slice(0, 12)}`;
}

function unindented(lines: readonly string[]): string {
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const least = indents.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  return Number.isFinite(least)
    ? lines
        .map((line) => line.slice(least))
        .join("\n")
        .trim()
    : "";
}
