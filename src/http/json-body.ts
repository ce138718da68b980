import { isUtf8 } from "node:buffer";
import { invalidInput } from "../contract/errors.js";
import { BODY, FORBIDDEN_NAMES, LEVELS_MAX, shapeFault } from "../contract/json-shape.js";
import { jsonFault } from "./json-fault.js";

/**
 * The fields of a write's body. No bytes at all mean no fields. Throws `invalid_input`, naming the place, for
 * bytes that aren't UTF-8, text that isn't JSON, JSON that isn't an object, and shapes that no input may have.
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
  if (text.length > 2 * LEVELS_MAX) return false;
  return !FORBIDDEN_NAMES.some((name) => text.includes(name)) && !text.includes("\\");
}

/** Throws `invalid_input` for what no input may have (`shapeFault`), naming the place. */
export function checkShape(value: unknown): void {
  const fault = shapeFault(value);
  if (fault !== undefined) throw invalidInput(fault.field, fault.message);
}
