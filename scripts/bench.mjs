// `npm run bench`: builds what is needed and measures one part of bench/. `-- --help` says which there are.
import { build } from "./build.mjs";
import { install, installPackage } from "./install.mjs";
import { run, runTool, say, tools } from "./steps.mjs";

const PARTS = {
  main: ["main.js", "claims and cycles: embedded, over HTTP, beside SQLite alone; what is meant without a name"],
  blocked: ["blocked.js", "a queue of a million tasks, most of which wait for others"],
  nodes: ["nodes.js", "a second node on PostgreSQL"],
  scopes: ["scopes.js", "claims of scopes beside 100 and beside 100,000 live ones"],
  peers: ["peers/main.js", "Dibs beside other queues; installs them, and writes bench/RESULTS.md"],
};

const args = process.argv.slice(2);
const part = args.find((argument) => !argument.startsWith("-")) ?? "main";
const unknown = args.filter((argument) => argument !== part && !/^--(quick|rounds=\d+)$/.test(argument));
if (!(part in PARTS) || unknown.length > 0) {
  const isHelp = args.includes("--help") || args.includes("-h");
  if (!isHelp) say(`npm run bench doesn't know ${part in PARTS ? unknown.join(" ") : part}.`);
  say("npm run bench [-- PART] [--quick] [--rounds=N]\n");
  for (const [name, [, what]] of Object.entries(PARTS)) say(`  ${name.padEnd(8)} ${what}`);
  say("\n--quick only looks whether it works; --rounds: medians of so many (of main and peers).");
  process.exit(isHelp ? 0 : 2);
}
install();
if (part === "peers") installPackage("bench/peers/", "the queues to measure beside Dibs");
await build();
const status = runTool(tools.tsc, ["-p", "bench/tsconfig.json"]);
process.exit(status || run(process.execPath, [`bench/dist/${PARTS[part][0]}`, ...args]));
