// `npm run check`: all that must hold before a commit, the cheap first. Stops at the first that fails.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { build } from "./build.mjs";
import { generateDocs } from "./docs.mjs";
import { root, runTool, say, step, tools } from "./steps.mjs";

const PROJECTS = ["tsconfig.json", "tsconfig.test.json", "console/tsconfig.json"];

/** Runs every check; ends the process with the status of the first that fails. */
export async function check() {
  const startedAt = performance.now();
  await step(
    "format and lint",
    () => runTool(tools.biome, ["ci", "--error-on-warnings", "--colors=off"], { show: "failure" }),
    "`npm run fix` repairs most of it.",
  );
  for (const project of PROJECTS.filter((path) => existsSync(root + path)))
    await step(`types of ${project}`, () => runTool(tools.tsc, ["--noEmit", "-p", project]));
  await step("nothing unused", () => runTool(tools.knip, [], { show: "failure" }));
  await step("generated docs are current", () => generateDocs({ check: true }), "`npm run docs` writes them.");
  await step("tests", () => runTests([]));
  say(`All checks passed in ${Math.round((performance.now() - startedAt) / 1000)} s.`);
}

/** Runs the tests once, all of them or those that vitest's own arguments choose. */
export function runTests(chosen) {
  const report = `${root}node_modules/.dibs-setup/tests.json`;
  rmSync(report, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const status = runTool(tools.vitest, ["run", ...reporters, ...chosen]);
  if (status !== 0) return status;
  // The status alone has been wrong before: a library that a test loaded ended the process with its own.
  if (existsSync(report) && JSON.parse(readFileSync(report, "utf8")).success === true) return 0;
  say("The tests ended with status 0, but their report doesn't say that they passed.");
  return 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await build();
  await check();
}
