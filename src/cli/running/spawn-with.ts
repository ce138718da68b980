import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { childEnvironment } from "../../config.js";

/** Starts a program in this process's environment with some variables added. */
export function spawnWith(
  variables: Readonly<Record<string, string>>,
  program: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const [command = "", ...args] = program;
  return spawn(command, args, { ...options, env: childEnvironment(variables) });
}

/** Whether the shell would find a program of that name. */
export function canStart(program: string): boolean {
  return spawnSync("sh", ["-c", 'command -v -- "$1"', "sh", program], { stdio: "ignore" }).status === 0;
}
