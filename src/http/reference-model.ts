import type { z } from "zod";
import { ERROR_CODES, ERRORS, type ErrorCode } from "../contract/errors.js";
import { COMMON_ERRORS, type Operation } from "../contract/operation.js";
import { operationList } from "../contract/operations.js";
import { type JsonSchema, jsonSchema, objectSchema, RECORDS, recordSchemas, typeText } from "./json-schema.js";
import { pathFields, takesQuery } from "./operation-input.js";

/** One field of a call or a record, in words. */
export interface FieldText {
  readonly name: string;
  /** Where it stands: in a call's path, query or body, or in the answered record. */
  readonly where: "path" | "query" | "body" | "record";
  readonly type: string;
  readonly required: boolean;
  /** JSON text of what is taken where it is left out. */
  readonly fallback: string | undefined;
  readonly description: string;
}

/** One operation, as the reference shows it. */
export interface Entry {
  readonly operation: Operation;
  /** All routes that mean this call, the first one first: `POST /v1/tasks/claim`. */
  readonly routes: readonly string[];
  readonly fields: readonly FieldText[];
  /** The statuses of a success, with when there is another than the usual one. */
  readonly statuses: string;
  /** What a success answers, in words. */
  readonly answer: string;
  readonly errors: readonly ErrorCode[];
  /** A call that can be pasted, given `DIBS_URL` and `DIBS_KEY`. */
  readonly curl: string;
}

export interface Section {
  readonly noun: string;
  readonly entries: readonly Entry[];
}

export interface RecordText {
  readonly name: string;
  readonly fields: readonly FieldText[];
}

export interface ErrorText {
  readonly code: ErrorCode;
  readonly status: number;
  readonly exit: number;
  readonly retryable: boolean;
  readonly meaning: string;
  readonly details: string;
}

/** Everything the reference says, made from the contract alone; the page and the file are two ways to print it. */
export interface Reference {
  readonly sections: readonly Section[];
  readonly records: readonly RecordText[];
  readonly errors: readonly ErrorText[];
  readonly commonErrors: readonly ErrorCode[];
}

export function buildReference(): Reference {
  const nouns = new Map<string, Entry[]>();
  for (const operation of operationList) {
    const noun = nounOf(operation.path);
    nouns.set(noun, [...(nouns.get(noun) ?? []), entryOf(operation)]);
  }
  const schemas = recordSchemas();
  return {
    sections: [...nouns].map(([noun, entries]) => ({ noun, entries })),
    records: Object.keys(RECORDS).map((name) => ({
      name,
      fields: fieldTexts(schemas[name] as JsonSchema, () => "record"),
    })),
    errors: ERROR_CODES.map((code) => {
      const { status, exit, retryable, meaning, details } = ERRORS[code];
      return { code, status, exit, retryable, meaning, details: Object.keys(details.shape).join(", ") };
    }),
    commonErrors: COMMON_ERRORS,
  };
}

/** The noun a path is about: its first part, in the plural (`/v1/agent/me` belongs to agents). */
function nounOf(path: string): string {
  const first = path.split("/")[2] as string;
  const plural = first.endsWith("s") ? first : `${first}s`;
  const isNoun = operationList.some((operation) => operation.path.split("/")[2] === plural);
  return isNoun ? plural : first;
}

function entryOf(operation: Operation): Entry {
  return {
    operation,
    routes: [operation, ...(operation.aliases ?? [])].map(({ method, path }) => `${method} ${path}`),
    fields: inputFields(operation),
    statuses: statusText(operation),
    answer: answerText(operation.output),
    errors: operation.errors,
    curl: curlExample(operation),
  };
}

function statusText(operation: Operation): string {
  const { status = 200, otherwise } = operation;
  return otherwise === undefined ? `${status}` : `${status}, or ${otherwise.status} (${otherwise.when})`;
}

function inputFields(operation: Operation): FieldText[] {
  const inPath = pathFields(operation.path);
  const elsewhere = takesQuery(operation.method) ? "query" : "body";
  return fieldTexts(objectSchema(operation.input, "input"), (name) => (inPath.includes(name) ? "path" : elsewhere));
}

function fieldTexts(schema: JsonSchema, where: (name: string) => FieldText["where"]): FieldText[] {
  return Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name,
    where: where(name),
    type: typeText(field),
    required: schema.required?.includes(name) === true,
    fallback: field.default === undefined ? undefined : JSON.stringify(field.default),
    description: field.description ?? "",
  }));
}

/** What is answered: a record by its name, a record with more fields, or the fields themselves. */
function answerText(output: z.ZodType): string {
  const shape = (output as Partial<z.ZodObject>).shape;
  if (shape === undefined) return typeText(jsonSchema(output, "output"));
  for (const [name, record] of Object.entries(RECORDS)) {
    const own = Object.entries(record.shape);
    if (own.length > Object.keys(shape).length || own.some(([key, field]) => shape[key] !== field)) continue;
    const more = Object.keys(shape).filter((key) => !Object.hasOwn(record.shape, key));
    return more.length === 0 ? name : `${name}, with ${more.join(", ")}`;
  }
  return typeText(jsonSchema(output, "output"));
}

/** Where no field is required by itself, but one of some. */
const ONE_OF: Readonly<Record<string, string>> = { judge_task: "verdict" };

/** The body an example sends: a value for each required field that isn't in the path; where a change has none, one. */
export function exampleBody(operation: Operation): Record<string, unknown> {
  const schema = objectSchema(operation.input, "input");
  const inPath = pathFields(operation.path);
  const here = (names: readonly string[]) => names.filter((name) => !inPath.includes(name));
  const required = here(schema.required ?? []);
  const any = operation.method === "PATCH" ? here(Object.keys(schema.properties ?? {})).slice(0, 1) : [];
  const chosen = ONE_OF[operation.name] ?? [];
  const needed = required.length > 0 ? required : [...any, chosen].flat();
  return Object.fromEntries(needed.map((name) => [name, exampleValue(name, schema.properties?.[name] ?? {})]));
}

function exampleValue(name: string, schema: JsonSchema): unknown {
  if (schema.$ref !== undefined) {
    const record = schema.$ref.split("/").at(-1) as string;
    const shared = recordSchemas()[record];
    return shared?.properties === undefined ? {} : requiredOf(shared);
  }
  if (schema.enum !== undefined) return schema.enum[0];
  switch (schema.type) {
    case "array":
      return [exampleValue(name, schema.items ?? {})];
    case "object":
      return requiredOf(schema);
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    default:
      return exampleText(name, schema);
  }
}

function requiredOf(schema: JsonSchema): Record<string, unknown> {
  const needed = schema.required ?? [];
  return Object.fromEntries(needed.map((name) => [name, exampleValue(name, schema.properties?.[name] ?? {})]));
}

const EXAMPLE_TEXTS: Readonly<Record<string, string>> = {
  content: "Write the release notes",
  commit: "5f2b7c0d9e8a41b6c3d2e1f0a9b8c7d6e5f40312",
  branch: "main",
};

function exampleText(name: string, schema: JsonSchema): string {
  switch (typeText(schema)) {
    case "id":
      return "0".repeat(32);
    case "time":
      return "2030-01-31T12:00:00Z";
    case "URL":
      return "https://example.com/pull/1";
    default:
      return EXAMPLE_TEXTS[name] ?? `some-${name}`;
  }
}

function curlExample(operation: Operation): string {
  const path = operation.path.replace(/:(\w+)/g, (_part, name: string) => `$${name.toUpperCase()}`);
  const method = operation.method === "GET" ? "" : ` -X ${operation.method}`;
  const lines = [`curl -s${method} "$DIBS_URL${path}"`, `-H "Authorization: Bearer $DIBS_KEY"`];
  const body = exampleBody(operation);
  if (Object.keys(body).length > 0) {
    lines.push(`-H "Content-Type: application/json"`, `-d '${JSON.stringify(body)}'`);
  }
  return lines.join(" \\\n  ");
}
