import type { Backlog, ImportOptions } from "./backlog.js";
import { beadsBacklog } from "./beads.js";
import { githubBacklog } from "./github.js";
import { withoutMark } from "./json-rows.js";
import { markdownBacklog } from "./markdown.js";
import { taskMasterBacklog } from "./task-master.js";

/** What backlogs can be read from, by the name that `--from` takes. */
export const IMPORTERS = {
  beads: beadsBacklog,
  "task-master": taskMasterBacklog,
  markdown: markdownBacklog,
  github: githubBacklog,
} as const satisfies Record<string, (text: string, options?: ImportOptions) => Backlog>;

export type Format = keyof typeof IMPORTERS;

// Enough for a title and a body; looking at all of 64 MiB would read the file twice.
const LOOKED_AT = 256 * 1024;

/** The format that a file seems to have; nothing if it could be any. */
export function detectFormat(fileName: string, text: string): Format | undefined {
  const start = withoutMark(text.slice(0, LOOKED_AT)).trimStart();
  if (/\.(md|markdown|mdx)$/i.test(fileName)) return "markdown";
  if (start.startsWith("{") || start.startsWith("[")) return jsonFormat(fileName, start);
  return /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[[ xX]\]/m.test(start) ? "markdown" : undefined;
}

function jsonFormat(fileName: string, start: string): Format | undefined {
  // A quote within a text stands behind a backslash: it names no field.
  if (/(?<!\\)"(?:issue_type|depends_on_id|_schema)"\s*:/.test(start)) return "beads";
  if (start.startsWith("{") && /(?<!\\)"tasks"\s*:\s*\[/.test(start)) return "task-master";
  if (/(?<!\\)"number"\s*:\s*\d/.test(start)) return "github";
  if (/(^|[/\\])tasks\.json$/i.test(fileName)) return "task-master";
  return /\.jsonl$/i.test(fileName) ? "beads" : undefined;
}
