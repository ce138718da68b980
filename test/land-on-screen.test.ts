import { execFileSync } from "node:child_process";
import { expect, onTestFinished, test, vi } from "vitest";
import { CommandLine } from "./support/dibs-command.js";
import { ScratchFolder } from "./support/scratch-folder.js";
import { StoreFile } from "./support/store-file.js";

vi.setConfig({ testTimeout: 60_000 });

test("what agents wrote acts on nobody's terminal, whatever a branch is called", async () => {
  const folder = new ScratchFolder();
  onTestFinished(() => folder.remove());
  const repository = folder.file("repository");
  const author = ["-c", "user.name=t", "-c", "user.email=t@t"];
  execFileSync("git", ["init", "-q", "-b", "main", repository]);
  execFileSync("git", [...author, "commit", "-q", "--allow-empty", "-m", "x"], { cwd: repository });
  const store = { DIBS_STORE: `sqlite:${folder.file("dibs.db")}`, DIBS_AGENT: "ann", NO_COLOR: "1" };
  const here = new CommandLine(repository, store);
  const named = "x\u001b]0;owned\u0007\u202e\u009bm";
  expect(await here.run(["unlanded", "declare", named, "path:x"])).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("must have no control characters"),
  });
  await here.json(["unlanded", "declare", "gone", "path:x"]);
  // As it may stand in a store from before that was refused.
  new StoreFile(folder.file("dibs.db")).run("UPDATE unlanded SET branch = ?", named);
  const ran = [await here.run(["land", "--prune"]), await here.run(["--json", "unlanded", "list", "--ended"])];
  for (const { stdout, stderr } of ran) expect(stdout + stderr).not.toMatch(/[\u001b\u0007\u009b\u202e]/);
  expect(ran[0]?.stderr).toContain("x\\x1b]0;owned\\x07\\u{202e}\\x9bm");
  expect(JSON.parse(ran[1]?.stdout ?? "")).toMatchObject([{ branch: named }]);
});
