import { z } from "zod";
import { ERRORS, type ErrorCode } from "../contract/errors.js";
import { COMMON_ERRORS, type Operation } from "../contract/operation.js";
import { operationList } from "../contract/operations.js";
import { CONSOLE_COOKIE } from "./credential.js";
import { type JsonSchema, jsonSchema, objectSchema, recordSchemas, SHARED } from "./json-schema.js";
import { pathFields, takesQuery } from "./operation-input.js";
import { signInInput, signInOutput } from "./sign-in.js";

type Document = Record<string, unknown>;

/** The OpenAPI 3.1 document of the whole interface, made from the contract. */
export function buildOpenApi(): Document {
  const paths: Record<string, Document> = {};
  for (const operation of operationList) {
    for (const [index, route] of [operation, ...(operation.aliases ?? [])].entries()) {
      const path = route.path.replace(/:(\w+)/g, "{$1}");
      paths[path] ??= {};
      (paths[path] as Document)[route.method.toLowerCase()] = operationObject(operation, route, index);
    }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Dibs",
      version: "1",
      summary: "Where AI coding agents call dibs: one shared queue of tasks with atomic, leased claims.",
      description:
        "Every route is also under /api in place of /v1. Times are RFC 3339 in UTC; durations carry their unit.",
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }, { agentKey: [] }, { console: [] }],
    paths: { ...paths, ...openPaths() },
    components: {
      schemas: { ...recordSchemas(), ...problemSchemas() },
      responses: commonResponses(),
      securitySchemes: SECURITY,
      parameters: HEADERS,
    },
  };
}

const SECURITY = {
  bearer: { type: "http", scheme: "bearer", description: "An agent's key." },
  agentKey: { type: "apiKey", in: "header", name: "X-Agent-Key", description: "The same key, for simple clients." },
  console: { type: "apiKey", in: "cookie", name: CONSOLE_COOKIE, description: "The console's sign-in." },
};

const HEADERS = {
  Session: header("X-Dibs-Session", "The session that acts; without it the agent's implicit one.", { type: "string" }),
  IdempotencyKey: header("Idempotency-Key", "A repeat with the same key within 24 h gets the first answer.", {
    type: "string",
    minLength: 1,
    maxLength: 255,
  }),
  IfMatch: header("If-Match", 'The version the record must still have, in quotes: "5".', { type: "string" }),
};

function header(name: string, description: string, schema: JsonSchema): Document {
  return { name, in: "header", required: false, description, schema };
}

function operationObject(operation: Operation, route: { method: string; path: string }, alias: number): Document {
  const input = objectSchema(operation.input, "input");
  const inPath = pathFields(route.path);
  const inQuery = takesQuery(route.method)
    ? Object.keys(input.properties ?? {}).filter((f) => !inPath.includes(f))
    : [];
  return {
    operationId: alias === 0 ? operation.name : `${operation.name}_${alias + 1}`,
    summary: operation.summary,
    description: `For the role ${operation.role} and those above it.`,
    tags: [route.path.split("/")[2]],
    parameters: [
      ...inPath.map((name) => fieldParameter(name, "path", input)),
      ...inQuery.map((name) => fieldParameter(name, "query", input)),
      ...headersOf(operation),
    ],
    ...(takesQuery(route.method) ? {} : { requestBody: requestBody(input, inPath) }),
    responses: { ...success(operation), ...problemResponses(operation.errors) },
  };
}

function fieldParameter(name: string, place: "path" | "query", input: JsonSchema): Document {
  const { description, ...schema } = input.properties?.[name] ?? {};
  const required = input.required?.includes(name) === true;
  return { name, in: place, required: required || place === "path", description, schema };
}

function headersOf(operation: Operation): Document[] {
  const names = ["Session"];
  if (operation.effect === "write") names.push("IdempotencyKey");
  if (operation.errors.includes("version_mismatch")) names.push("IfMatch");
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

function requestBody(input: JsonSchema, inPath: readonly string[]): Document {
  const { properties = {}, required = [], ...rest } = input;
  const names = Object.keys(properties).filter((name) => !inPath.includes(name));
  const needed = required.filter((name) => !inPath.includes(name));
  const schema = {
    ...rest,
    properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
    ...(needed.length > 0 ? { required: needed } : {}),
  };
  return { required: needed.length > 0, content: { "application/json": { schema } } };
}

function success(operation: Operation): Document {
  const answer = {
    description: operation.summary,
    headers: {
      "X-Request-Id": { schema: { type: "string" } },
      "Server-Now": { schema: { type: "string", format: "date-time" } },
      ...(operation.paged
        ? { Link: { description: 'The next page, as rel="next".', schema: { type: "string" } } }
        : {}),
    },
    content: { "application/json": { schema: jsonSchema(operation.output, "output") } },
  };
  const { status = 200, otherwise } = operation;
  if (otherwise === undefined) return { [String(status)]: answer };
  const description = `${otherwise.status === 202 ? "A request: " : "Nothing new: "}${otherwise.when}.`;
  return { [String(status)]: answer, [String(otherwise.status)]: { ...answer, description } };
}

/** The problem answers by status; codes that share one are told apart by `code`. */
function problemResponses(own: readonly ErrorCode[]): Document {
  const special = new Set<number>(own.map((code) => ERRORS[code].status));
  const responses = [...byStatus([...own, ...COMMON_ERRORS])].map(([status, codes]) => [
    String(status),
    special.has(status) ? problemResponse(codes) : { $ref: `#/components/responses/${status}` },
  ]);
  return Object.fromEntries(responses);
}

/** What any call may answer with these statuses, unless it has codes of its own there. */
function commonResponses(): Document {
  return Object.fromEntries([...byStatus(COMMON_ERRORS)].map(([status, codes]) => [status, problemResponse(codes)]));
}

function byStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const found = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = ERRORS[code];
    found.set(status, [...(found.get(status) ?? []), code]);
  }
  return found;
}

function problemResponse(codes: readonly ErrorCode[]): Document {
  const schemas = codes.map((code) => ({ $ref: `${SHARED}${problemName(code)}` }));
  const schema = schemas.length === 1 ? schemas[0] : { oneOf: schemas };
  const description = codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join(" ");
  return { description, content: { "application/problem+json": { schema } } };
}

function problemName(code: ErrorCode): string {
  return `Problem_${code}`;
}

function problemSchemas(): Document {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return Object.fromEntries(
    codes.map((code) => {
      const { status, meaning, details } = ERRORS[code];
      const base = z.object({
        type: z.string(),
        title: z.string(),
        status: z.literal(status),
        detail: z.string().describe("What is wrong and what to do next."),
        code: z.literal(code),
        error: z.string().describe("The same text as `detail`."),
      });
      return [problemName(code), { description: meaning, ...objectSchema(base.extend(details.shape), "output") }];
    }),
  );
}

/** The routes that are no operations and need no key. */
function openPaths(): Record<string, Document> {
  const text = (schema: JsonSchema) => ({ description: "OK", content: { "application/json": { schema } } });
  const status = text({ type: "object", properties: { status: { type: "string" } } });
  const open = (summary: string, operationId: string, more: Document) => ({
    summary,
    operationId,
    security: [],
    ...more,
  });
  return {
    "/livez": { get: open("The process answers.", "livez", { responses: { 200: status } }) },
    "/readyz": { get: open("Calls work.", "readyz", { responses: { 200: status, ...problemResponses([]) } }) },
    "/v1/sign-in": {
      post: open("Exchange a one-time code for the console's cookie.", "sign_in", {
        requestBody: requestBody(jsonSchema(signInInput, "input"), []),
        responses: { 200: text(jsonSchema(signInOutput, "output")), ...problemResponses([]) },
      }),
    },
    "/v1/sign-out": {
      post: {
        summary: "Take the console's cookie away.",
        operationId: "sign_out",
        responses: {
          200: text({ type: "object", properties: { signed_out: { type: "boolean" } } }),
          ...problemResponses([]),
        },
      },
    },
  };
}
