/**
 * The same words for what differs between two stores that were told the same: ids, keys, times and what was made up to
 * be unique. `names` gives the ids and names that a row knows; all others of their kind become one word.
 */
export function normal(value: unknown, names: ReadonlyMap<string, string>): unknown {
  return walk(
    value,
    "",
    [...names].sort(([one], [other]) => other.length - one.length),
  );
}

type Names = readonly (readonly [string, string])[];

const ID = /\b[0-9a-f]{32}\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const KEY = /\b(?:dibs|resume)_[\w-]{20,}/g;

function walk(value: unknown, field: string, names: Names): unknown {
  if (typeof value === "string") return textOf(value, names);
  if (typeof value === "number") return field.endsWith("_ms") ? minutes(value) : value;
  if (Array.isArray(value)) return value.map((item) => walk(item, field, names));
  if (typeof value !== "object" || value === null) return value;
  const record = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(record).map(([name, item]) => {
      if (name === "id" && "type" in record && "at" in record) return [name, "<event>"];
      if (name === "id" && field === "keys") return [name, "<key's name>"];
      return [name, walk(item, name, names)];
    }),
  );
}

function textOf(text: string, names: Names): string {
  const known = names.reduce((said, [id, name]) => said.replaceAll(id, name), text);
  return known.replace(ID, "<id>").replace(TIME, "<time>").replace(KEY, "<key>");
}

/** Time left, as the minutes that have begun: two runs of a row are seconds apart at most. */
function minutes(ms: number): string {
  return `within ${Math.ceil(ms / 60_000)} min`;
}

/** The same with its advice in other words. */
export function advised(value: unknown, inOtherWords: (advice: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => advised(item, inOtherWords));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const advice = name === "next" && Array.isArray(item);
      return [name, advice ? item.map((each) => inOtherWords(String(each))) : advised(item, inOtherWords)];
    }),
  );
}

/**
 * Where a compact view says something else than the record it was made of; undefined when nowhere. Fields may be left
 * out, none may be added but those in `beside`; texts and JSON that were cut are named in `cut`.
 */
export function contradiction(view: unknown, record: unknown, path = ""): string | undefined {
  if (Array.isArray(view) && Array.isArray(record)) {
    if (view.length !== record.length) return `${path}: ${view.length} rows, not ${record.length}`;
    return first(view.map((item, at) => contradiction(item, record[at], `${path}[${at}]`)));
  }
  if (isRecord(view) && isRecord(record)) {
    const fields = Object.keys(view).filter((name) => !BESIDE.has(name));
    return first(
      fields.map((name) =>
        name in record
          ? contradiction(view[name], record[name], `${path}.${name}`)
          : `${path}.${name}: not in the record`,
      ),
    );
  }
  return Object.is(view, record) ? undefined : `${path}: ${JSON.stringify(view)}, not ${JSON.stringify(record)}`;
}

const BESIDE = new Set(["cut", "written_by_agents", "notices", "retryable", "message"]);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function first(found: (string | undefined)[]): string | undefined {
  return found.find((each) => each !== undefined);
}
