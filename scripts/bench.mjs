// `npm run bench`: builds what is needed and measures (bench/main.ts; `-- peers`: beside other queues, bench/peers/main.ts).
// Arguments are passed on (`-- --quick`, `-- peers --rounds=1`).
import { build } from "./build.mjs";
import { install, installPackage } from "./install.mjs";
import { run, runTool, tools } from "./steps.mjs";

const peers = process.argv[2] === "peers";
install();
if (peers) installPackage("bench/peers/", "the queues to measure beside Dibs");
await build();
const status = runTool(tools.tsc, ["-p", "bench/tsconfig.json"]);
process.exit(status || run(process.execPath, [`bench/dist/${peers ? "peers/" : ""}main.js`, ...process.argv.slice(2)]));
