import { isUtf8 } from "node:buffer";
import { invalidInput } from "../contract/errors.js";
import { jsonFault } from "./json-fault.js";

/** What a mistake in no single field is called. */
const BODY = "(body)";

/** Levels of arrays and objects a body may have, the outermost counted. */
const DEPTH_MAX = 32;

/**
 * The fields of a write's body. No bytes at all mean no fields. Throws `invalid_input`, naming the place, for
 * bytes that aren't UTF-8, text that isn't JSON, JSON that isn't an object, nesting beyond `DEPTH_MAX`, and
 * keys that name an object's machinery in JavaScript, which nobody who merges objects should meet as data.
 */
export function parseBody(body: Buffer | undefined): Record<string, unknown> {
  if (body === undefined || body.length === 0) return {};
  const value = parseJson(body);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidInput(BODY, "must be a JSON object, as {}");
  }
  return value as Record<string, unknown>;
}

function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw invalidInput(BODY, "must be JSON in UTF-8; it has bytes that are not UTF-8");
  const text = body.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidInput(BODY, `must be JSON; ${jsonFault(text)}`);
  }
  if (!isPlainlyShort(text)) checkShape(value);
  return value;
}

/** Too short to be nested too deep, and without a forbidden name, spelled out or escaped: the body of most calls. */
function isPlainlyShort(text: string): boolean {
  if (text.length > 2 * DEPTH_MAX) return false;
  return !text.includes("__proto__") && !text.includes("constructor") && !text.includes("\\");
}

/** Throws `invalid_input` for nesting beyond `DEPTH_MAX` and for forbidden keys, naming the place. */
export function checkShape(value: unknown, path = "", depth = 1): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > DEPTH_MAX) throw invalidInput(path || BODY, `must not be nested deeper than ${DEPTH_MAX} levels`);
  // Parsed JSON has nothing inherited that could turn up here.
  for (const key in value) {
    if (key === "__proto__" || key === "constructor") {
      throw invalidInput(inside(path, key), "is a name that no field may have; choose another");
    }
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === "object" && item !== null) checkShape(item, inside(path, key), depth + 1);
  }
}

function inside(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
