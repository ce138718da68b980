import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { crowded, type Lifted, lengthOf, violationsOf } from "./house-rules.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** What is lifted for one file by name; a line here needs a reason a reviewer would accept. */
const LIFTED: Lifted = {
  "src/core/engine/waiting.ts: clock":
    "Timers that wake waiting calls are set on the monotonic clock; what the calls then get is decided by the transaction's.",
};

function sources(folder: string): string[] {
  return readdirSync(root + folder, { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((path) => /\.tsx?$/.test(path) && !/\.(test|d)\.tsx?$/.test(path))
    .sort();
}

const read = (path: string) => readFileSync(root + path, "utf8");

describe("the house", () => {
  const paths = [...sources("src"), ...sources("console/src")];

  test("every source keeps to its room's arrows, budgets and manners (R44)", () => {
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.flatMap((path) => violationsOf(path, read(path), LIFTED))).toEqual([]);
  });

  test("no folder has more sources than one can look over", () => {
    expect(crowded(paths)).toEqual([]);
    const many = Array.from({ length: 41 }, (_, nth) => `src/core/a/${nth}.ts`);
    expect(crowded([...many, "src/core/b/1.ts"])).toEqual([
      "src/core/a has 41 sources, 40 at most; split it by subject.",
    ]);
  });

  test("every file of tests keeps to the same length", () => {
    const tests = ["src", "console/src", "test"].flatMap((folder) =>
      readdirSync(root + folder, { recursive: true, encoding: "utf8" })
        .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
        .filter((path) => /\.(ts|mjs)$/.test(path) && (path.startsWith("test/") || path.includes(".test."))),
    );
    expect(tests.length).toBeGreaterThan(100);
    const tooLong = tests.flatMap((path) => {
      const said = lengthOf(path, read(path));
      return said === undefined ? [] : `${path} ${said}`;
    });
    expect(tooLong).toEqual([]);
  });

  test("a rule is lifted only where it is still needed", () => {
    const needless = Object.keys(LIFTED).filter((lift) => {
      const path = lift.replace(/: .*$/, "");
      const others = Object.fromEntries(Object.entries(LIFTED).filter(([other]) => other !== lift));
      return violationsOf(path, read(path), others).length === violationsOf(path, read(path), LIFTED).length;
    });
    expect(needless).toEqual([]);
  });
});

describe("the checks find what they forbid", () => {
  const lines = (count: number) => "// one\n".repeat(count);
  const forbidden: [what: string, path: string, text: string, said: RegExp][] = [
    ["an arrow outward", "src/contract/task.ts", 'import { a } from "../core/app.js";', /contract may import only zod/],
    [
      "a type's arrow outward",
      "src/core/app.ts",
      'import type { A } from "../store/open.js";',
      /imports store from core/,
    ],
    ["an arrow hidden in import()", "src/http/app.ts", 'const a = import("../core/app.js");', /imports core from http/],
    ["the CLI past the stdio bridge", "src/cli/mcp.ts", 'import { a } from "../mcp/tools.js";', /imports mcp from cli/],
    [
      "a package in a room that is to be free of it",
      "src/contract/a.ts",
      'import f from "fastify";',
      /imports fastify/,
    ],
    [
      "Node in the client, which browsers run",
      "src/client/a.ts",
      'import f from "node:fs";',
      /imports node:fs from client/,
    ],
    [
      "the console past the client",
      "console/src/a.tsx",
      'import { a } from "../../src/core/app.js";',
      /imports core from console/,
    ],
    [
      "the contract's door inside src",
      "src/core/a.ts",
      'import { a } from "../contract/index.js";',
      /through its door/,
    ],
    ["a room nobody planned", "src/extras/a.ts", 'import { a } from "../core/app.js";', /room "extras"/],
    ["a vague file name", "src/core/helpers.ts", "export const a = 1;", /says nothing/],
    ["a barrel in a room", "src/core/index.ts", "export const a = 1;", /barrel/],
    ["a door that passes on everything", "src/client/index.ts", 'export * from "./work.js";', /names what it offers/],
    ["names passed on by a file that is no door", "src/core/a.ts", 'export { b } from "./b.js";', /only the doors/],
    ["a default export", "src/core/a.ts", "export default 1;", /default export/],
    ["a long file", "src/core/a.ts", lines(301), /has 301 lines/],
    ["a long function", "src/core/a.ts", `export function a() {\n${lines(70)}}`, /function of 72 lines/],
    ["the environment outside config.ts", "src/cli/a.ts", "export const a = process.env.HOME;", /only src\/config.ts/],
    ["a clock of core's own", "src/core/a.ts", "export const a = () => Date.now();", /reads Date.now\(\)/],
    ["a date of core's own", "src/core/a.ts", "export const a = () => new Date();", /new Date\(\)/],
    ["the lease port called elsewhere", "src/core/a.ts", "export const a = (tx: T) => tx.leases.end();", /R44/],
    [
      "a lease column written elsewhere",
      "src/store/sql/tasks.ts",
      "const a = `UPDATE tasks SET state = ?, fence = 2 WHERE seq = ?`;",
      /R44/,
    ],
    [
      "a lease column inserted elsewhere",
      "src/store/sql/tasks.ts",
      'const a = "INSERT INTO tasks (id, lease_id) VALUES (?, ?)";',
      /R44/,
    ],
  ];
  test.each(forbidden)("%s", (_what, path, text, said) => {
    expect(violationsOf(path, text).join("\n")).toMatch(said);
  });

  test("a long file of tests", () => {
    expect(lengthOf("test/a.test.ts", lines(301))).toMatch(/has 301 lines, 300 at most; split it by subject/);
    expect(lengthOf("test/a.test.ts", lines(300))).toBeUndefined();
  });

  const fine: [what: string, path: string, text: string][] = [
    ["an arrow inward", "src/store/a.ts", 'import { a } from "../core/store.js";'],
    ["the stdio bridge for the CLI", "src/cli/mcp.ts", 'import { a } from "../mcp/stdio.js";'],
    [
      "reading a lease's columns anywhere",
      "src/store/sql/tasks.ts",
      "const a = `UPDATE tasks SET state = ? WHERE lease_id = ? RETURNING fence`;",
    ],
    ["writing them in their own file", "src/store/sql/leases.ts", "const a = `UPDATE tasks SET fence = fence + 1`;"],
    ["a date made of a given time", "src/core/a.ts", "export const a = (ms: number) => new Date(ms);"],
  ];
  test.each(fine)("and allow %s", (_what, path, text) => {
    expect(violationsOf(path, text)).toEqual([]);
  });
});
