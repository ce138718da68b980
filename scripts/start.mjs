// `npm start`: everything a fresh clone needs, then the server. Arguments after `--` go to `dibs up`.
import { pathToFileURL } from "node:url";
import { build } from "./build.mjs";
import { install } from "./install.mjs";
import { root } from "./steps.mjs";

install();
await build();

// Under npm our parent is a shell that dies of npm's SIGTERM without passing it on: its end is the signal then.
if (process.env.npm_lifecycle_event === "start") {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
  }, 500);
  watch.unref();
}

// A clone's own program is on nobody's PATH, but npx finds it in its folder.
process.env.DIBS_COMMAND ??= "npx dibs";

// In this process instead of a child, so that Ctrl-C and SIGTERM reach the server itself, once.
const main = `${root}dist/cli/main.js`;
process.argv.splice(1, process.argv.length, main, "up", ...process.argv.slice(2));
await import(pathToFileURL(main).href);
