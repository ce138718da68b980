// `npm run campaign`: the tests of races, crashes and several nodes, and the plays of the model, long (more than an hour and
// a half on two cores; MODEL_MINUTES says how long each kind of plays goes on, else five). Prints what they measured, and
// keeps it as JSON lines in the file it names. With arguments (`npm run campaign -- nodes`) only the tests they choose.
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./build.mjs";
import { root, run, say, tools } from "./steps.mjs";

await build();
const report = join(mkdtempSync(join(tmpdir(), "dibs-campaign-")), "figures.jsonl");
const chosen = process.argv.slice(2);
const startedAt = performance.now();
// One file at a time: the figures are to be those of an otherwise idle machine.
const status = run(
  process.execPath,
  [
    `${root}node_modules/${tools.vitest}`,
    "run",
    "--no-file-parallelism",
    ...(chosen.length > 0 ? chosen : ["test/race", "test/crash", "test/nodes", "test/model"]),
  ],
  { env: { CAMPAIGN: "long", CAMPAIGN_REPORT: report } },
);
const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
say(`\nThe campaign took ${minutes} minutes on ${cpus().length} cores and Node ${process.versions.node}.`);
for (const line of figures()) say(line);
say(`Every figure stands in ${report}.`);
process.exit(status);

/** What was measured, one line a subject: the middle and the worst over all rounds. */
function figures() {
  if (!existsSync(report)) return [];
  const rows = readFileSync(report, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const subjects = [...new Set(rows.map(({ what }) => what))];
  return subjects.map((what) => {
    const { what: _what, round: _round, ...first } = rows.find((row) => row.what === what);
    const shown = Object.keys(first).map(
      (name) => `${name} ${overall(rows.filter((row) => row.what === what).map((row) => row[name]))}`,
    );
    return `- ${what}: ${shown.join(", ")}`;
  });
}

function overall(values) {
  if (values.length === 1 || !values.every((value) => typeof value === "number")) return values.at(-1);
  const sorted = values.toSorted((a, b) => a - b);
  return `${sorted[Math.floor(sorted.length / 2)]} (worst ${sorted.at(-1)} of ${sorted.length})`;
}
