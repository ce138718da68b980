import type { z } from "zod";
import { DibsError } from "../contract/errors.js";
import type { Operation } from "../contract/operation.js";

const DEPTH_MAX = 32;

/**
 * The input as the operation defines it, or `invalid_input` naming every wrong field, its limit and the remedy. Text
 * with NUL or lone surrogates is refused wherever it stands (R60): no store keeps it, and no screen shows it.
 */
export function parseInput(operation: Operation, raw: unknown): Record<string, unknown> {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    throw invalid([{ field: "(body)", message: "must be an object with the operation's fields" }]);
  }
  refuseHostileText(raw, "", 0);
  const given = operation.nulls === "absent" ? withoutNulls(raw) : raw;
  const parsed = operation.input.safeParse(given);
  if (parsed.success) return parsed.data as Record<string, unknown>;
  throw invalid(parsed.error.issues.flatMap((issue) => describe(issue, operation, given)));
}

function withoutNulls(record: object): object {
  const plain = Object.entries(record).filter(([, value]) => value !== null);
  // A batch's tasks are records of the same kind as the one.
  return Object.fromEntries(
    plain.map(([key, value]) => [key, key === "tasks" && Array.isArray(value) ? value.map(withoutNullsIn) : value]),
  );
}

function withoutNullsIn(item: unknown): unknown {
  return typeof item === "object" && item !== null && !Array.isArray(item) ? withoutNulls(item) : item;
}

function invalid(fields: { field: string; message: string }[]): DibsError<"invalid_input"> {
  const text = fields.map((each) => `${each.field}: ${each.message}`).join("; ");
  return new DibsError("invalid_input", text, { fields });
}

function describe(issue: z.core.$ZodIssue, operation: Operation, given: object): { field: string; message: string }[] {
  const path = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const allowed = issue.path.length === 0 ? `; allowed: ${bodyFields(operation).join(", ") || "none"}` : "";
    return issue.keys.map((key) => ({
      field: path ? `${path}.${key}` : key,
      message: `is not a field of ${operation.name}${allowed}`,
    }));
  }
  if (issue.code === "invalid_type") {
    const missing = valueAt(given, issue.path) === undefined;
    const message = missing
      ? `is required (${issue.expected})`
      : `must be ${article(issue.expected)}${cleared(given, issue)}`;
    return [
      { field: path, message: issue.message.startsWith("must") ? (missing ? "is required" : issue.message) : message },
    ];
  }
  if (issue.code === "invalid_value") {
    return [{ field: path, message: `must be one of ${issue.values.map(String).join(", ")}` }];
  }
  if (issue.code === "too_big" && !issue.message.startsWith("must")) {
    return [{ field: path, message: `must be at most ${issue.maximum}` }];
  }
  return [{ field: path || "(body)", message: issue.message }];
}

function cleared(given: object, issue: z.core.$ZodIssue): string {
  return valueAt(given, issue.path) === null ? "; it can't be cleared" : "";
}

function article(type: string): string {
  return (
    { int: "a whole number", array: "a list", object: "an object", string: "text", boolean: "true or false" }[type] ??
    `a ${type}`
  );
}

function bodyFields(operation: Operation): string[] {
  return Object.keys(operation.input.shape).filter((field) => !operation.path.includes(`:${field}`));
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value);
}

function refuseHostileText(value: unknown, path: string, depth: number): void {
  if (typeof value === "string") {
    const at = path || "(body)";
    if (value.includes("\0")) throw invalid([{ field: at, message: "must not contain NUL (U+0000); remove it" }]);
    if (!value.isWellFormed()) {
      throw invalid([{ field: at, message: "must be well-formed Unicode; it has half of a surrogate pair" }]);
    }
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (depth >= DEPTH_MAX)
    throw invalid([{ field: path, message: `must not be nested deeper than ${DEPTH_MAX} levels` }]);
  for (const [key, item] of Object.entries(value)) {
    const at = path ? `${path}.${key}` : key;
    refuseHostileText(key, at, depth);
    // Parsing would drop it without a word.
    if (key === "__proto__") throw invalid([{ field: at, message: "can't be kept under this name; use another" }]);
    refuseHostileText(item, at, depth + 1);
  }
}
