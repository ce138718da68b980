import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { CommandLine } from "./support/dibs-command.js";
import { GitRepository } from "./support/git-repository.js";
import { ScratchFolder } from "./support/scratch-folder.js";

/** `dibs land` where not all is in the repository at hand: branches of a remote, changes in a submodule (R42). */

vi.setConfig({ testTimeout: 60_000 });

let folder: ScratchFolder;
let here: CommandLine;
let repository: GitRepository;
const git = (...args: string[]) => repository.git(...args);

beforeEach(() => {
  folder = new ScratchFolder();
  onTestFinished(() => folder.remove());
  repository = GitRepository.withCommit(folder.file("repository"));
  const store = { DIBS_STORE: `sqlite:${folder.file("dibs.db")}`, DIBS_AGENT: "ann", NO_COLOR: "1" };
  here = new CommandLine(repository.path, store);
});

test("keeps what a remote has, though it wasn't fetched; what no remote can be asked for is kept, too", async () => {
  const remote = folder.file("remote.git");
  git("clone", "-q", "--bare", here.cwd, remote);
  git("remote", "add", "origin", remote);
  new GitRepository(remote).git("branch", "feat/unfetched", "main");
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
  repository.commit("src/a.ts", "new\n");
  git("checkout", "-q", "main");
  git("merge", "-q", "--squash", "feat/x");
  git("commit", "-q", "-m", "squashed");
  git("checkout", "-q", "feat/x");
  const judged = async () => (await here.json(["land", "--dry-run", "feat/x"])).branches;
  expect(await judged()).toMatchObject([{ landed: true }]);
  repository.write("part/src/a.ts", "changed");
  git("config", "diff.ignoreSubmodules", "all");
  expect(await judged()).toMatchObject([{ landed: false, reason: expect.stringMatching(/uncommitted changes/) }]);
});
