// `npm run docs`: writes docs/api.md from the contract; with --check only says whether it is current.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { build } from "./build.mjs";
import { root, say } from "./steps.mjs";

const DOCUMENT = "docs/api.md";

/** Writes the reference, or compares it with what would be written; returns an exit status. Needs a current dist/. */
export async function generateDocs({ check = false } = {}) {
  const { renderMarkdown } = await import(`${pathToFileURL(`${root}dist/http/reference.js`)}`);
  const wanted = renderMarkdown();
  const present = existsSync(root + DOCUMENT) ? readFileSync(root + DOCUMENT, "utf8") : undefined;
  if (present === wanted) return 0;
  if (check) {
    say(`${DOCUMENT} is not what the contract says.`);
    return 1;
  }
  writeFileSync(root + DOCUMENT, wanted);
  say(`Wrote ${DOCUMENT}.`);
  return 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await build();
  process.exit(await generateDocs({ check: process.argv.includes("--check") }));
}
