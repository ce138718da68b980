import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { childEnvironment } from "../../config.js";
import type { DibsError } from "../../contract/errors.js";
import { usage } from "../failure.js";
import { shown } from "../shown/shown-text.js";

/** Starts a program in this process's environment with some variables added. */
export function spawnWith(
  variables: Readonly<Record<string, string>>,
  program: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const [command = "", ...args] = program;
  return spawn(command, args, { ...options, env: childEnvironment(variables) });
}

/** Refuses a program that can't be started, before anything is claimed for it. */
export function requireProgram(program: string): void {
  const isThere = !program.includes("=") && isFound(program);
  if (!isThere) throw usage(`There is no program ${shown(program)} to run.`).error;
  // The shell finds a file also where it may not be run.
  if (program.includes("/") && !mayRun(program)) {
    throw usage(`${shown(program)} can't be run: it is no file, or not executable (chmod +x).`).error;
  }
}

/** The refusal of a program that the system didn't start, as one whose first line names no interpreter that there is. */
export function notStarted(program: string, error: NodeJS.ErrnoException): DibsError {
  const why = error.code === "ENOENT" ? "it, or the interpreter in its first line, isn't there" : error.message;
  return usage(`${shown(program)} can't be run: ${why}.`).error;
}

function isFound(program: string): boolean {
  return spawnSync("sh", ["-c", 'command -v -- "$1"', "sh", program], { stdio: "ignore" }).status === 0;
}

function mayRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
