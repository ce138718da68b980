import type { z } from "zod";
import { DibsError } from "../contract/errors.js";
import { shapeFault } from "../contract/json-shape.js";
import { type FieldKind, type Fields, fieldKind } from "./field-kinds.js";

interface Mistake {
  field: string;
  message: string;
}

/**
 * Reads what an MCP client sent as a tool's arguments. Such clients send arrays and objects as JSON text, numbers and
 * booleans as text, and null for what they leave out: all that is understood here, and nowhere else. What the values
 * may be is the contract's to say; only what can't be read at all, and names the tool doesn't have, are refused here.
 * @throws DibsError `invalid_input` naming every field that is wrong, with an example or the allowed names.
 */
export function readArguments(fields: Fields, given: Record<string, unknown>): Record<string, unknown> {
  const mistakes: Mistake[] = [];
  const read = readObject(fields, given, "", mistakes);
  if (mistakes.length > 0) {
    throw new DibsError("invalid_input", "The arguments can't be read.", { fields: mistakes });
  }
  return read;
}

function readObject(fields: Fields, given: Record<string, unknown>, path: string, mistakes: Mistake[]) {
  const read: [string, unknown][] = [];
  for (const [name, value] of Object.entries(given)) {
    const schema = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (schema === undefined) {
      mistakes.push({ field: path + name, message: `unknown; allowed are ${Object.keys(fields).join(", ")}` });
    } else if (value !== null && value !== undefined) {
      read.push([name, readValue(schema, value, path + name, mistakes)]);
    }
  }
  return Object.fromEntries(read);
}

function readValue(schema: z.ZodType, value: unknown, path: string, mistakes: Mistake[]): unknown {
  const kind = fieldKind(schema);
  switch (kind.kind) {
    case "list":
      return readList(kind, value, path, mistakes);
    case "object":
    case "record": {
      const object = typeof value === "string" ? parseJson(value) : value;
      if (!isObject(object)) return refuse(kind, path, mistakes);
      if (kind.kind === "object") return readObject(kind.shape, object, `${path}.`, mistakes);
      return freeJson(object, path, mistakes);
    }
    case "any":
      // A text that is JSON for an array or object is taken as what it says, any other text as itself.
      return freeJson(typeof value === "string" ? (parseJson(value) ?? value) : value, path, mistakes);
    case "number":
      return typeof value === "string" && /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
    case "flag":
      return value === "true" ? true : value === "false" ? false : value;
    default:
      return value;
  }
}

function readList(kind: FieldKind & { kind: "list" }, value: unknown, path: string, mistakes: Mistake[]): unknown {
  const element = fieldKind(kind.element);
  let list = value;
  if (typeof value === "string") {
    const parsed = parseJson(value);
    if (Array.isArray(parsed)) list = parsed;
    else if (element.kind === "object" && isObject(parsed)) list = [parsed];
    // A plain text is the one element meant, but a list that was begun and not ended is a mistake.
    else if (element.kind !== "object" && !value.trimStart().startsWith("[")) list = [value];
  }
  if (!Array.isArray(list)) return refuse(kind, path, mistakes);
  return list.map((item, index) => readValue(kind.element, item, `${path}.${index}`, mistakes));
}

function refuse(kind: FieldKind, path: string, mistakes: Mistake[]): undefined {
  mistakes.push({
    field: path,
    message: `must be ${kind.kind === "list" ? "an array" : "an object"}, as ${example(kind)}`,
  });
  return undefined;
}

function example(kind: FieldKind): string {
  if (kind.kind === "object") return '{"content":"Fix the login page"}';
  if (kind.kind !== "list") return '{"key":"value"}';
  return fieldKind(kind.element).kind === "object" ? '[{"content":"Fix the login page"}]' : '["a","b"]';
}

function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Free JSON as it may be kept. What came inside a text no guard of bodies has seen. */
function freeJson(value: unknown, path: string, mistakes: Mistake[]): unknown {
  const fault = shapeFault(value, path, 2);
  if (fault === undefined) return value;
  mistakes.push(fault);
  return undefined;
}
