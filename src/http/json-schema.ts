import { z } from "zod";
import { agent } from "../contract/agent.js";
import { claimRow } from "../contract/claim-row.js";
import { evidence, verdict } from "../contract/evidence.js";
import { notice } from "../contract/notice.js";
import { recurrence } from "../contract/recurrence.js";
import { session } from "../contract/session.js";
import { newTask, task } from "../contract/task.js";
import { contextRecord } from "../contract/task-context.js";
import { head } from "../contract/task-evidence.js";
import { comment, historyEntry, link } from "../contract/task-records.js";
import { project } from "../contract/workspace.js";

/** As much of JSON Schema (2020-12) as zod's own translation uses. */
export interface JsonSchema {
  type?: string | string[];
  $ref?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  $defs?: Record<string, JsonSchema>;
  $schema?: string;
}

/** The records that answers and inputs share; the reference shows each once and links to it. */
export const RECORDS = {
  Task: task,
  Evidence: evidence,
  Verdict: verdict,
  TaskContext: contextRecord,
  Head: head,
  NewTask: newTask,
  Session: session,
  Claim: claimRow,
  Event: historyEntry,
  Notice: notice,
  Comment: comment,
  Link: link,
  Agent: agent,
  Project: project,
  Recurrence: recurrence,
} as const satisfies Record<string, z.ZodObject>;

/** Where OpenAPI keeps what is shared. */
export const SHARED = "#/components/schemas/";

const names = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries(RECORDS)) names.add(schema, { id });

/**
 * A zod schema as JSON Schema, seen from outside: what may be sent (`input`, where defaults make fields optional)
 * or what is answered (`output`, where fields may be added one day, so none are forbidden). Shared records are
 * references into OpenAPI's components.
 */
export function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const found = z.toJSONSchema(schema, {
    io,
    metadata: names,
    override: ({ zodSchema, jsonSchema: made }) => {
      const description = z.globalRegistry.get(zodSchema as unknown as z.ZodType)?.description;
      if (description !== undefined) made.description = description;
      if (io === "output" && made.additionalProperties === false) delete made.additionalProperties;
      if (made.maximum === Number.MAX_SAFE_INTEGER) delete made.maximum;
      if (made.minimum === Number.MIN_SAFE_INTEGER) delete made.minimum;
      delete made.propertyNames;
    },
  }) as JsonSchema;
  const { $defs: _own, $schema: _dialect, ...rest } = found;
  return shared(rest) as JsonSchema;
}

/** An object's own fields, also where it is a shared record and would elsewhere be a reference. */
export function objectSchema(schema: z.ZodObject, io: "input" | "output"): JsonSchema {
  return jsonSchema(schema.extend({}), io);
}

/** The shared records by name, each seen from the side on which it occurs. */
export function recordSchemas(): Record<string, JsonSchema> {
  const records = Object.entries(RECORDS).map(([name, schema]) => [
    name,
    objectSchema(schema, name === "NewTask" ? "input" : "output"),
  ]);
  return { ...Object.fromEntries(records), Json: { description: "Any JSON value." } };
}

/** Points references at the shared place. The only schema that refers to itself is that of any JSON value. */
function shared(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shared);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key !== "$ref") return [key, shared(inner)];
      const name = String(inner).slice("#/$defs/".length);
      return [key, SHARED + (name.startsWith("__schema") ? "Json" : name)];
    }),
  );
}

/** A schema's type in a few words, for people: `integer 1..100`, `open, claimed or failed`, `array of Task`. */
export function typeText(schema: JsonSchema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(SHARED.length);
    return name === "Json" ? "any JSON" : name;
  }
  if (schema.enum !== undefined) return either(schema.enum.map((value) => JSON.stringify(value)));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) return either([...new Set(schema.anyOf.map(typeText))]);
  if (Array.isArray(schema.type)) return either(schema.type.map((type) => typeText({ ...schema, type })));
  switch (schema.type) {
    case "array":
      return arrayText(schema);
    case "integer":
    case "number":
      return schema.type + range(schema.minimum, schema.maximum, "");
    case "string":
      return stringText(schema);
    case "object":
      return objectText(schema);
    default:
      return schema.type ?? "any JSON";
  }
}

function arrayText(schema: JsonSchema): string {
  const most = schema.maxItems === undefined ? "" : ` (at most ${schema.maxItems})`;
  return `array${most} of ${typeText(schema.items ?? {})}`;
}

function objectText(schema: JsonSchema): string {
  if (schema.properties === undefined) return "object";
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties).map(
    ([name, field]) => `${name}${required.has(name) ? "" : "?"}: ${typeText(field)}`,
  );
  return `{ ${fields.join("; ")} }`;
}

function stringText(schema: JsonSchema): string {
  if (schema.pattern === "^[0-9a-f]{32}$") return "id";
  if (schema.format === "date-time") return "time";
  if (schema.format === "uri") return "URL";
  return `text${range(schema.minLength, schema.maxLength, " characters")}`;
}

function range(min: number | undefined, max: number | undefined, unit: string): string {
  if (max === undefined) return min === undefined ? "" : ` from ${min}${unit}`;
  return ` ${min ?? 0}..${max}${unit}`;
}

function either(options: string[]): string {
  return options.length < 2 ? options.join("") : `${options.slice(0, -1).join(", ")} or ${options.at(-1)}`;
}
