import { McpServer, type StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { INSTRUCTIONS } from "./instructions.js";
import { type Desk, runTool } from "./run.js";
import type { Seat } from "./seat.js";
import { fieldsOf } from "./tool-fields.js";
import { type JsonSchema, parameterSchema } from "./tool-schema.js";
import { TOOLS, type Tool } from "./tools.js";

/** The list is the same for everyone until the program changes. */
const TOOLS_TTL_MS = 3_600_000;

const described = TOOLS.map((tool) => ({
  tool,
  inputSchema: advertised(parameterSchema(fieldsOf(tool), tool.hints)),
  outputSchema: advertised({ type: "object", properties: tool.output }),
  annotations: annotationsOf(tool),
}));

/**
 * A server of the tools for one caller, for either generation of the protocol: one for each request over HTTP, one
 * for a connection over stdio. `version` is the program's.
 */
export function createMcpServer(desk: Desk, seat: Seat, version: string): McpServer {
  const cacheHints = { "tools/list": { ttlMs: TOOLS_TTL_MS, cacheScope: "public" as const } };
  const server = new McpServer(
    { name: "dibs", title: "Dibs", version },
    { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false } }, cacheHints },
  );
  for (const { tool, inputSchema, outputSchema, annotations } of described) {
    const { name, description } = tool;
    server.registerTool(name, { description, inputSchema, outputSchema, annotations }, (args, context) =>
      runTool(desk, tool, args, seat, seat.gone ?? context.mcpReq.signal),
    );
  }
  return server;
}

/** Nothing stored is lost by any tool: a takeover moves a lease and is on record, ended work can be opened again. */
function annotationsOf(tool: Tool) {
  if (tool.reads) return { readOnlyHint: true, openWorldHint: false };
  return { destructiveHint: false, ...(tool.repeats ? { idempotentHint: true } : {}), openWorldHint: false };
}

/**
 * A JSON Schema as the server library takes it. It lets everything pass: arguments are read by `readArguments`, which
 * understands more than the schema says and answers with the codes of Dibs, and answers are built, not given.
 */
function advertised(schema: JsonSchema): StandardSchemaWithJSON<Record<string, unknown>> {
  const jsonSchema = () => schema as Record<string, unknown>;
  return {
    "~standard": {
      version: 1,
      vendor: "dibs",
      validate: (value) => ({ value: value as Record<string, unknown> }),
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  };
}
