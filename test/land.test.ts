import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { CommandLine } from "./support/dibs-command.js";
import { ScratchFolder } from "./support/scratch-folder.js";
import { StoreFile } from "./support/store-file.js";

/** `dibs land`: git says whether a branch has landed (R42); every repository here is a real one, made by its test. Field report here: C20. */

vi.setConfig({ testTimeout: 60_000 });

let folder: ScratchFolder;
let here: CommandLine;

const AUTHOR = { GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@t", GIT_COMMITTER_NAME: "t", GIT_COMMITTER_EMAIL: "t@t" };
const env = { ...process.env, ...AUTHOR, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
const gitIn = (cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, encoding: "utf8", env, stdio: ["ignore", "pipe", "ignore"] }).trim();
const git = (...args: string[]) => gitIn(here.cwd, ...args);

/** Writes files (null deletes one) and commits them on what is checked out. */
function commit(files: Record<string, string | null>, cwd = here.cwd): string {
  for (const [name, text] of Object.entries(files)) {
    const path = join(cwd, name);
    mkdirSync(dirname(path), { recursive: true });
    if (text === null) rmSync(path);
    else writeFileSync(path, text);
  }
  gitIn(cwd, "add", "-A");
  gitIn(cwd, "commit", "-q", "-m", "x");
  return gitIn(cwd, "rev-parse", "HEAD");
}

beforeEach(() => {
  folder = new ScratchFolder();
  onTestFinished(() => folder.remove());
  const store = { DIBS_STORE: `sqlite:${folder.file("dibs.db")}`, DIBS_AGENT: "ann", NO_COLOR: "1" };
  mkdirSync(folder.file("repository"));
  here = new CommandLine(folder.file("repository"), store);
  git("init", "-q", "-b", "main");
  commit({ "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" });
});

const declare = (branch: string) => here.json(["unlanded", "declare", "--", branch, "path:x"]);
type Judged = { branch: string; landed: boolean; how: string | null; reason: string; ended: boolean };
const land = async (...args: string[]) =>
  (await here.json(["land", ...args])) as { branches: Judged[]; base: string | null };
const judge = async (branch: string, ...flags: string[]) =>
  (await land("--dry-run", ...flags, "--", branch)).branches[0] as Judged;

/** A branch from what is checked out, with a commit of its own. */
function branch(name: string, files: Record<string, string | null>): void {
  git("checkout", "-q", "-b", name);
  commit(files);
  git("checkout", "-q", "main");
}

describe("a branch has landed", () => {
  test("when it was squash-merged, though it is no ancestor then; Dibs is told", async () => {
    branch("feat/x", { "a.txt": "new\n", "b.txt": null, "dir/new.txt": "n\n" });
    const work = await here.json(["unlanded", "declare", "feat/x", "a.txt", "b.txt"]);
    expect(work).toMatchObject({ branch: "feat/x", scopes: ["path:a.txt", "path:b.txt"] });
    expect(await land()).toMatchObject({ branches: [{ branch: "feat/x", landed: false, ended: false }] });
    git("merge", "-q", "--squash", "feat/x");
    commit({ "unrelated.txt": "u\n" });
    expect(await land()).toMatchObject({
      base: "main",
      branches: [{ branch: "feat/x", landed: true, how: "content", ended: true, unlanded_id: work.id }],
    });
    expect(await here.json(["unlanded", "list"])).toEqual([]);
    expect(await here.json(["unlanded", "list", "--ended"])).toMatchObject([{ branch: "feat/x", ended_how: "landed" }]);
  });

  test("when it was merged, also where the base went on over the same files", async () => {
    branch("feat/x", { "a.txt": "new\n" });
    commit({ "b.txt": "meanwhile\n" });
    git("merge", "-q", "--no-ff", "-m", "merge", "feat/x");
    commit({ "a.txt": "later\n" });
    expect(await judge("feat/x")).toMatchObject({ landed: true, how: "merge" });
  });

  test("when it was rebased, or picked commit by commit", async () => {
    branch("feat/x", { "a.txt": "one\n" });
    branch("feat/y", { "b.txt": "two\n" });
    commit({ "c.txt": "meanwhile\n" });
    git("cherry-pick", "feat/x");
    git("checkout", "-q", "-b", "copy", "feat/y");
    git("rebase", "-q", "main");
    git("checkout", "-q", "main");
    git("merge", "-q", "--ff-only", "copy");
    for (const name of ["feat/x", "feat/y"]) expect(await judge(name)).toMatchObject({ landed: true, how: "content" });
  });

  test("when the base was moved on to its own last commit", async () => {
    branch("feat/x", { "a.txt": "one\n" });
    git("merge", "-q", "--ff-only", "feat/x");
    expect(await judge("feat/x")).toMatchObject({ landed: true, how: "fast_forward" });
  });

  test("with a renamed, a deleted and an executable file only when the base has all of it", async () => {
    git("checkout", "-q", "-b", "feat/x");
    git("mv", "a.txt", "moved.txt");
    git("update-index", "--chmod=+x", "c.txt");
    git("commit", "-q", "-m", "x");
    git("checkout", "-q", "-f", "main");
    const step = async (files: Record<string, string | null>) => {
      commit(files);
      return (await judge("feat/x")).landed;
    };
    expect(await step({ "moved.txt": "a\n" })).toBe(false);
    expect(await step({ "a.txt": null })).toBe(false);
    git("update-index", "--chmod=+x", "c.txt");
    git("commit", "-q", "-m", "x");
    git("checkout", "-q", "-f", "main");
    expect(await judge("feat/x")).toMatchObject({ landed: true, how: "content" });
  });

  test("where that is known from a remote alone: it was fetched, and landed on the remote's base", async () => {
    const remote = folder.file("remote.git");
    execFileSync("git", ["init", "-q", "--bare", "-b", "main", remote], { env });
    git("remote", "add", "origin", remote);
    branch("feat/x", { "a.txt": "one\n" });
    git("push", "-q", "origin", "main", "feat/x");
    const other = folder.file("other");
    execFileSync("git", ["clone", "-q", remote, other], { env, stdio: "ignore" });
    gitIn(other, "merge", "-q", "--squash", "origin/feat/x");
    commit({ "z.txt": "z\n" }, other);
    gitIn(other, "push", "-q", "origin", "main");
    expect(await judge("feat/x")).toMatchObject({ landed: false });
    expect(await judge("feat/x", "--fetch")).toMatchObject({ landed: true, how: "content" });
  });
});

describe("a branch is kept, and said why,", () => {
  test("with commits of its own that the base doesn't have, also when part of them has landed", async () => {
    branch("feat/x", { "a.txt": "one\n", "b.txt": "two\n" });
    expect(await judge("feat/x")).toMatchObject({
      landed: false,
      reason: "main doesn't have what it has of a.txt and 1 more",
    });
    commit({ "a.txt": "one\n" });
    expect(await judge("feat/x")).toMatchObject({ landed: false, reason: "main doesn't have what it has of b.txt" });
  });

  test("without commits of its own: an ancestor of the base alone, wherever it was made or moved to", async () => {
    git("branch", "fresh");
    git("branch", "moved");
    branch("feat/x", { "a.txt": "one\n" });
    git("branch", "inside", "main");
    commit({ "b.txt": "meanwhile\n" });
    git("branch", "merged-elsewhere");
    git("checkout", "-q", "feat/x");
    git("merge", "-q", "-m", "up to date", "main");
    git("checkout", "-q", "main");
    commit({ "c.txt": "more\n" });
    git("merge", "-q", "--no-ff", "-m", "merge", "feat/x");
    git("checkout", "-q", "moved");
    git("merge", "-q", "--ff-only", "main");
    git("checkout", "-q", "main");
    commit({ "d.txt": "d\n" });
    // The merge into feat/x has the base's own commit as its other parent: it brought no work of this branch.
    for (const name of ["fresh", "moved", "inside", "merged-elsewhere"])
      expect(await judge(name)).toMatchObject({ landed: false, reason: expect.stringMatching(/nothing says/) });
    expect(await judge("feat/x")).toMatchObject({ landed: true, how: "merge" });
  });

  test("with uncommitted changes in its worktree, tracked or not, wherever that is", async () => {
    branch("feat/x", { "a.txt": "one\n" });
    git("merge", "-q", "--squash", "feat/x");
    git("commit", "-q", "-m", "squashed");
    const worktree = folder.file("a worktree\nof two lines");
    git("worktree", "add", "-q", worktree, "feat/x");
    expect(await judge("feat/x")).toMatchObject({ landed: true });
    writeFileSync(join(worktree, "new.txt"), "n");
    expect(await judge("feat/x")).toMatchObject({
      landed: false,
      reason: expect.stringMatching(/^there are uncommitted changes in .*a worktree\nof two lines$/),
    });
    rmSync(worktree, { recursive: true });
    expect(await judge("feat/x")).toMatchObject({ landed: true });
  });

  test("where nothing is known of it, or of its base, or of a repository; and the base itself", async () => {
    await declare("gone");
    expect((await land()).branches).toMatchObject([
      { branch: "gone", landed: false, reason: expect.stringMatching(/^unknown/) },
    ]);
    expect(await judge("gone", "--base", "nowhere")).toMatchObject({
      reason: expect.stringMatching(/no branch nowhere/),
    });
    expect(await judge("main")).toMatchObject({ landed: false, reason: "it is the base itself" });
    git("checkout", "-q", "--orphan", "other");
    commit({ "o.txt": "o\n" });
    expect(await judge("other")).toMatchObject({ landed: false, reason: expect.stringMatching(/no commit in common/) });
    const outside = here.in(folder.path);
    expect((await outside.json(["land"])).branches).toMatchObject([
      { landed: false, reason: "there is no git repository here" },
    ]);
    expect(await here.json(["unlanded", "list"])).toHaveLength(1);
  });

  test("offline: what can't be fetched can't be told", async () => {
    branch("feat/x", { "a.txt": "one\n" });
    git("merge", "-q", "--squash", "feat/x");
    git("commit", "-q", "-m", "squashed");
    git("remote", "add", "origin", folder.file("nowhere.git"));
    expect(await judge("feat/x", "--fetch")).toMatchObject({
      landed: false,
      reason: expect.stringMatching(/^offline: /),
    });
    expect(await judge("feat/x")).toMatchObject({ landed: true });
  });

  test.each([
    ["an option", "--upload-pack=touch pwned"],
    ["a revision", "main^{tree}"],
    ["a revision's path", "main:a.txt"],
    ["a pattern", "*"],
    ["a path up", "../heads/main"],
  ])("called like %s", async (_what, name) => {
    await declare(name);
    expect((await land()).branches).toMatchObject([
      { branch: name, landed: false, reason: expect.stringMatching(/^unknown/) },
    ]);
    expect(git("status", "--porcelain")).toBe("");
  });

  test("for files with any names", async () => {
    const names = ["-rf", ":(glob)**", "two\nlines", "ünïcode 🦉", 'quote".txt', "tab\t.txt"];
    branch("feat/x", Object.fromEntries(names.map((name) => [name, "x"])));
    commit(Object.fromEntries(names.slice(1).map((name) => [name, "x"])));
    expect(await judge("feat/x")).toMatchObject({ landed: false, reason: "main doesn't have what it has of -rf" });
    commit({ "-rf": "x" });
    expect(await judge("feat/x")).toMatchObject({ landed: true, how: "content" });
  });
});

describe("pruning", () => {
  test("ends what is declared for branches that are gone; without any branch it is refused", async () => {
    branch("feat/x", { "a.txt": "one\n" });
    for (const name of ["feat/x", "gone"]) await declare(name);
    expect(await here.json(["land", "--prune"])).toMatchObject({ pruned: [{ branch: "gone" }] });
    expect(await here.json(["unlanded", "list"])).toMatchObject([{ branch: "feat/x" }]);
    const empty = folder.file("empty");
    mkdirSync(empty);
    gitIn(empty, "init", "-q", "-b", "main");
    const refused = await here.in(empty).run(["land", "--prune"]);
    expect(refused).toMatchObject({ exit: 2, stderr: expect.stringMatching(/branches.*force/s) });
    expect(await here.json(["unlanded", "list"])).toHaveLength(1);
  });

  test("people are told of it when they claim what overlaps, and when they are refused", async () => {
    await here.json(["unlanded", "declare", "feat/x", "a.txt", "--intent", "new a"]);
    const told = /^\s*not landed yet: feat\/x \(ann, "new a"\) changed path:a\.txt$/m;
    expect((await here.run(["scope", "claim", "a.txt", "--intent", "x"])).stderr).toMatch(told);
    const ben = new CommandLine(here.cwd, { ...here.env, DIBS_AGENT: "ben" });
    const refused = await ben.run(["scope", "claim", "a.txt", "--intent", "x"]);
    expect(refused).toMatchObject({ exit: 4, stderr: expect.stringMatching(told) });
  });

  test("where one can't be told, the others are all the same, and the exit status is the first refusal's", async () => {
    for (const [name, file] of [
      ["feat/x", "a.txt"],
      ["feat/y", "b.txt"],
    ] as const) {
      branch(name, { [file]: "new\n" });
      await declare(name);
      git("merge", "-q", "--squash", name);
      git("commit", "-q", "-m", "squashed");
    }
    const file = new StoreFile(folder.file("dibs.db"));
    file.exec(
      "CREATE TRIGGER broken BEFORE UPDATE ON unlanded WHEN old.branch = 'feat/x' BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    const { stdout, exit } = await here.run(["land", "--prune"]);
    expect(exit).toBe(1);
    expect(stdout).toMatch(/^feat\/x +landed, not told +\S/m);
    expect(stdout).toMatch(/^feat\/y +landed, told /m);
    const again = await here.run(["land", "--json"]);
    expect(again.exit).toBe(1);
    expect(JSON.parse(again.stdout)).toMatchObject({
      branches: [{ branch: "feat/x", ended: false, error: { code: "internal" } }],
    });
  });

  test("people see a table, and what became of each", async () => {
    branch("feat/x", { "a.txt": "one\n" });
    branch("feat/y", { "b.txt": "two\n" });
    for (const name of ["feat/x", "feat/y"]) await declare(name);
    git("merge", "-q", "--squash", "feat/x");
    git("commit", "-q", "-m", "squashed");
    const { stdout, exit } = await here.run(["land"]);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^BRANCH +STATE +WHY$/m);
    expect(stdout).toMatch(/^feat\/x +landed, told +the path it changed is on main as on it$/m);
    expect(stdout).toMatch(/^feat\/y +kept +main doesn't have what it has of b\.txt$/m);
  });
});
