#!/usr/bin/env node
import { version } from "../package.js";

// A reader that has seen enough (`| head`) is no error. Who has something to give back first listens, too.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  if (process.stdout.listenerCount("error") === 1) process.exit(0);
});
// Messages are told to whoever listens; thrown from here, one that nobody hears left a worker's task held.
process.stderr.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

// Scripts ask this to see whether Dibs is there; all the commands take as long to load again as Node itself.
const [word, ...more] = process.argv.slice(2);
if ((word === "--version" || word === "-V") && more.length === 0) process.stdout.write(`${version()}\n`);
else {
  const { runCommandLine } = await import("./command-line.js");
  process.exitCode = await runCommandLine();
}
