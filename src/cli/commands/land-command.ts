import { Command } from "commander";
import type { Finish } from "./operation-command.js";
import { examples, type OwnCommand, running } from "./own-command.js";

/** `dibs land`: what it does is loaded when it runs. */
export function landCommand(finish: Finish): OwnCommand {
  const command = new Command("land")
    .description(
      "Ask git which branches have landed on their base, and tell Dibs of those whose unlanded work is declared. A branch has landed when a merge on the base brought it, or when the base has what it has of every path it changed, squashed or not; never because it is an ancestor alone. With uncommitted changes, without a branch or a base of that name, or when git can't tell, it is kept, and said why.",
    )
    .argument("[BRANCH...]", "these alone; without any, all that are declared")
    .option("--base <branch>", "What they land on. (default: the remote's, else main or master)")
    .option("--project <id>", "The project (id or key) they are declared in. (default: the repository's)")
    .option("--fetch", "Fetch from the remotes first; when that fails, everything is kept.")
    .option(
      "--prune",
      "Also end what is declared for branches that are neither here nor at a remote; nothing where one can't be asked.",
    )
    .option("--dry-run", "Only say what git says.");
  examples(command, "dibs land", "dibs land feat/login --base develop", "dibs land --fetch --prune --json");
  return running("land", command, finish, async (values, branches, output) => {
    const { land } = await import("../git/land.js");
    const { base, project, fetch, prune, dryRun } = values as { base?: string; project?: string } & Record<
      string,
      unknown
    >;
    const flags = { fetch: fetch === true, prune: prune === true, dryRun: dryRun === true };
    return land({ branches, base, project, ...flags }, output);
  });
}
