// `npm run bench`: builds what is needed and measures (bench/main.ts). Arguments are passed on (`-- --quick`).
import { build } from "./build.mjs";
import { install } from "./install.mjs";
import { run, runTool, tools } from "./steps.mjs";

install();
await build();
const status = runTool(tools.tsc, ["-p", "bench/tsconfig.json"]);
process.exit(status || run(process.execPath, ["bench/dist/main.js", ...process.argv.slice(2)]));
