import { withCommands } from "../failure.js";
import type { Screen } from "./screen.js";
import { shown } from "./shown-text.js";
import { judgedLine } from "./verdict-words.js";
import { when } from "./when.js";

type Row = Readonly<Record<string, unknown>>;

/** Counts down beside the time it counts to, which is shown. */
const REPEATED = ["lease_remaining_ms", "remaining_ms"];

/** Lines of one record: each field that says something, aligned; `fields` chooses some, in that order, but for zeros. */
export function cardLines(record: Row, screen: Screen, fields?: readonly string[]): string[] {
  const saying = (fields ?? Object.keys(record)).filter((field) => says(field, record[field]));
  const chosen = fields ? saying.filter((field) => record[field] !== 0) : saying;
  const width = Math.max(0, ...chosen.map((field) => field.length));
  return chosen.flatMap((field) => {
    const [first = "", ...more] = fieldLines(field, record[field], screen);
    const indent = " ".repeat(width + 4);
    return [`  ${screen.paint.dim(field.padEnd(width))}  ${first}`, ...more.map((line) => indent + line)];
  });
}

function says(field: string, value: unknown): boolean {
  if (value === null || value === undefined || value === false || REPEATED.includes(field)) return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

function fieldLines(field: string, value: unknown, screen: Screen): string[] {
  // Moves are sentences, each to be read by itself.
  if (field === "next" && Array.isArray(value)) return value.map((move) => shown(withCommands(String(move))));
  if (!Array.isArray(value)) return [valueText(field, value, screen)];
  if (value.every((one) => typeof one !== "object")) return [value.map((one) => shown(String(one))).join(", ")];
  return value.map((one) => valueText(field, one, screen));
}

/** One value on one line; a time both ways. */
function valueText(field: string, value: unknown, screen: Screen): string {
  if (typeof value !== "string") return judgedLine(field, value) ?? shown(JSON.stringify(value) ?? "");
  const atMs = /(_at|_date|^at|^not_before)$/.test(field) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? shown(value) : when(atMs, screen);
}
