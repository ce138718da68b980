import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { CommandLine } from "./support/dibs-command.js";
import { ScratchFolder } from "./support/scratch-folder.js";

/** `dibs plan apply FILE` on the bare file (R27): the file's own faults are tested beside `src/cli/plan-file.ts`. */

let line: CommandLine;
beforeEach(() => {
  const folder = new ScratchFolder();
  onTestFinished(() => folder.remove());
  line = new CommandLine(folder.path, { DIBS_STORE: `sqlite:${folder.file("dibs.db")}`, DIBS_AGENT: "ann" });
});
const PLAN = `# The release
slug: release
title: Release 1.0
steps:
  - key: build
    content: Build it
  - key: ship
    content: Ship it
    depends_on: [build]
`;
const apply = (text: string, ...flags: string[]) => {
  writeFileSync(join(line.cwd, "plan.yaml"), text);
  return line.run(["plan", "apply", "plan.yaml", ...flags]);
};

describe("dibs plan apply", () => {
  test("creates the steps, says so, changes nothing the second time, and adds what is new", async () => {
    const first = await apply(PLAN);
    expect(first).toMatchObject({ exit: 0, stderr: "" });
    expect(first.stdout).toContain("Plan release: 2 steps created.\n  0 of 2 completed, 1 claimable now, 1 blocked;");
    expect((await apply(PLAN)).stdout).toContain("Plan release: nothing new: it is there already.");
    const longer = `${PLAN}  - {key: tell, content: Tell people, depends_on: [ship]}\n`;
    const refused = await apply(longer);
    expect(refused.exit).toBe(4);
    expect(refused.stderr).toContain("step tell is not in it");
    expect((await apply(longer, "--add")).stdout).toContain("Plan release: 1 step created.");
    const shown = (await line.run(["plan", "show", "release"])).stdout;
    expect(shown).toMatch(
      /^release {2}Release 1\.0\n {2}░{24} {2}0 % · 0 of 3 completed, 1 claimable now, 2 blocked\n/,
    );
    expect(shown).toContain("longest chain  3 steps: build → ship → tell\n");
    expect(shown).toMatch(/\nship +open \(blocked\) +Ship it +build +[0-9a-f]{32}\n/);
  });

  test.each([
    [
      "a wrong field",
      PLAN.replace("depends_on: [build]", "priority: 9"),
      "plan.yaml line 9, column 5: steps.1.priority must be",
      2,
    ],
    [
      "a field that steps don't have",
      PLAN.replace("depends_on", "waits_for"),
      "plan.yaml line 9, column 5: steps.1.waits_for is not a field",
      2,
    ],
    ["a key twice", PLAN.replace("key: ship", "key: build"), "plan.yaml line 7, column 5: steps.1.key is build", 2],
    [
      "a blocker that nobody knows",
      PLAN.replace("[build]", "[build, x]"),
      "plan.yaml line 9, column 25: step ship waits for x, which no step has as its key",
      1,
    ],
    [
      "a cycle",
      PLAN.replace("content: Build it", "content: Build it\n    depends_on: [ship]"),
      'plan.yaml line 7, column 18: the steps would wait for each other: "Build it" (build) waits for "Ship it" (ship) waits for "Build it" (build)',
      4,
    ],
    ["YAML that is none", PLAN.replace("[build]", "[build"), "plan.yaml line 10, column 1: isn't YAML or JSON here", 2],
  ])("with %s creates nothing, and says where the file is wrong", async (_what, text, says, exit) => {
    const refused = await apply(text);
    expect(refused.stderr).toContain(says);
    expect(refused).toMatchObject({ exit, stdout: "" });
    expect(await line.json(["task", "list"])).toEqual([]);
  });
});
