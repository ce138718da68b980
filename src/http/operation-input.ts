import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { type DibsError, invalidInput } from "../contract/errors.js";
import type { Operation } from "../contract/operation.js";
import { parseBody } from "./json-body.js";

type Fields = Record<string, unknown>;

/** Reads a request into the input of an operation; what the fields may hold is the engine's to judge. */
export type InputReader = (request: FastifyRequest) => Fields;

/** The names of the fields that stand in a path such as `/v1/tasks/:task_id`. */
export function pathFields(path: string): readonly string[] {
  return [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as string);
}

/** Reads and deletions have their fields in the query string, every other call in its body. */
export function takesQuery(method: string): boolean {
  return method === "GET" || method === "DELETE";
}

/**
 * Builds the reader for one route. A field has one place: the path, else the query (reads, deletions) or the
 * body; anywhere else it is refused as unknown, by name. Query text becomes what the schema asks for where it
 * can; what can't stays text, for the engine to refuse with its own words.
 */
export function inputReader(operation: Operation, method: string, path: string): InputReader {
  const inPath = pathFields(path);
  // Looked up by the first request that needs it: a server that starts has no use for a hundred schemas.
  let kinds: ReadonlyMap<string, Kind> | undefined;
  const query = takesQuery(method);
  const body = method !== "GET";
  return (request) => {
    const fields = body ? parseBody(request.body as Buffer | undefined) : {};
    if (body) refuseFields(fields, inPath, `is not a field of ${operation.name} here: it stands in the path`);
    const given = request.query as Record<string, string | string[]>;
    for (const name in given) {
      kinds ??= fieldKinds(operation.input);
      if (!query)
        throw unknownField(
          name,
          `is not a field of ${operation.name} here: its fields go in the JSON body, none in the URL`,
        );
      if (inPath.includes(name))
        throw unknownField(name, `is not a field of ${operation.name} here: it stands in the path`);
      if (name === "__proto__") throw unknownField(name, `is not a field of ${operation.name}`);
      if (Object.hasOwn(fields, name)) throw unknownField(name, "stands in the body already");
      fields[name] = fromText(given[name] as string | string[], kinds.get(name));
    }
    const parameters = request.params as Record<string, string>;
    for (const name of inPath) fields[name] = parameters[name];
    return fields;
  };
}

function refuseFields(fields: Fields, names: readonly string[], why: string): void {
  for (const name of names) if (Object.hasOwn(fields, name)) throw unknownField(name, why);
}

function unknownField(name: string, why: string): DibsError {
  return invalidInput(name.slice(0, 100), why);
}

type Kind = "number" | "boolean" | "array" | "text";

function fieldKinds(input: z.ZodObject): ReadonlyMap<string, Kind> {
  return new Map(Object.entries(input.shape).map(([name, schema]) => [name, kindOf(schema as z.ZodType)]));
}

function kindOf(schema: z.ZodType): Kind {
  const definition = schema.def as { type: string; innerType?: z.ZodType };
  if (definition.innerType !== undefined) return kindOf(definition.innerType);
  switch (definition.type) {
    case "number":
    case "boolean":
    case "array":
      return definition.type;
    default:
      return "text";
  }
}

function fromText(value: string | string[], kind: Kind | undefined): unknown {
  if (kind === "array") return typeof value === "string" ? [value] : value;
  if (typeof value !== "string") return value;
  if (kind === "number" && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  if (kind === "boolean" && (value === "true" || value === "false")) return value === "true";
  return value;
}
