#!/usr/bin/env node
import { CommanderError } from "commander";
import { readConfig, version } from "../config.js";
import { EXIT } from "../contract/errors.js";
import { type Failure, failureOf, usage } from "./failure.js";
import { Output } from "./output.js";
import { buildProgram } from "./program.js";

async function main(): Promise<number> {
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
  return usage(`${message.replace(/^error: /, "").replace(/\s*\n\s*/g, " ")} — see --help.`);
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

// A reader that has seen enough (`| head`) is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(EXIT.ok);
  throw error;
});
process.exitCode = await main();
