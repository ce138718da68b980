import type { Place } from "./backlog.js";
import { type JsonText, placesOf, readJson } from "./json-text.js";

/** One record of a file, or why it can't be read. */
export type JsonRow = Required<Place> & ({ readonly value: unknown } | { readonly fault: string });

/**
 * The records of a file that is one JSON array or has one JSON value a line: tools print both (`bd export` and
 * `bd list --json`, `gh … --json` with and without `--jq '.[]'`).
 */
export function jsonRows(text: string): JsonRow[] {
  const plain = withoutMark(text);
  if (plain.trim() === "") return [{ row: 1, column: 1, fault: "the file is empty" }];
  return /^\s*\[/.test(plain) ? arrayRows(plain) : lineRows(plain);
}

/** Without the byte order mark that Windows' tools put in front. */
export function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

/** Where the text isn't JSON, in words. */
export function notJson(message: string): string {
  return `not JSON: ${message}; export it again, or mend it`;
}

function arrayRows(text: string): JsonRow[] {
  const place = placesOf(text);
  const read = readJson(text);
  if ("fault" in read) return [{ ...place(read.fault.offset), fault: notJson(read.fault.message) }];
  const begin = text.search(/\S/);
  // What is no object has no place of its own: it is shown where the one before it stands.
  let at = place(begin);
  return (read.value as unknown[]).map((value) => {
    at = placeOf(value, read, place) ?? at;
    return { ...at, value };
  });
}

function placeOf(
  value: unknown,
  read: Extract<JsonText, { value: unknown }>,
  place: (offset: number) => Required<Place>,
): Required<Place> | undefined {
  const offset = typeof value === "object" && value !== null ? read.offsets.get(value) : undefined;
  return offset === undefined ? undefined : place(offset);
}

function lineRows(text: string): JsonRow[] {
  return text.split("\n").flatMap((line, index): JsonRow[] => {
    if (line.trim() === "") return [];
    const row = index + 1;
    if (/^(<{7}|={7}|>{7}|\|{7})/.test(line))
      return [{ row, column: 1, fault: "a conflict mark of git; resolve the merge first" }];
    const column = line.search(/\S/) + 1;
    try {
      return [{ row, column, value: JSON.parse(line) }];
    } catch {
      return [misread(line, row)];
    }
  });
}

/** Where exactly, which the engine's own reader doesn't say. */
function misread(line: string, row: number): JsonRow {
  const read = readJson(line);
  if ("fault" in read) return { row, column: read.fault.offset + 1, fault: notJson(read.fault.message) };
  return { row, column: 1, value: read.value };
}
