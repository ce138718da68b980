import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { CommandLine } from "./support/dibs-command.js";
import { ScratchFolder } from "./support/scratch-folder.js";

/** `dibs land` where not all is in the repository at hand: branches of a remote, changes in a submodule (R42). */

vi.setConfig({ testTimeout: 60_000 });

let folder: ScratchFolder;
let here: CommandLine;

const AUTHOR = { GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@t", GIT_COMMITTER_NAME: "t", GIT_COMMITTER_EMAIL: "t@t" };
const env = { ...process.env, ...AUTHOR, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
const gitIn = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, env, stdio: "ignore" });
const git = (...args: string[]) => gitIn(here.cwd, ...args);
const write = (name: string, text: string) => writeFileSync(join(here.cwd, name), text);

beforeEach(() => {
  folder = new ScratchFolder();
  onTestFinished(() => folder.remove());
  const store = { DIBS_STORE: `sqlite:${folder.file("dibs.db")}`, DIBS_AGENT: "ann", NO_COLOR: "1" };
  mkdirSync(folder.file("repository"));
  here = new CommandLine(folder.file("repository"), store);
  git("init", "-q", "-b", "main");
  write("a.txt", "a\n");
  git("add", "-A");
  git("commit", "-q", "-m", "x");
});

test("keeps what a remote has, though it wasn't fetched; what no remote can be asked for is kept, too", async () => {
  const remote = folder.file("remote.git");
  git("clone", "-q", "--bare", here.cwd, remote);
  git("remote", "add", "origin", remote);
  gitIn(remote, "branch", "feat/unfetched", "main");
  for (const name of ["feat/unfetched", "gone"]) await here.json(["unlanded", "declare", name, "path:x"]);
  expect(await here.json(["land", "--prune", "--dry-run"])).toMatchObject({ pruned: [{ branch: "gone" }] });
  git("remote", "set-url", "origin", folder.file("nowhere.git"));
  for (const flags of [["--prune"], ["--prune", "--fetch"]])
    expect(await here.json(["land", ...flags])).toMatchObject({
      pruned: [],
      not_pruned: expect.stringMatching(/^offline: /),
    });
  expect((await here.run(["land", "--prune"])).stderr).toContain("Kept, whatever branches are no more: offline: ");
  git("remote", "set-url", "origin", remote);
  expect(await here.json(["land", "--prune"])).toMatchObject({ pruned: [{ branch: "gone" }] });
  expect(await here.json(["unlanded", "list"])).toMatchObject([{ branch: "feat/unfetched" }]);
});

test("a branch with uncommitted changes in a submodule is kept, whatever git is configured to ignore", async () => {
  const part = folder.file("part");
  git("clone", "-q", here.cwd, part);
  git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", part, "part");
  git("commit", "-q", "-m", "part");
  git("checkout", "-q", "-b", "feat/x");
  write("a.txt", "new\n");
  git("commit", "-q", "-a", "-m", "new");
  git("checkout", "-q", "main");
  git("merge", "-q", "--squash", "feat/x");
  git("commit", "-q", "-m", "squashed");
  git("checkout", "-q", "feat/x");
  const judged = async () => (await here.json(["land", "--dry-run", "feat/x"])).branches;
  expect(await judged()).toMatchObject([{ landed: true }]);
  write("part/a.txt", "changed");
  git("config", "diff.ignoreSubmodules", "all");
  expect(await judged()).toMatchObject([{ landed: false, reason: expect.stringMatching(/uncommitted changes/) }]);
});
