import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Backlog } from "./backlog.js";
import { detectFormat, type Format, IMPORTERS } from "./formats.js";

const stored = (name: string) => readFileSync(new URL(`../../../test/imports/${name}`, import.meta.url), "utf8");
const FORMATS = Object.keys(IMPORTERS) as Format[];

describe("the format of a file", () => {
  test.each([
    ["beads.jsonl", "beads"],
    ["task-master-tagged.json", "task-master"],
    ["task-master-flat.json", "task-master"],
    ["github.json", "github"],
    ["checklist.md", "markdown"],
    ["spec-kit.md", "markdown"],
  ])("%s is %s, by name and content, and by content alone", (name, format) => {
    expect(detectFormat(name, stored(name))).toBe(format);
    expect(detectFormat("-", `\uFEFF${stored(name)}`)).toBe(format);
  });

  test("a word in a text is no field", () => {
    const body = JSON.stringify([{ number: 1, title: 'about "issue_type": "x" and "tasks": []' }]);
    expect(detectFormat("issues.json", body)).toBe("github");
  });

  test.each(["", "{}", "[]", "hello", "\u0000"])("nothing is guessed of %j", (text) => {
    expect(detectFormat("backlog", text)).toBeUndefined();
  });
});

/** What whoever creates steps relies on. */
function expectSound({ items, closed, bad, skipped }: Backlog, rows: number): void {
  const keys = new Set(items.map(({ key }) => key));
  expect(keys.size).toBe(items.length);
  for (const { key } of closed) expect(keys.has(key)).toBe(false);
  for (const { key } of items) expect(key).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  const started = new Set<string>();
  let left = [...items];
  for (let before = -1; before !== left.length; ) {
    before = left.length;
    for (const { key, dependsOn } of left) if (dependsOn.every((other) => started.has(other))) started.add(key);
    left = left.filter(({ key }) => !started.has(key));
  }
  expect(left).toEqual([]);
  for (const { row } of [...items, ...closed, ...skipped, ...bad]) {
    expect(row).toBeGreaterThanOrEqual(1);
    expect(row).toBeLessThanOrEqual(rows);
  }
}

describe("hostile input gets bad rows, never a crash", () => {
  const names = fc.constantFrom(
    ...[
      "id",
      "number",
      "title",
      "tasks",
      "master",
      "subtasks",
      "status",
      "priority",
      "labels",
      "dependencies",
      "nodes",
    ],
    ...["depends_on_id", "type", "blockedBy", "body", "description", "state", "__proto__", "constructor", "toString"],
  );
  const leaf = fc.oneof(
    fc.constantFrom(
      "a",
      "b",
      "1",
      "1.1",
      "open",
      "done",
      "closed",
      "blocks",
      "Depends on #1",
      "\u0000",
      "\ud800",
      "",
      -1,
      0,
      1,
      2,
      2 ** 60,
    ),
    fc.boolean(),
    fc.constant(null),
    fc.double(),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: "medium" }, leaf, fc.array(tie("value"), { maxLength: 4 }), tie("object")),
    object: fc.array(fc.tuple(names, tie("value")), { maxLength: 6 }).map((pairs) => {
      const fields = pairs.map(([name, held]) => `${JSON.stringify(name)}:${JSON.stringify(held) ?? "null"}`);
      return JSON.parse(`{${fields.join(",")}}`);
    }),
  }));
  const line = fc.constantFrom(
    ...[
      "- [ ] a",
      "  - [x] b",
      "\t- [ ] T001 c",
      "- [ ] T002 (depends on T001)",
      "- [ ] ⛔ a,b 🆔 a",
      "# x",
      "```",
      "<!--",
      "-->",
    ],
    ...[
      "",
      "\r",
      "text",
      "- [ ]",
      "- [-] d ^e",
      '{"id":1',
      "[",
      '{"id":"a","title":"b","dependencies":[{"depends_on_id":"a"}]}',
    ],
  );

  test.each(FORMATS)("%s: any JSON", (format) => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 8 }), fc.nat(2), (values, layout) => {
        const text =
          layout === 0
            ? values.map((each) => JSON.stringify(each)).join("\n")
            : JSON.stringify(layout === 1 ? values : { master: { tasks: values } }, null, 1);
        expectSound(IMPORTERS[format](text), text.split("\n").length);
      }),
      { numRuns: 300 },
    );
  });

  test.each(FORMATS)("%s: any lines", (format) => {
    fc.assert(
      fc.property(fc.array(fc.oneof(line, fc.string()), { maxLength: 20 }), (lines) => {
        const text = lines.join("\n");
        expectSound(IMPORTERS[format](text), text.split(/\r\n?|\n/).length);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ["nesting", "[".repeat(1_000_000)],
    ["nesting in a record", `{"id":"a","title":"b","labels":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
    ["nesting of tasks", `${'{"tasks":[{"id":1,"title":"x","subtasks":[{"id":1,"a":'.repeat(300)}1`],
    ["one endless text", `["${"\\\\".repeat(1_000_000)}`],
    ["one endless line", `- [ ] ${"(depends on [id:: <!-- ⛔ ".repeat(40_000)}`],
    ["endless blanks", `- [ ] x${" ".repeat(1_000_000)}y\n${" ".repeat(1_000_000)}`],
    ["endless references", JSON.stringify([{ number: 1, title: "x", body: `Depends on ${"#2, ".repeat(200_000)}` }])],
    ["endless brackets", JSON.stringify([{ number: 1, title: "x", body: `Depends on ${"[".repeat(500_000)}` }])],
  ])("%s", (_what, text) => {
    for (const format of FORMATS) expectSound(IMPORTERS[format](text), text.split("\n").length);
  });
});

describe("a backlog of 100,000 rows", () => {
  const ROWS = 100_000;
  const rows = Array.from({ length: ROWS }, (_, index) => index);
  const bead = (index: number, other: number) =>
    `{"id":"b-${index}","title":"x","priority":2,"dependencies":[{"depends_on_id":"b-${other}","type":"blocks"}]}`;

  test("that is one chain is read, without recursion", () => {
    const text = rows.map((index) => bead(index, index + 1)).join("\n");
    const { items, bad } = IMPORTERS.beads(`${text}\n{"id":"b-${ROWS}","title":"last","priority":2}`);
    expect([items.length, bad.length]).toEqual([ROWS + 1, 0]);
  });

  test("that is one circle is bad, each row with the first steps of it", () => {
    const { items, bad } = IMPORTERS.beads(rows.map((index) => bead(index, (index + 1) % ROWS)).join("\n"));
    expect([items.length, bad.length]).toEqual([0, ROWS]);
    expect(bad[0]?.message).toMatch(/^can never start: (b-\d+ → ){12}… 99988 more → b-\d+ is a circle/);
  });

  test("that would hand thousands of dependencies down to thousands of subtasks is cut short", () => {
    const id = (index: number) => ({ id: index + 1, title: "x", status: "pending", dependencies: [] });
    const tasks = rows.slice(0, 9000).map(id);
    const parent = { ...id(9000), dependencies: tasks.map((task) => task.id), subtasks: rows.slice(0, 900).map(id) };
    const { items, bad } = IMPORTERS["task-master"](JSON.stringify({ tasks: [...tasks, parent] }));
    expect(items.length).toBeLessThan(9200);
    expect(bad.at(-1)?.message).toMatch(/more than 1,000,000 dependencies up to here; import it in parts/);
  });
});
