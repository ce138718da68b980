import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { taskMasterBacklog } from "./task-master.js";

const stored = (name: string) => readFileSync(new URL(`../../../test/imports/${name}`, import.meta.url), "utf8");
const task = (id: unknown, more: object = {}) => ({
  id,
  title: `Task ${id}`,
  status: "pending",
  dependencies: [],
  ...more,
});
const read = (...tasks: unknown[]) => taskMasterBacklog(JSON.stringify({ master: { tasks } }));
const waits = (backlog: ReturnType<typeof taskMasterBacklog>) =>
  Object.fromEntries(backlog.items.map(({ key, dependsOn }) => [key, dependsOn]));

describe("tasks.json with tags", () => {
  const backlog = taskMasterBacklog(stored("task-master-tagged.json"));

  test("gives master's tasks and subtasks under task-master's own ids, at the lines where they begin", () => {
    expect(backlog.bad).toEqual([]);
    expect(backlog.items.map(({ key }) => key)).toEqual(["2", "2.2", "2.3", "3", "3.1", "3.2", "4", "6"]);
    expect(stored("task-master-tagged.json").split("\n")[backlog.items[0]?.row ?? 0]).toContain('"id": 2,');
  });

  test("a task waits for its open subtasks, and they wait for what it waits for; what is done is satisfied", () => {
    expect(waits(backlog)).toEqual({
      "2": ["2.2", "2.3"],
      "2.2": [],
      "2.3": ["2.2"],
      "3": ["2", "3.1", "3.2"],
      "3.1": ["2"],
      "3.2": ["3.1", "2"],
      "4": ["3"],
      "6": [],
    });
  });

  test("done and cancelled are closed, with what belongs to them", () => {
    expect(backlog.closed.map(({ key }) => key)).toEqual(["1", "1.1", "1.2", "2.1", "5"]);
  });

  test("subtasks have their task's priority; what is deferred comes last and is marked", () => {
    expect(backlog.items.map(({ key, priority }) => [key, priority])).toEqual([
      ["2", 3],
      ["2.2", 3],
      ["2.3", 3],
      ["3", 4],
      ["3.1", 4],
      ["3.2", 4],
      ["4", 1],
      ["6", 2],
    ]);
    expect(backlog.items.find(({ key }) => key === "4")?.labels).toEqual(["deferred"]);
  });

  test("details, test strategy and criteria stand in the description", () => {
    expect(backlog.items[0]?.description).toBe(
      "About domain model.\n\n## Details\n\nOrders, lines, customers.\n\n## Test strategy\n\nUnit tests for totals.\n\n- Status in task-master: in-progress\n- Complexity: 6",
    );
    expect(backlog.items.find(({ key }) => key === "3.2")?.description).toContain(
      "## Acceptance criteria\n\n- Each error has a code\n- No stack in an answer\n\n- Subtask of: 3",
    );
  });

  test("other tags are named; one of them is read when it is asked for", () => {
    expect(backlog.skipped.map(({ message }) => message)).toEqual([
      "tag mobile with 2 tasks; import it with --tag mobile",
    ]);
    const mobile = taskMasterBacklog(stored("task-master-tagged.json"), { tag: "mobile" });
    expect(waits(mobile)).toEqual({ "1": [], "2": ["1"] });
  });

  test.each(["none", "__proto__", "constructor"])(
    "a tag that isn't there is refused with those that are: %s",
    (tag) => {
      const { items, bad } = taskMasterBacklog(stored("task-master-tagged.json"), { tag });
      expect(items).toEqual([]);
      expect(bad[0]?.message).toBe(`has no tag ${tag}; name one with --tag: master, mobile`);
    },
  );
});

test("the layout from before tags is read", () => {
  expect(waits(taskMasterBacklog(stored("task-master-flat.json")))).toEqual({
    "1": [],
    "2": ["1", "2.1"],
    "2.1": ["1"],
  });
});

test("ids may be texts, subtasks' ids written in full, and a dependency on a sibling short or full", () => {
  const subtasks = [task("1.1"), task(2, { dependencies: ["1"] }), task(3, { dependencies: ["1.2"] })];
  expect(waits(read(task("1", { subtasks }), task("HAM-2", { dependencies: ["1"] })))).toMatchObject({
    "1.2": ["1.1"],
    "1.3": ["1.2"],
    "HAM-2": ["1"],
  });
});

test("what a task says of its own subtasks is not handed down to them", () => {
  const family = task(1, { dependencies: ["1.2", 2], subtasks: [task(1), task(2)] });
  expect(waits(read(family, task(2)))).toEqual({ "1": ["1.2", "2", "1.1"], "1.1": ["2"], "1.2": ["2"], "2": [] });
});

describe("a bad task doesn't stop the rest, and says what to do", () => {
  const bad: [what: string, tasks: unknown[], said: RegExp][] = [
    ["no object", ["x"], /a task is no JSON object/],
    ["no id", [task(undefined)], /has no id/],
    ["an id that is none", [task(1.5)], /id must be text or a whole number/],
    ["a status nobody knows", [task(1, { status: "almost" })], /status must be pending, in-progress/],
    ["a priority nobody knows", [task(1, { priority: "now" })], /priority must be low, medium, high, critical/],
    ["dependencies that are no ids", [task(1, { dependencies: [{}] })], /dependencies must be a list of ids/],
    ["subtasks that are no list", [task(1, { subtasks: {} })], /subtasks must be a list/],
    [
      "an unknown dependency",
      [task(1, { dependencies: [7] })],
      /depends on 7, which is not in the file; .*fix-dependencies/,
    ],
    ["a long title", [task(1, { title: "x".repeat(2001) })], /title must have at most 2000 characters and has 2,001/],
  ];
  test.each(bad)("%s", (_what, tasks, said) => {
    const { items, bad: reported } = read(...tasks, task(99));
    expect(reported[0]?.message).toMatch(said);
    expect(items.map(({ key }) => key)).toEqual(["99"]);
  });

  test("a task whose subtask is bad is bad, and so are subtasks of a task that can't be read", () => {
    const { items, bad: reported } = read(
      task(1, { subtasks: [task(1, { title: "" }), task(2)] }),
      task(2, { dependencies: "1", subtasks: [task(1)] }),
    );
    expect(items.map(({ key }) => key)).toEqual(["1.2"]);
    expect(reported.map(({ key, message }) => [key, message.replace(/;.*/, "")])).toEqual([
      ["1", "depends on 1.1, and row 1 with it can't be imported"],
      ["1.1", "title must not be empty"],
      ["2", "dependencies must be a list"],
      ["2.1", "is part of 2, and row 1 with it can't be imported"],
    ]);
  });

  test("a circle through a subtask is one: 1 is made of 1.1, which waits for 2, which waits for 1", () => {
    const { bad: reported } = read(
      task(1, { subtasks: [task(1, { dependencies: ["2.1"] })] }),
      task(2, { dependencies: [1], subtasks: [task(1)] }),
    );
    expect(reported.find(({ key }) => key === "1.1")?.message).toMatch(/can never start: .*→.* is a circle/);
  });

  test.each([
    ["", /not JSON: the text ends where a value should stand/],
    ["[]", /has no tasks/],
    ['{"a": 1}', /has no tasks/],
    ['{"a": {"tasks": []}, "b": {"tasks": []}}', /has no tag master, but several others; name one with --tag: a, b/],
  ])("a file that is none: %s", (text, said) => {
    expect(taskMasterBacklog(text).bad[0]?.message).toMatch(said);
  });

  test("the place where JSON breaks off is named by row and column", () => {
    expect(taskMasterBacklog('{"master": {\n  "tasks": [\n    {"id": 1 "title": "x"}]}}').bad).toEqual([
      { row: 3, column: 14, message: "not JSON: a comma or } is missing; export it again, or mend it" },
    ]);
  });
});
