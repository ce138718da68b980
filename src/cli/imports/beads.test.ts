import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { beadsBacklog } from "./beads.js";

const FILE = new URL("../../../test/imports/beads.jsonl", import.meta.url);
const exported = readFileSync(FILE, "utf8");

const issue = (id: string, more: object = {}) => ({ id, title: `About ${id}`, status: "open", priority: 2, ...more });
const blockedBy = (id: string, other: string, type = "blocks") => ({ issue_id: id, depends_on_id: other, type });
const file = (...issues: object[]) => issues.map((each) => JSON.stringify(each)).join("\n");
const read = (...issues: object[]) => beadsBacklog(file(...issues));

describe("a file as bd export writes it", () => {
  const backlog = beadsBacklog(exported);
  const item = (key: string) => backlog.items.find((each) => each.key === key);

  test("gives an item for each issue that is to be done, under its own id and row", () => {
    expect(backlog.bad).toEqual([]);
    expect(backlog.items.map(({ key, row, priority }) => [key, row, priority])).toEqual([
      ["shop-a1b2", 2, 3],
      ["shop-a1b2.1", 3, 4],
      ["shop-a1b2.2", 4, 2],
      ["shop-77", 6, 1],
      ["shop-k4", 9, 1],
    ]);
  });

  test("what is closed or a tombstone is closed; what bd ready never hands out is skipped and named", () => {
    expect(backlog.closed).toEqual([
      { key: "shop-9f0", row: 5 },
      { key: "shop-3xq", row: 7 },
    ]);
    expect(backlog.skipped).toEqual([
      { row: 1, message: "the export's head, no issue" },
      { row: 8, key: "shop-mol", message: "a molecule, no work that bd ready hands out" },
      { row: 10, message: "a memory, no issue" },
    ]);
  });

  test("only blocks waits: not for parents, relatives or where it was found, nor for what is closed", () => {
    expect(item("shop-a1b2.1")?.dependsOn).toEqual([]);
    expect(item("shop-a1b2.2")?.dependsOn).toEqual(["shop-a1b2.1"]);
    expect(item("shop-77")?.dependsOn).toEqual([]);
  });

  test("fields that Dibs doesn't have read well in the description; dates are kept", () => {
    expect(item("shop-a1b2.1")).toMatchObject({ labels: ["checkout", "ui"], dueDate: "2026-03-01T00:00:00Z" });
    expect(item("shop-a1b2.1")?.description).toBe(
      [
        "Card and invoice.",
        "## Design\n\nOne form, two tabs.",
        "## Acceptance criteria\n\n- [ ] A card that is refused says why",
        "## Notes\n\nAsk Jo about invoices.",
        "## Comments\n\nmara: Invoices only for companies.",
        "- Type: feature\n- Status in beads: in_progress\n- Assignee: jo\n- Estimated minutes: 90\n- External reference: gh-9\n- Parent: shop-a1b2",
      ].join("\n\n"),
    );
  });

  test("what was put on ice comes last, is marked, and waits for its date", () => {
    expect(item("shop-77")).toMatchObject({ labels: ["deferred"], priority: 1, notBefore: "2026-06-01T00:00:00Z" });
  });
});

test.each([
  [0, 4],
  [1, 3],
  [2, 2],
  [3, 1],
  [4, 1],
])("beads' priority %i is %i in Dibs", (theirs, ours) => {
  expect(read(issue("a", { priority: theirs })).items[0]?.priority).toBe(ours);
});

test("conditional-blocks and waits-for wait, too; a type of the user's own doesn't", () => {
  const waits = (type: string) =>
    read(issue("b"), issue("a", { dependencies: [blockedBy("a", "b", type)] })).items[1]?.dependsOn;
  expect(["conditional-blocks", "waits-for", "tracks", "blocked_by"].map(waits)).toEqual([["b"], ["b"], [], []]);
});

test("a status of the user's own is done if it has a time of closing", () => {
  const { items, closed } = read(
    issue("a", { status: "shipped", closed_at: "2026-01-01T00:00:00Z" }),
    issue("b", { status: "in review" }),
  );
  expect([closed.map(({ key }) => key), items.map(({ key }) => key)]).toEqual([["a"], ["b"]]);
});

test("bd list --json and bd show --json, which print an array, are read as well", () => {
  const shown = [issue("a", { dependencies: [{ ...issue("b"), dependency_type: "blocks" }] }), issue("b")];
  const { items } = beadsBacklog(JSON.stringify(shown, null, 2));
  expect(items.map(({ key, dependsOn, row }) => [key, dependsOn, row])).toEqual([
    ["a", ["b"], 2],
    ["b", [], 17],
  ]);
});

describe("a bad row doesn't stop the rest, and says what to do", () => {
  const bad: [what: string, rows: object[], said: RegExp][] = [
    ["no id", [{ title: "x" }], /has no id/],
    ["an id that can't be a key", [issue("a b")], /1\.\.64 of letters, digits, dot, underscore, hyphen/],
    ["an id of 65 characters", [issue("a".repeat(65))], /1\.\.64/],
    ["no title", [issue("a", { title: undefined })], /title must not be empty/],
    ["a title of blanks", [issue("a", { title: " \u200b " })], /title must contain something visible/],
    [
      "a title that is too long",
      [issue("a", { title: "x".repeat(2001) })],
      /title must have at most 2000 characters and has 2,001; shorten it/,
    ],
    [
      "a description that is too long",
      [issue("a", { notes: "x".repeat(1_000_000) })],
      /at most 1000000 characters and has 1,000,010/,
    ],
    [
      "a label that is too long",
      [issue("a", { labels: ["x".repeat(101)] })],
      /label "x+" must have at most 100 characters/,
    ],
    ["labels that are no list", [issue("a", { labels: "x" })], /labels must be a list; change it/],
    ["a priority out of range", [issue("a", { priority: 5 })], /priority must be 0\.\.4/],
    ["a priority that is no number", [issue("a", { priority: "P1" })], /priority must be a whole number/],
    [
      "a dependency without an id",
      [issue("a", { dependencies: [{ type: "blocks" }] })],
      /dependencies\.0\.depends_on_id must be/,
    ],
    ["a dependency that is no object", [issue("a", { dependencies: ["b"] })], /dependencies must be a list of objects/],
    ["NUL in the title", [issue("a", { title: "a\u0000" })], /title must not contain NUL/],
    ["half a character in a label", [issue("a", { labels: ["\ud800"] })], /label must be well-formed Unicode/],
    ["a date that is none", [issue("a", { due_at: "soon" })], /due_date must be a time with a zone/],
    ["no object", [7 as unknown as object], /must be a JSON object/],
  ];
  test.each(bad)("%s", (_what, rows, said) => {
    const { items, bad: reported } = read(...rows, issue("z"));
    expect(reported.map(({ row }) => row)).toEqual([1]);
    expect(reported[0]?.message).toMatch(said);
    expect(items.map(({ key }) => key)).toEqual(["z"]);
  });

  test("the second of two rows with one id is named, with the first", () => {
    const { items, bad: reported } = read(issue("a"), issue("b"), issue("a"));
    expect(items.map(({ row }) => row)).toEqual([1, 2]);
    expect(reported).toEqual([
      { row: 3, column: 1, key: "a", message: "has the id of row 1; give one of them another" },
    ]);
  });

  test("lines that aren't JSON are shown with the column; a merge that wasn't resolved by its name", () => {
    const text = ["<<<<<<< HEAD", file(issue("a")), "=======", '{"id": "b",, }', ">>>>>>> main", ""].join("\r\n");
    const { items, bad: reported } = beadsBacklog(`\uFEFF${text}`);
    expect(items.map(({ key, row }) => [key, row])).toEqual([["a", 2]]);
    expect(reported.map(({ row, column }) => [row, column])).toEqual([
      [1, 1],
      [3, 1],
      [4, 12],
      [5, 1],
    ]);
    expect(reported[0]?.message).toBe("a conflict mark of git; resolve the merge first");
    expect(reported[2]?.message).toMatch(/not JSON: a field's name in "quotes" is missing/);
  });
});

describe("dependencies", () => {
  test("on what isn't in the file, or on a bad row, make a row bad, and so on backwards", () => {
    const { items, bad } = read(
      issue("a", { dependencies: [blockedBy("a", "external:shop:x")] }),
      issue("b", { dependencies: [blockedBy("b", "a")] }),
      issue("c", { dependencies: [blockedBy("c", "b")] }),
      issue("d", { dependencies: [blockedBy("d", "wrong")] }),
      issue("wrong", { title: "" }),
      issue("m", { issue_type: "gate" }),
      issue("e", { dependencies: [blockedBy("e", "m")] }),
      issue("free"),
    );
    expect(items.map(({ key }) => key)).toEqual(["free"]);
    expect(bad.map(({ key, message }) => [key, message.replace(/;.*/, "")])).toEqual([
      ["a", "depends on external:shop:x, which is not in the file"],
      ["b", "depends on a, and row 1 with it can't be imported"],
      ["c", "depends on b, and row 2 with it can't be imported"],
      ["d", "depends on wrong, and row 5 with it can't be imported"],
      ["wrong", "title must not be empty"],
      ["e", "depends on m (row 6), which is no work to import"],
    ]);
  });

  test("in a circle are spelled out on each of its rows; who waits for the circle is bad, who doesn't is not", () => {
    const { items, bad } = read(
      issue("a", { dependencies: [blockedBy("a", "b")] }),
      issue("b", { dependencies: [blockedBy("b", "c")] }),
      issue("c", { dependencies: [blockedBy("c", "a")] }),
      issue("self", { dependencies: [blockedBy("self", "self")] }),
      issue("after", { dependencies: [blockedBy("after", "a")] }),
      issue("before"),
    );
    expect(items.map(({ key }) => key)).toEqual(["before"]);
    for (const row of [1, 2, 3]) {
      const message = bad.find((each) => each.row === row)?.message ?? "";
      expect(message).toMatch(/^can never start: (a → b → c → a|b → c → a → b|c → a → b → c) is a circle/);
    }
    expect(bad.find(({ key }) => key === "self")?.message).toMatch(/self → self is a circle/);
    expect(bad.find(({ key }) => key === "after")?.message).toMatch(/depends on a, and row 1/);
  });
});
