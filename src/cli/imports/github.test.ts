import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { githubBacklog } from "./github.js";

const printed = readFileSync(new URL("../../../test/imports/github.json", import.meta.url), "utf8");
const issue = (number: unknown, more: object = {}) => ({ number, title: `Issue ${number}`, ...more });
const read = (...issues: unknown[]) => githubBacklog(JSON.stringify(issues));
/** What an issue of example/shop with this body waits for, among issues 1 to 9. */
function waitsFor(...body: string[]): readonly string[] | undefined {
  const others = Array.from({ length: 9 }, (_, index) => issue(index + 1));
  const url = "https://github.com/example/shop/issues/10";
  return read(...others, issue(10, { body: body.join("\n"), url })).items[9]?.dependsOn;
}

describe("issues as gh issue list --json prints them, on one line", () => {
  const backlog = githubBacklog(printed);

  test("an item for each open one; closed ones are closed, and nobody waits for them", () => {
    expect(backlog.bad).toEqual([]);
    expect(backlog.closed).toEqual([{ key: "gh-11", row: 1 }]);
    expect(backlog.items.map(({ key, dependsOn, priority }) => [key, dependsOn, priority])).toEqual([
      ["gh-14", ["gh-12"], 3],
      ["gh-12", [], 4],
      ["gh-15", ["gh-14", "gh-12"], 2],
    ]);
  });

  test("labels are kept; url, people, milestone and parent stand under the body", () => {
    expect(backlog.items[0]).toMatchObject({
      content: "Rows from the tree",
      labels: ["enhancement", "priority: high"],
    });
    expect(backlog.items[0]?.description).toBe(
      "Turn the tree into rows.\n\nDepends on #12\n\n- Issue: https://github.com/example/shop/issues/14\n- Assignees: jo\n- Milestone: 1.0, due 2026-09-01\n- Parent: #10 Import",
    );
  });

  test("one issue a line, as --jq '.[]' leaves them, is the same", () => {
    const lines = JSON.parse(printed)
      .map((each: object) => JSON.stringify(each))
      .join("\n");
    const keys = (text: string) => githubBacklog(text).items.map(({ key, dependsOn }) => [key, dependsOn]);
    expect(keys(lines)).toEqual(keys(printed));
  });

  test("number and title are enough", () => {
    expect(read(issue(3)).items).toEqual([
      { key: "gh-3", content: "Issue 3", description: undefined, labels: [], priority: 2, dependsOn: [], row: 1 },
    ]);
  });
});

test("a blocker that GitHub knows to be closed need not be listed, and the body can't open it again", () => {
  const blockedBy = { nodes: [{ number: 44, state: "CLOSED" }], totalCount: 1 };
  expect(read(issue(1, { blockedBy, body: "Depends on #44" })).items[0]?.dependsOn).toEqual([]);
});

describe("what a body says of blockers", () => {
  test.each([
    ["Depends on #1", ["gh-1"]],
    ["depends on: #1, #2 and #3", ["gh-1", "gh-2", "gh-3"]],
    ["Blocked-by: #1 (the parser), #2", ["gh-1", "gh-2"]],
    ["- [ ] **Blocked by:** #4", ["gh-4"]],
    ["Blocked by https://github.com/example/shop/issues/5", ["gh-5"]],
    ["Blocked by [the parser](https://github.com/example/shop/issues/6#issuecomment-1)", ["gh-6"]],
    ["Depends on example/shop#7", ["gh-7"]],
  ])("%s", (body, keys) => {
    expect(waitsFor("Words.", "", body)).toEqual(keys);
  });

  test("the list under such a heading or line, to the next heading", () => {
    expect(
      waitsFor(
        "## Blocked by",
        "",
        "- #1",
        "* [x](https://github.com/example/shop/issues/2) first",
        "## Notes",
        "- #3",
      ),
    ).toEqual(["gh-1", "gh-2"]);
    expect(waitsFor("**Depends on:**", "1. #4", "2. #5", "", "Then #6.")).toEqual(["gh-4", "gh-5"]);
  });

  test.each([
    ["a sentence may say the opposite", "This is no longer blocked by #1"],
    ["a ticked box is done", "- [x] Depends on #1"],
    ["struck out", "~~Depends on #1~~"],
    ["code", "```\nDepends on #1\n```"],
    ["a quote", "> Depends on #1"],
    ["a comment", "<!--\nDepends on #1\n-->"],
    ["another word", "Unblocked by #1"],
    ["no issue at all", "## Blocked by\n\nNone - can start immediately"],
  ])("nothing: %s", (_why, body) => {
    expect(waitsFor(body)).toEqual([]);
  });
});

test.each([
  [["P0"], 4],
  [["priority/critical-urgent"], 4],
  [["bug", "Priority: High"], 3],
  [["p1", "p3"], 3],
  [["priority:medium"], 2],
  [["priority-low"], 1],
  [["P4"], 1],
  [["high", "p5", "prioritized"], 2],
])("labels %j mean priority %i", (labels, priority) => {
  expect(read(issue(1, { labels: labels.map((name) => ({ name })) })).items[0]?.priority).toBe(priority);
  expect(read(issue(1, { labels })).items[0]?.priority).toBe(priority);
});

describe("a bad issue doesn't stop the rest, and says what to do", () => {
  const blockers = (nodes: unknown, totalCount = 1) => ({ blockedBy: { nodes, totalCount } });
  const elsewhere = { number: 3, state: "OPEN", url: "https://github.com/example/other/issues/3" };
  const bad: [what: string, issue: unknown, said: RegExp][] = [
    ["no object", 7, /must be a JSON object/],
    ["no number", { title: "x" }, /has no number; list the issues with --json number,title,body/],
    ["a number that is none", issue("12"), /number must be a whole number/],
    ["no title", { number: 1 }, /has no title; list the issues with --json number,title/],
    ["a body that is no text", issue(1, { body: [] }), /body must be text/],
    ["labels that are none", issue(1, { labels: [{ id: 1 }] }), /labels must be a list of labels/],
    [
      "an issue that isn't listed",
      issue(1, { body: "Depends on #44" }),
      /depends on gh-44, which is not in the file; .*--state all/,
    ],
    ["more blockers than gh lists", issue(1, blockers([], 51)), /is blocked by 51 issues, of which gh listed 0/],
    [
      "a blocker elsewhere",
      issue(1, blockers([elsewhere])),
      /depends on example\/other#3, which is in another repository/,
    ],
    [
      "a body's blocker elsewhere",
      issue(1, { body: "Blocked by example/other#3" }),
      /example\/other#3, which is in another/,
    ],
    [
      "a blocker without a number",
      issue(1, blockers([{ state: "OPEN" }])),
      /blockedBy\.nodes\.0\.number must be the number/,
    ],
    ["itself", issue(1, { body: "Depends on #1" }), /gh-1 → gh-1 is a circle/],
    ["a body that is too long", issue(1, { body: "x".repeat(1_000_001) }), /body, with all .* and has 1,000,001/],
  ];
  test.each(bad)("%s", (_what, wrong, said) => {
    const { items, bad: reported } = read(wrong, issue(99));
    expect(reported).toHaveLength(1);
    expect(reported[0]?.message).toMatch(said);
    expect(items.map(({ key }) => key)).toEqual(["gh-99"]);
  });

  test("rows and columns are those of the text as printed, on however many lines", () => {
    const { bad: reported } = githubBacklog(
      '[\n  {"number": 1, "title": "a"},\n  {"number": 1, "title": "b"}, {"title": "c"}\n]',
    );
    expect(reported.map(({ row, column, key }) => [row, column, key])).toEqual([
      [3, 3, "gh-1"],
      [3, 32, undefined],
    ]);
  });
});
