import { CommanderError } from "commander";
import { readConfig, shownStore } from "../config.js";
import { EXIT } from "../contract/errors.js";
import { version } from "../package.js";
import { type Failure, failureOf, usage } from "./failure.js";
import { Output } from "./output.js";
import { buildProgram } from "./program.js";

/** Runs what the process's own arguments say, and tells what went wrong. Gives the exit status. */
export async function runCommandLine(): Promise<number> {
  let exit: number = EXIT.ok;
  const program = buildProgram(version(), (status) => {
    exit = status;
  });
  try {
    await program.parseAsync();
    return exit;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return EXIT.ok;
    const failure = thrown instanceof CommanderError ? misused(thrown) : failureOf(thrown);
    new Output(asksForJson(), colorWanted()).failure(failure);
    return failure.exit;
  }
}

function misused({ message, code }: CommanderError): Failure {
  if (code === "commander.help") return usage("Say which command: dibs --help lists them.");
  // A mistyped flag comes back as it was given, and may have a store's password in it.
  return usage(`${shownStore(message.replace(/^error: /, "").replace(/\s*\n\s*/g, " "))} — see --help.`);
}

/** Before or without a parsed command line. */
function asksForJson(): boolean {
  const end = process.argv.indexOf("--");
  return process.argv.slice(2, end < 0 ? undefined : end).includes("--json");
}

function colorWanted(): boolean | undefined {
  try {
    return readConfig().color;
  } catch {
    // The configuration itself is what is wrong.
    return undefined;
  }
}
