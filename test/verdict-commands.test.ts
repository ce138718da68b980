import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { CommandLine } from "./support/dibs-command.js";
import { ScratchFolder } from "./support/scratch-folder.js";

/** Verdicts from the command line (R28): what is judged, and where the branch is, comes from the repository around it. */

vi.setConfig({ testTimeout: 60_000 });

let folder: ScratchFolder;
/** Outside any repository, and in one with a commit on main. */
let outside: CommandLine;
let inside: CommandLine;

const AUTHOR = { GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@t", GIT_COMMITTER_NAME: "t", GIT_COMMITTER_EMAIL: "t@t" };
const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: inside.cwd, encoding: "utf8", env: { ...process.env, ...AUTHOR } }).trim();
function commit(text: string): string {
  writeFileSync(join(inside.cwd, "file"), text);
  git("add", "file");
  git("commit", "-q", "-m", text);
  return git("rev-parse", "HEAD");
}

beforeEach(() => {
  folder = new ScratchFolder();
  onTestFinished(() => folder.remove());
  const env = { DIBS_STORE: `sqlite:${folder.file("dibs.db")}`, DIBS_AGENT: "ann", NO_COLOR: "1" };
  outside = new CommandLine(folder.path, env);
  mkdirSync(folder.file("repository"));
  inside = outside.in(folder.file("repository"));
  git("init", "-q", "-b", "main");
});

async function claimed(line = inside, ...flags: string[]): Promise<string> {
  const { id } = await line.json(["task", "add", "pay by card", ...flags]);
  await line.json(["task", "claim", id]);
  return id;
}
const shown = (id: string) => inside.json(["task", "show", id]);

describe("in a repository", () => {
  test("a verdict is about the commit and branch that are checked out, and says where the branch is", async () => {
    const first = commit("one");
    const id = await claimed();
    const done = await inside.run(["task", "complete", id, "--verdict", "pass"]);
    expect(done).toMatchObject({ exit: 0, stderr: "" });
    expect(done.stdout).toMatch(/^completed \(pass\) {2}pay by card$/m);
    expect(done.stdout).toMatch(new RegExp(`^  verdict +pass · at ${first.slice(0, 12)} on main$`, "m"));
    expect(await inside.json(["head", "list"])).toMatchObject([{ branch: "main", commit: first }]);
    expect((await shown(id)).verdict).toMatchObject({ commit: first, branch: "main", stale: false });

    // Work goes on: once that is known, what was said of the older commit reads stale.
    const second = commit("two");
    const told = await inside.run(["head", "report"]);
    expect(told.stdout).toContain(second);
    expect((await shown(id)).verdict).toMatchObject({ commit: first, stale: true });
    expect((await inside.run(["task", "list"])).stdout).toContain("completed (stale)");
    const heads = await inside.run(["head", "list", "--branch", "main"]);
    expect(heads.stdout).toMatch(new RegExp(`^main +${second} `, "m"));
    expect((await inside.run(["task", "judge", id, "--verdict", "fail", "--verdict-note", "no tests"])).exit).toBe(0);
    expect((await shown(id)).verdict).toMatchObject({
      outcome: "fail",
      note: "no tests",
      commit: second,
      stale: false,
    });
  });

  test("what is given counts, and --no-git leaves it at that", async () => {
    commit("one");
    const id = await claimed();
    const named = ["--verdict", "pass", "--commit", "abcdef0", "--branch", "feat/pay"];
    await inside.json(["task", "judge", id, ...named]);
    expect((await shown(id)).verdict).toMatchObject({ commit: "abcdef0", branch: "feat/pay" });
    await inside.json(["task", "judge", id, "--verdict", "pass", "--no-git"]);
    expect((await shown(id)).verdict).toMatchObject({ commit: null, branch: null });
    // Who says nothing of the result is asked for nothing.
    await inside.json(["task", "complete", id, "--result", "done"]);
    expect(await inside.json(["head", "list"])).toEqual([]);
  });

  test("changes that aren't committed are mentioned: the commit is not quite what was judged", async () => {
    const only = commit("one");
    writeFileSync(join(inside.cwd, "file"), "changed");
    const id = await claimed();
    const judged = await inside.run(["task", "judge", id, "--verdict", "pass"]);
    expect(judged.exit).toBe(0);
    expect(judged.stderr).toContain(`the working tree has changes that commit ${only.slice(0, 12)}`);
  });

  test("with no branch checked out there is a commit alone, which says of no branch where it is", async () => {
    const only = commit("one");
    git("checkout", "-q", "--detach");
    const id = await claimed();
    await inside.json(["task", "judge", id, "--verdict", "pass"]);
    expect((await shown(id)).verdict).toMatchObject({ commit: only, branch: null });
    const refused = await inside.run(["head", "report"]);
    expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining("Say both --branch and --commit")]);
  });
});

describe("elsewhere", () => {
  test("outside a repository, and before its first commit, a verdict is about no commit", async () => {
    for (const line of [outside, inside]) {
      const id = await claimed(line);
      await line.json(["task", "complete", id, "--verdict", "pass"]);
      expect((await shown(id)).verdict).toMatchObject({ outcome: "pass", commit: null, branch: null });
      expect((await line.run(["head", "report"])).exit).toBe(2);
    }
    const head = ["--branch", "main", "--commit", "a".repeat(40)];
    expect(await outside.json(["head", "report", ...head])).toMatchObject({ branch: "main" });
    expect((await outside.run(["head", "report", "--branch", "main"])).exit).toBe(2);
  });

  test("a task that requires a verdict isn't completed without, in words that name commands; the status is 4", async () => {
    const id = await claimed(outside, "--requires-verdict");
    const refused = await outside.run(["task", "complete", id, "--result", "done"]);
    expect(refused.exit).toBe(4);
    expect(refused.stderr).toMatch(/is completed only with a passing verdict, and has none\. \(verdict_required\)/);
    expect(refused.stderr).toContain("Let somebody else judge it first: dibs task judge.");
    const evidence = '[{"kind":"check","ref":"npm test","detail":"812 passed"}]';
    const done = await outside.run(["task", "complete", id, "--verdict", "pass", "--evidence", evidence]);
    expect(done.stdout).toMatch(/^ {2}evidence +check · npm test · 812 passed$/m);
  });

  test("dibs work counts an attempt where the command gave no verdict, and completes where it did", async () => {
    const { id } = await outside.json(["task", "add", "pay by card", "--requires-verdict", "--max-attempts", "2"]);
    const once = await outside.run(["work", "--once", "--", "true"]);
    expect(once.exit).toBe(1);
    expect(once.stderr).toMatch(/failed with no verdict; attempt 1 of 2, it goes back to the queue/);
    expect((await shown(id)).failure_reason).toMatch(/completed only with a passing verdict, and has none/);
    const judge = `exec "$0" "$1" task judge "$DIBS_TASK_ID" --verdict pass >/dev/null`;
    const [node, dibs] = [process.execPath, new URL("../dist/cli/main.js", import.meta.url).pathname];
    const again = await outside.run(["work", "--once", "--", "sh", "-c", judge, node, dibs]);
    expect(again).toMatchObject({ exit: 0, stderr: expect.stringContaining("pay by card: completed") });
    expect(await shown(id)).toMatchObject({ status: "completed", verdict: { outcome: "pass" } });
  });

  test("a context is merged, its versions are listed, and an older one is read", async () => {
    const { id } = await outside.json(["task", "add", "report", "--context", '{"year":2025,"draft":true}']);
    const merged = await outside.json(["task", "context-set", id, "--context", '{"year":2026,"draft":null}']);
    expect(merged).toMatchObject({ context: { year: 2026 }, version: 2 });
    const stale = await outside.run(["task", "context-set", id, "--context", "{}", "--replace", "--if-version", "1"]);
    expect([stale.exit, stale.stderr]).toEqual([
      4,
      expect.stringContaining("is at version 2; read it again (dibs task context)"),
    ]);
    expect((await outside.run(["task", "context", id])).stdout).toMatch(/^ {2}context +\{"year":2026\}$/m);
    expect(await outside.json(["task", "context", id, "--version", "1"])).toMatchObject({ context: { draft: true } });
    const listed = (await outside.run(["task", "context-versions", id])).stdout;
    expect(listed).toMatch(/^VERSION +AT +WHO +CHANGED$/m);
    expect(listed).toMatch(/^2 .* ann +year, draft$/m);
  });
});
