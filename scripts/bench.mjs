// `npm run bench`: builds what is needed and measures (bench/main.ts; `-- blocked`: a queue most of which waits,
// bench/blocked.ts; `-- nodes`: a second node, bench/nodes.ts; `-- scopes`: bench/scopes.ts; `-- peers`: beside other queues, bench/peers/main.ts).
// Arguments are passed on (`-- --quick`, `-- peers --rounds=1`).
import { build } from "./build.mjs";
import { install, installPackage } from "./install.mjs";
import { run, runTool, tools } from "./steps.mjs";

const part =
  { peers: "peers/main.js", blocked: "blocked.js", nodes: "nodes.js", scopes: "scopes.js" }[process.argv[2]] ??
  "main.js";
const peers = process.argv[2] === "peers";
install();
if (peers) installPackage("bench/peers/", "the queues to measure beside Dibs");
await build();
const status = runTool(tools.tsc, ["-p", "bench/tsconfig.json"]);
process.exit(status || run(process.execPath, [`bench/dist/${part}`, ...process.argv.slice(2)]));
