// Runs one command after another as `dibs` does, without loading it each time, which is most of what a command takes: main.js
// itself, with that command's arguments, environment, folder and input. It is over when only this host keeps the process.
import { Readable } from "node:stream";

const MAIN = new URL("../../../dist/cli/main.js", import.meta.url).href;
let ran = 0;

process.on("message", async ({ args, env, cwd, stdin, end }) => {
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...args);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  Object.defineProperty(process, "stdin", { value: Readable.from(stdin === "" ? [] : [stdin]), configurable: true });
  process.exitCode = undefined;
  const own = process.getActiveResourcesInfo().length;
  await import(`${MAIN}?${++ran}`);
  while (process.getActiveResourcesInfo().length > own) await new Promise((resolve) => setTimeout(resolve, 1));
  const exit = process.exitCode ?? 0;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(signal);
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners("error").write(end);
  process.send(exit);
});

// The streams are made when they are first looked at.
for (const stream of [process.stdout, process.stderr]) stream.write("");
process.send("ready");
