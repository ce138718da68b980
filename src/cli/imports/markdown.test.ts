import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { markdownBacklog } from "./markdown.js";

const stored = (name: string) => readFileSync(new URL(`../../../test/imports/${name}`, import.meta.url), "utf8");
const waits = (text: string) =>
  markdownBacklog(text).items.map(({ content, dependsOn }) => [
    content,
    dependsOn.map((key) => key.replace(/-[0-9a-f]{12}$/, "")),
  ]);

describe("a checklist", () => {
  const backlog = markdownBacklog(stored("checklist.md"));

  test("gives an item for each open box, under a readable key, with its line", () => {
    expect(backlog.bad).toEqual([]);
    expect(backlog.items.map(({ key, row }) => [key.replace(/-[0-9a-f]{12}$/, ""), row])).toEqual([
      ["add-the-orders-table", 8],
      ["serve-orders", 15],
      ["filter-by-customer", 17],
      ["index-the-customer", 18],
      ["write-tests", 20],
      ["show-orders", 24],
      ["write-tests", 25],
    ]);
    expect(backlog.closed.map(({ row }) => row)).toEqual([7, 16]);
  });

  test("code and comments hold no boxes; what stands below a box describes it, with the headings", () => {
    expect(backlog.items[0]?.description).toBe(
      "Keep amounts in cents.\n\n```sql\n-- [ ] not a task\n- [ ] not a task either\n```\n\n- Section: Shop / Backend",
    );
    expect(backlog.items[1]?.description).toBe("- a plain line that says more\n\n- Section: Shop / Backend");
    expect(backlog.items[2]?.description).toBe("- Section: Shop / Backend\n- Part of: Serve orders");
  });

  test("an outer box waits for the open ones within it", () => {
    expect(waits(stored("checklist.md")).filter(([, keys]) => keys?.length !== 0)).toEqual([
      ["Serve orders", ["filter-by-customer"]],
      ["Filter by customer", ["index-the-customer"]],
    ]);
  });

  test("Windows' line ends and byte order mark, and tabs, change nothing", () => {
    const windows = `\uFEFF${stored("checklist.md").replaceAll("    ", "\t").replaceAll("\n", "\r\n")}`;
    const keys = (text: string) => markdownBacklog(text).items.map(({ key, row }) => [key, row]);
    expect(keys(windows)).toEqual(keys(stored("checklist.md")));
  });

  test("a list without an indent, a numbered one and any bullet are read; a link is no box", () => {
    const text = "* [ ] one\n+ [ ] two\n1. [ ] three\n2) [x] four\n- [x](http://example.org)\n- [ ]five\n";
    expect(waits(text).map(([content]) => content)).toEqual(["one", "two", "three"]);
  });
});

describe("keys", () => {
  const keys = (text: string) => new Map(markdownBacklog(text).items.map(({ key, content }) => [content, key]));

  test("stay the same when lines are added, done or numbered anew around them", () => {
    const before = keys("# A\n- [ ] 1. one\n  - [ ] 1.1 two\n## B\n- [ ] three\n");
    const after = keys(
      "# A\nwords\n- [x] zero\n- [ ] 2. one\n  - [x] 2.1 half\n  - [ ] 2.2 two\n## B\n- [ ] new\n- [ ] three\n",
    );
    expect(after.get("2. one")).toBe(before.get("1. one"));
    expect(after.get("2.2 two")).toBe(before.get("1.1 two"));
    expect(after.get("three")).toBe(before.get("three"));
  });

  test("whatever lines are added, wherever, old lines keep theirs", () => {
    const depth = fc.integer({ min: 0, max: 3 });
    const lines = fc.array(fc.tuple(depth, fc.boolean()), { maxLength: 12 });
    const text = (rows: readonly string[]) => rows.join("\n");
    fc.assert(
      fc.property(lines, lines, fc.infiniteStream(fc.nat()), (old, added, places) => {
        const rows = old.map(([level], index) => `${"  ".repeat(level)}- [ ] old ${index}`);
        // Added lines have levels that adopt none of the old: they stand at the end of a nest, or on top.
        const more = [...rows];
        for (const [index, [, done]] of added.entries()) {
          const tops = [...more.keys(), more.length].filter((at) => at === more.length || more[at]?.startsWith("- "));
          const at = tops[(places.next().value ?? 0) % tops.length] ?? 0;
          more.splice(at, 0, `- [${done ? "x" : " "}] new ${index}`);
        }
        // The first old line may be nested under nothing, and a new one before it would adopt it.
        fc.pre(rows.length === 0 || rows[0]?.startsWith("- ") === true);
        const [before, after] = [keys(text(rows)), keys(text(more))];
        for (const [content, key] of before) expect(after.get(content)).toBe(key);
      }),
    );
  });

  test("identical lines differ by what they stand in, and in one place by their order", () => {
    const all = markdownBacklog(
      "# A\n- [ ] test\n- [ ] test\n# B\n- [ ] test\n- x\n  - [ ] test\n- y\n  - [ ] test\n",
    ).items;
    expect(new Set(all.map(({ key }) => key)).size).toBe(5);
  });

  test("don't depend on identical lines elsewhere", () => {
    const last = (text: string) => markdownBacklog(text).items.at(-1)?.key;
    expect(last("# A\n- [ ] test\n# B\n- [ ] test\n")).toBe(last("# A\n# B\n- [ ] test\n"));
  });

  test("of a line in another script are keys, too", () => {
    expect(markdownBacklog("- [ ] 测试付款\n").items[0]?.key).toMatch(/^task-[0-9a-f]{12}$/);
  });
});

describe("marks of tools", () => {
  test("Spec Kit: T002 is the key; depends on names others, also in a wrapped line and as a range", () => {
    const { items, bad } = markdownBacklog(stored("spec-kit.md"));
    expect(bad).toEqual([]);
    expect(items.map(({ key, dependsOn }) => [key, dependsOn])).toEqual([
      ["T002", []],
      ["T003", ["T002"]],
      ["T004", ["T003"]],
      ["T005", ["T002", "T003", "T004"]],
    ]);
  });

  test("Kiro: a star after the box makes it optional; [-] is refused, as Obsidian's means cancelled", () => {
    const { items, bad, closed } = markdownBacklog(stored("kiro.md"));
    expect(items.map(({ content, labels }) => [content, labels])).toEqual([
      ["2. Orders", []],
      ["2.1 Orders table", []],
      ["2.2 Write property tests for totals", ["optional"]],
    ]);
    expect(closed).toHaveLength(1);
    expect(bad).toMatchObject([{ row: 15, message: expect.stringContaining("write [ ] for open or [x] for done") }]);
    expect(markdownBacklog("- [ ]\\* 1.1 escaped\n").items[0]?.labels).toEqual(["optional"]);
  });

  test("Obsidian: ids, dependencies and priorities in both spellings, and block ids", () => {
    const { items } = markdownBacklog(stored("obsidian.md"));
    expect(
      items.map(({ key, content, priority, dependsOn }) => [
        key.replace(/-[0-9a-f]{12}$/, ""),
        content,
        priority,
        dependsOn,
      ]),
    ).toEqual([
      ["print1", "Call the printer", 3, []],
      ["order-paper", "Order paper", 1, ["print1"]],
      ["send", "Send invitations", 4, ["print1", "paper"]],
      ["paper", "Count paper 📅 2026-05-01", 2, []],
      ["the-text", "Write the text", 2, []],
    ]);
  });
});

describe("a bad line doesn't stop the rest, and says what to do", () => {
  test.each([
    ["a box that holds something else", "- [?] x", /has the box \[\?\]/],
    ["no text", "- [ ]", /text must not be empty; write one/],
    ["a line that is too long", `- [ ] ${"x".repeat(2001)}`, /text must have at most 2000 characters and has 2,001/],
    ["an id twice", "- [ ] T001 a\n- [ ] T001 b", /has the id of row 1/],
    ["an unknown id", "- [ ] a (depends on T009)", /depends on T009, which is not in the file/],
    ["a circle", "- [ ] T001 a (depends on T002)\n- [ ] T002 b (depends on T001)", /T00\d → T00\d → T00\d is a circle/],
    ["an inner line that waits for the outer", "- [ ] T001 a\n  - [ ] T002 b (depends on T001)", /is a circle/],
  ])("%s", (_what, text, said) => {
    const { items, bad } = markdownBacklog(`${text}\n- [ ] fine\n`);
    expect(bad[0]?.message).toMatch(said);
    expect(items.map(({ content }) => content)).toContain("fine");
  });

  test.each(["", "# Only a heading\n", '{"a": 1}'])("a text without a checklist: %j", (text) => {
    expect(markdownBacklog(text).bad).toEqual([
      { row: 1, message: "has no checklist; write tasks as lines like - [ ] Fix the login page" },
    ]);
  });
});
