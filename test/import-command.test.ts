import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { CommandLine } from "./support/dibs-command.js";
import { QUICK_DISK } from "./support/quick-disk.js";

const example = (name: string) => fileURLToPath(new URL(`imports/${name}`, import.meta.url));

/** `dibs` on a file of the test's own; what it says with `--json`. */
function bench() {
  const folder = mkdtempSync(join(QUICK_DISK, "dibs-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env = { DIBS_STORE: `sqlite:${join(folder, "dibs.db")}` };
  const line = new CommandLine(folder, env);
  const dibs = (args: readonly string[], stdin?: string) => line.run(args, stdin);
  const asked = (...args: string[]) => line.json(args);
  return { folder, dibs, asked };
}

test.each([
  ["beads", "beads.jsonl"],
  ["task-master", "task-master-tagged.json"],
  ["markdown", "checklist.md"],
  ["github", "github.json"],
])(
  "a backlog of %s becomes a plan, once, however often it is imported",
  async (from, file) => {
    const { asked } = bench();
    const dry = await asked("import", example(file), "--from", from, "--plan", "backlog", "--dry-run");
    expect(dry).toMatchObject({ format: from, dry_run: true, present: 0 });
    expect(dry.created).toBeGreaterThan(2);
    expect(await asked("plan", "list")).toEqual([]);
    const first = await asked("import", example(file), "--from", from, "--plan", "backlog");
    expect(first).toEqual({ ...dry, dry_run: false });
    const plan = await asked("plan", "show", "backlog");
    expect(plan.progress.total).toBe(first.created);
    const again = await asked("import", example(file), "--plan", "backlog");
    expect(again).toEqual({ ...first, created: 0, present: first.created });
    expect(await asked("plan", "show", "backlog")).toEqual(plan);
  },
  60_000,
);

test("lines that were added come in, what waits for what is there waits for it, and bad lines are told one by one", async () => {
  const { folder, dibs, asked } = bench();
  const file = join(folder, "TODO.md");
  writeFileSync(file, "- [ ] First\n- [x] Done\n");
  expect(await asked("import", file, "--plan", "todo")).toMatchObject({ created: 1, closed: 1 });
  const issues = [
    { number: 1, title: "One", state: "OPEN", body: "Depends on #7" },
    { number: 2, title: "", state: "OPEN" },
    { number: 3, title: "Three", state: "OPEN", body: "Depends on #4" },
    { number: 4, title: "Four", state: "OPEN" },
  ];
  const imported = await dibs(["import", "-", "--from", "github", "--plan", "todo"], JSON.stringify(issues));
  expect(imported.exit).toBe(1);
  expect(imported.stdout).toContain("2 tasks created");
  expect(imported.stdout).toContain("2 can't be imported");
  expect(imported.stderr.trim().split("\n")).toEqual([
    expect.stringMatching(/^- line 1, column \d+ \(gh-1\): .*gh-7/),
    expect.stringMatching(/^- line 1, column \d+ \(gh-2\): /),
  ]);
  const { steps } = await asked("plan", "show", "todo");
  expect(
    steps.map((step: { key: string; ready: boolean }) => [step.key.replace(/-[0-9a-f]{12}$/, ""), step.ready]),
  ).toEqual([
    ["first", true],
    ["gh-3", false],
    ["gh-4", true],
  ]);
}, 60_000);

test("whoever says an option of backlogs never fills a store with an export", async () => {
  const { folder, dibs, asked } = bench();
  const elsewhere = `sqlite:${join(folder, "elsewhere.db")}`;
  await dibs(["task", "add", "to be moved"]);
  await dibs(["export", "export.jsonl"]);
  for (const option of [["--dry-run"], ["--project", "default"], ["--tag", "x"]]) {
    const ran = await dibs(["import", "export.jsonl", ...option, "--store", elsewhere]);
    expect([ran.exit, ran.stderr], option[0]).toEqual([2, expect.stringContaining("is an export of Dibs")]);
  }
  expect(await asked("plan", "list")).toEqual([]);
  const astray = await dibs(["import", example("checklist.md"), "--store", elsewhere]);
  expect([astray.exit, astray.stderr]).toEqual([2, expect.stringContaining("is imported with --from")]);
}, 60_000);

test("a file that could be anything is asked about, and one that isn't there is told", async () => {
  const { folder, dibs } = bench();
  writeFileSync(join(folder, "x.txt"), "hello\n");
  const unknown = await dibs(["import", "x.txt", "--plan", "x"]);
  expect([unknown.exit, unknown.stderr]).toEqual([2, expect.stringContaining("beads, task-master, markdown, github")]);
  const missing = await dibs(["import", "none.md", "--plan", "x"]);
  expect([missing.exit, missing.stderr]).toEqual([2, expect.stringContaining("can't be read")]);
  expect(readFileSync(join(folder, "x.txt"), "utf8")).toBe("hello\n");
});
