import type { z } from "zod";
import { type Fields, fieldKind, isOptional } from "./field-kinds.js";

/** A JSON Schema as `tools/list` carries it; every agent pays for each of its characters. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * The JSON Schema of a tool's parameters: a concrete type each, `items` for arrays, bounds and choices, and nothing
 * that a refusal explains better (a name that isn't there, a count of nothing). `hints` describe those whose name doesn't
 * say it.
 */
export function parameterSchema(fields: Fields, hints: Readonly<Record<string, string>> = {}): JsonSchema {
  const names = Object.keys(fields);
  const required = names.filter((name) => !isOptional(fields[name] as z.ZodType));
  return {
    type: "object",
    properties: Object.fromEntries(
      names.map((name) => {
        const hint = hints[name];
        return [name, { ...valueSchema(fields[name] as z.ZodType), ...(hint ? { description: hint } : {}) }];
      }),
    ),
    ...(required.length > 0 ? { required } : {}),
  };
}

function valueSchema(schema: z.ZodType): JsonSchema {
  const kind = fieldKind(schema);
  switch (kind.kind) {
    case "flag":
      return { type: "boolean" };
    case "number":
      return {
        type: "integer",
        ...(kind.min > 1 ? { minimum: kind.min } : {}),
        ...(kind.max < Number.MAX_SAFE_INTEGER ? { maximum: kind.max } : {}),
      };
    case "choice":
      return { type: "string", enum: kind.options };
    case "list":
      return { type: "array", items: valueSchema(kind.element) };
    case "record":
      return { type: "object" };
    case "object":
      return parameterSchema(kind.shape);
    // Any JSON: text is what every client can send, and text that is JSON is read as JSON.
    default:
      return { type: "string" };
  }
}
