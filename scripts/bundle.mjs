// Bundles src/ and most libraries into few files: of 0.35 s to start, 0.15 s went into finding and reading 300 of them.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { root } from "./steps.mjs";

/** What is entered by name: from outside, as a thread, by a script, by a test. All else goes into chunks that they share. */
const ENTRIES = [
  "cli/main",
  "index",
  "client/index",
  "contract/index",
  "server",
  "engine-thread",
  // scripts/docs.mjs renders the reference.
  "http/reference",
  // The tests' starting gate loads what a command needs before it holds it.
  "cli/command-line",
  "cli/run-operation",
];

/** Left where they are installed. */
const EXTERNAL = [
  // A native module, and a driver with a native half that may be there.
  "better-sqlite3",
  "pg",
  // Half of Fastify's code, which only a route with a JSON Schema or a test would load: none here has or is one.
  "@fastify/ajv-compiler",
  "@fastify/fast-json-stringify-compiler",
  "light-my-request",
];

/**
 * What every command loads lies together: of the 0.3 s that `dibs task list` took over Node's own start, a tenth went into
 * finding 37 files instead of 14; over HTTP it is 31 and 7.
 */
const TOGETHER = [
  // Alone, as `dibs --version` needs no more.
  { name: "package", priority: 3, test: /\/src\/package\.ts$/ },
  { name: "contract", priority: 2, test: /\/src\/(contract|client)\/|\/node_modules\/zod\// },
  { name: "commands", priority: 1, test: /\/src\/cli\/(command-line|run-operation)\.ts$/ },
];

/** Writes the programs of dist/ with their source maps; returns all files it wrote, relative to the project. */
export async function bundle() {
  const input = Object.fromEntries(ENTRIES.map((name) => [name, `src/${name}.ts`]));
  const bundler = await rolldown({ cwd: root, input, platform: "node", external: EXTERNAL });
  const { output } = await bundler.write({
    dir: "dist",
    format: "esm",
    sourcemap: true,
    // Flat in dist/, one folder deep like src/: see src/package.ts.
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: { groups: TOGETHER },
  });
  await bundler.close();
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  writeFileSync(`${root}dist/LICENSES.txt`, licensesOf(modules));
  return ["dist/LICENSES.txt", ...output.map(({ fileName }) => `dist/${fileName}`)];
}

/** The licenses of the libraries inside, which have to go with them. */
function licensesOf(modules) {
  const packages = modules.map((path) => /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(path.replaceAll("\\", "/"))?.[0]);
  return [...new Set(packages.filter(Boolean))].sort().map(licenseOf).join("\n\n");
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = ["LICENSE", "LICENSE.md", "LICENSE.txt", "license", "License", "LICENCE"].find((one) =>
    existsSync(join(folder, one)),
  );
  return `== ${name} ${version}: ${license}\n\n${file ? readFileSync(join(folder, file), "utf8").trim() : ""}`;
}
