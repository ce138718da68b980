import { mkdirSync } from "node:fs";
import { afterAll, beforeAll } from "vitest";
import { CommandLine } from "./dibs-command.js";
import { ScratchFolder } from "./scratch-folder.js";

/** A worktree for the commands of a test file; each test has two agents in it, on a store of its own. */
export function worktreeScene(): () => { readonly ann: CommandLine; readonly ben: CommandLine } {
  let folder: ScratchFolder;
  let stores = 0;
  beforeAll(() => {
    folder = new ScratchFolder();
    mkdirSync(folder.file("repo/.git"), { recursive: true });
  });
  afterAll(() => folder.remove());
  return () => {
    const env = { DIBS_STORE: `sqlite:${folder.file(`store-${++stores}.db`)}`, NO_COLOR: "1" };
    const ann = new CommandLine(folder.file("repo"), { ...env, DIBS_AGENT: "ann" });
    return { ann, ben: ann.with({ DIBS_AGENT: "ben" }) };
  };
}
