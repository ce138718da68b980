import type { z } from "zod";
import { DibsError } from "../../contract/errors.js";
import { BODY, hostileText, shapeFault } from "../../contract/json-shape.js";
import type { Operation } from "../../contract/operation.js";

interface Mistake {
  readonly field: string;
  readonly message: string;
}

/** Where an input has scopes; a record of the caller's own, as a context, has none. */
const SCOPES = /^(?:(?:tasks|steps)\.\d+\.)?scopes?(?:\.\d+)?(?:\.scope)?$/;

/**
 * The input as the operation defines it, or `invalid_input` naming every wrong field, its limit and the remedy. Text
 * with NUL or lone surrogates is refused wherever it stands (R60); in a scope by whoever reads it, as all that is wrong with
 * one is: `invalid_scope` with the segment at fault (R29).
 */
export function parseInput(operation: Operation, raw: unknown): Record<string, unknown> {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    throw invalid([{ field: BODY, message: "must be a JSON object, as {}" }]);
  }
  const fault = shapeFault(raw, "", 1, textFault);
  if (fault !== undefined) throw invalid([fault]);
  const given = operation.nulls === "absent" ? withoutNulls(raw) : raw;
  const parsed = operation.input.safeParse(given);
  if (parsed.success) return parsed.data as Record<string, unknown>;
  throw invalid(parsed.error.issues.flatMap((issue) => describe(issue, operation, given)));
}

function textFault(text: string, path: () => string): string | undefined {
  const fault = hostileText(text);
  return fault !== undefined && SCOPES.test(path()) ? undefined : fault;
}

const BATCHES: ReadonlySet<string> = new Set(["tasks", "steps", "scopes"]);

function withoutNulls(record: object): object {
  const plain = Object.entries(record).filter(([, value]) => value !== null);
  // A batch's tasks are records of the same kind as the one; a scope may come with its mode.
  return Object.fromEntries(
    plain.map(([key, value]) => [key, BATCHES.has(key) && Array.isArray(value) ? value.map(withoutNullsIn) : value]),
  );
}

function withoutNullsIn(item: unknown): unknown {
  return typeof item === "object" && item !== null && !Array.isArray(item) ? withoutNulls(item) : item;
}

function invalid(mistakes: readonly Mistake[]): DibsError<"invalid_input"> {
  // One mistake a field: the first says what to do, the others follow from it.
  const fields = [...new Map([...mistakes].reverse().map((each) => [each.field, each])).values()].reverse();
  const text = fields.map((each) => `${each.field}: ${each.message}`).join("; ");
  return new DibsError("invalid_input", text, { fields });
}

function describe(issue: z.core.$ZodIssue, operation: Operation, given: object): Mistake[] {
  const path = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const allowed = issue.path.length === 0 ? `; allowed: ${bodyFields(operation).join(", ") || "none"}` : "";
    return issue.keys.map((key) => ({
      field: path ? `${path}.${key}` : key,
      message: `is not a field of ${operation.name}${allowed}`,
    }));
  }
  const record = issue.code === "invalid_union" ? recordMeant(issue) : undefined;
  if (record) {
    const inside = (each: z.core.$ZodIssue) => ({ ...each, path: [...issue.path, ...each.path] });
    return record.flatMap((each) => describe(inside(each), operation, given));
  }
  const value = valueAt(given, issue.path);
  const said = issue.message.startsWith("must") ? issue.message : wordsOf(issue);
  if (value === undefined && issue.code.startsWith("invalid_")) {
    return [{ field: path, message: `is required and ${said}` }];
  }
  const cleared = value === null && operation.nulls === "clear" && issue.path.length === 1;
  return [{ field: path || BODY, message: cleared ? `${said}; it can't be cleared` : said }];
}

/** Of a union with words of its own: what is wrong with a record that was meant as one of its kinds. */
function recordMeant({ errors, message }: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] | undefined {
  if (!message.startsWith("must")) return undefined;
  return errors.find((kind) => kind.every(({ path, code }) => path.length > 0 || code === "unrecognized_keys"));
}

/** What would be right, where the schema has no words of its own. */
function wordsOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${TYPES[issue.expected] ?? `a ${issue.expected}`}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "invalid_union":
      // The only one without words of its own.
      return "must be JSON";
    case "too_big":
      return `must ${ITEMS[issue.origin] ? "have" : "be"} at most ${issue.maximum}${ITEMS[issue.origin] ?? ""}`;
    case "too_small":
      if (issue.minimum === 1 && ITEMS[issue.origin]) return "must not be empty";
      return `must ${ITEMS[issue.origin] ? "have" : "be"} at least ${issue.minimum}${ITEMS[issue.origin] ?? ""}`;
    default:
      return issue.message;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  int: "a whole number",
  array: "a list",
  object: "an object",
  record: "an object",
  string: "text",
  boolean: "true or false",
};
const ITEMS: Readonly<Record<string, string>> = { string: " characters", array: " entries" };

function bodyFields(operation: Operation): string[] {
  return Object.keys(operation.input.shape).filter((field) => !operation.path.includes(`:${field}`));
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value);
}
