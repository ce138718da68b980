import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";

/**
 * Starts a program in this process's environment with some variables added. `env` sets them and then becomes the
 * program itself, so that id, signals and exit status are the program's own.
 */
export function spawnWith(
  variables: Readonly<Record<string, string>>,
  program: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return spawn("env", [...assignments, ...program], options);
}

/** Whether the shell would find a program of that name. */
export function canStart(program: string): boolean {
  return spawnSync("sh", ["-c", 'command -v -- "$1"', "sh", program], { stdio: "ignore" }).status === 0;
}
