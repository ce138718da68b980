// Builds what changed: src/ to dist/ (types with tsc, programs with Rolldown), console/ to console/dist/ with Vite.
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { root, run, runTool, say, tools } from "./steps.mjs";

const CONSOLE_INPUTS = ["console", "src/client", "src/contract", "package-lock.json"];
const LIBRARY_INPUTS = ["src", "scripts/bundle.mjs", "tsconfig.json", "package-lock.json"];

/** Brings dist/ and console/dist/ up to date; ends the process when that fails. `force` builds whatever the stamps say. */
export async function build({ force = false } = {}) {
  await buildPart({ name: "dist", inputs: LIBRARY_INPUTS, result: "dist/cli/main.js", work: buildLibrary, force });
  await buildPart({
    name: "console/dist",
    inputs: CONSOLE_INPUTS,
    result: "console/dist/index.html",
    work: buildConsole,
    force,
  });
}

async function buildPart({ name, inputs, result, work, force }) {
  const stampFile = `${root}node_modules/.dibs-setup/${name.replace("/", "-")}`;
  const hash = hashOf(inputs);
  if (!force && readIfThere(stampFile) === stamp(hash, result)) return;
  say(`Building ${name} …`);
  const startedAt = performance.now();
  const status = await work();
  if (status !== 0) {
    say(`Building ${name} failed; the messages are above.`);
    process.exit(status);
  }
  say(`Built ${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, stamp(hash, result));
}

/** The result's own time is in the stamp, so that what somebody else built there since is not taken for ours. */
function stamp(hash, result) {
  const path = root + result;
  return existsSync(path) ? `${hash} ${statSync(path).mtimeMs}` : `${hash} missing`;
}

async function buildLibrary() {
  const status = runTool(tools.tsc, ["-p", "tsconfig.json", "--emitDeclarationOnly"]);
  if (status !== 0) return status;
  // Only now: where this file is loaded, the bundler may still have to be installed.
  const { bundle } = await import("./bundle.mjs");
  removeOrphans(await bundle());
  // npm marks a package's bin on install, but here it is run from the place where it was built.
  if (existsSync(`${root}dist/cli/main.js`)) chmodSync(`${root}dist/cli/main.js`, 0o755);
  return 0;
}

/** Earlier builds leave types of deleted sources behind, and chunks that nothing imports any more. */
function removeOrphans(bundled) {
  for (const file of filesUnder("dist").filter((path) => !bundled.includes(path))) {
    const source = join(root, "src", relative("dist", file)).replace(/\.d\.ts$/, ".ts");
    if (!existsSync(source)) rmSync(root + file);
  }
}

function buildConsole() {
  // npm may put Vite beside the console or at the root; Node knows where.
  const vite = dirname(createRequire(`${root}console/package.json`).resolve("vite/package.json"));
  return run(process.execPath, [`${vite}/bin/vite.js`, "build", "--logLevel", "warn"], { cwd: `${root}console` });
}

function hashOf(paths) {
  const hash = createHash("sha256");
  for (const file of paths.flatMap((path) => filesUnder(path)))
    hash.update(`${file}\0`).update(readFileSync(root + file));
  return hash.digest("hex");
}

/** Every file at or under a path, relative to the project, without tests and what is generated. */
function filesUnder(path) {
  const full = root + path;
  if (!existsSync(full)) return [];
  if (statSync(full).isFile()) return /\.test\.tsx?$/.test(path) ? [] : [path];
  return readdirSync(full)
    .filter((name) => name !== "node_modules" && (name !== "dist" || path !== "console"))
    .sort()
    .flatMap((name) => filesUnder(`${path}/${name}`));
}

function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await build({ force: true });
