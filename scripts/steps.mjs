// Runs the project's own tools and says what is being done, with the time it took.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** One line to stdout at once; what follows it is the tool's own output. */
export function say(text) {
  process.stdout.write(`${text}\n`);
}

/**
 * Runs a program in the project's folder and returns its exit status.
 * `show` says when its output is seen: `always`, on `failure`, or `never`.
 */
export function run(program, args, { show = "always", cwd = root, env = {} } = {}) {
  const result = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: show === "always" ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
    // On Windows npm is a .cmd file, which only a shell can start.
    shell: process.platform === "win32" && program === "npm",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.error) {
    say(`${program} could not be started: ${result.error.message}`);
    return 1;
  }
  if (show === "failure" && result.status !== 0) process.stdout.write(Buffer.concat([result.stdout, result.stderr]));
  return result.status ?? 1;
}

/** Runs a file of an installed package with this very Node, past any shim of the shell. */
export function runTool(file, args, options) {
  return run(process.execPath, [`${root}node_modules/${file}`, ...args], options);
}

export const tools = {
  tsc: "typescript/bin/tsc",
  biome: "@biomejs/biome/bin/biome",
  vitest: "vitest/vitest.mjs",
  knip: "knip/bin/knip.js",
};

/** Does one named step, prints one line with its time, and ends the process at the first that fails. */
export async function step(name, work, remedy) {
  const startedAt = performance.now();
  const status = await work();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (status === 0) {
    say(`✓ ${name} (${seconds} s)`);
    return;
  }
  say(`✗ ${name} failed (${seconds} s).${remedy ? ` ${remedy}` : ""}`);
  process.exit(status);
}
