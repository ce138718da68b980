import { operations } from "dibs/contract";
import type { Bad } from "./bad-input.js";
import { argumentsFor, dibs, heardOf as heardFromCli, placeOf } from "./over-cli.js";
import { heardOf as heardFromRest, rest } from "./over-http.js";
import { mcp, toolCallFor } from "./over-mcp.js";
import type { Heard } from "./surface.js";
import type { Person, World } from "./world.js";

/** Whether a refusal's field is the one that is wrong: it, as this way calls it, or a place inside it. */
export function names(found: string, field: string): boolean {
  return found === field || found.endsWith(`arguments.${field}`) || found.includes(`${field}.`);
}

/** A way to send a mistake just as it is. */
export interface BadWay {
  readonly name: string;
  readonly kind: "REST" | "MCP" | "CLI";
  /** The name by which this way calls a field. */
  fieldOf(bad: Bad): string;
  /** Undefined when it has no way to say it. */
  send(bad: Bad): Promise<Heard> | undefined;
}

/** The JSON text itself is the body; reads put what it says in the query. */
export function badRest(world: World, as: Person): BadWay {
  const plain = rest("/v1").open(world);
  return {
    name: "REST",
    kind: "REST",
    fieldOf: (bad) => bad.field,
    async send({ operation, path, json }) {
      const { method, path: route } = operations[operation];
      if (method === "GET" || method === "DELETE") {
        return plain.ask({ operation, as, session: as.sessionId, input: { ...path, ...JSON.parse(json) } });
      }
      const filled = route.replace(/:(\w+)/g, (_part, field: string) => encodeURIComponent(String(path?.[field])));
      const headers = {
        authorization: `Bearer ${as.key}`,
        "x-dibs-session": as.sessionId,
        "content-type": "application/json",
      };
      return heardFromRest(await fetch(`${world.url}${filled}`, { method, headers, body: json }));
    },
  };
}

/** The JSON text is put, as it is, where a tool's arguments stand in a request. */
export function badMcp(world: World, as: Person): BadWay {
  return {
    name: "MCP over HTTP",
    kind: "MCP",
    fieldOf: ({ operation, field }) => (operation === "create_task" ? `tasks.0.${field}` : field),
    send({ operation, path, json }) {
      const one = operation === "create_task";
      const tool = one ? "create_tasks" : operation;
      if (!mcp("HTTP").tools?.fronts(tool)) return undefined;
      const call = toolCallFor({ operation: tool, input: path ?? {}, session: as.sessionId });
      const given = one ? `{"tasks":[${json}]}` : json;
      const beside = JSON.stringify(call.arguments).slice(1, -1);
      const inside = given.slice(1, -1);
      const args = `{${beside}${inside.trim() === "" ? "" : ","}${inside}}`;
      return post(world, as, `{"name":${JSON.stringify(call.name)},"arguments":${args}}`);
    },
  };
}

async function post(world: World, as: Person, params: string): Promise<Heard> {
  const headers = {
    authorization: `Bearer ${as.key}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
  const response = await fetch(`${world.url}/mcp`, { method: "POST", headers, body });
  if (response.headers.get("content-type")?.startsWith("application/problem+json")) return heardFromRest(response);
  const text = await response.text();
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  const { result } = JSON.parse(data) as { result?: { isError?: boolean; structuredContent: { code: string } } };
  if (result === undefined) throw new Error(`${response.status}: ${text.slice(0, 300)}`);
  const content = result.structuredContent as { code: string; message?: string };
  return {
    code: result.isError ? content.code : "ok",
    status: response.status,
    body: { ...content, detail: content.message },
  };
}

/** The JSON text goes in by `--json-input -`; what the command takes by position goes there. */
export function badCli(world: World, way: "server" | "file", as: Person): BadWay {
  return {
    name: way === "server" ? "the command line over HTTP" : "the command line on the bare file",
    kind: "CLI",
    fieldOf: ({ field }) => (field === "(body)" ? "json-input" : field),
    async send({ operation, path, json }) {
      const { positional, rest } = split(json);
      const input = { content: "a title", ...path, ...positional };
      const only = Object.fromEntries(
        Object.entries(input).filter(([field]) => field in operations[operation].input.shape),
      );
      const words = argumentsFor({ operation, input: only, session: as.sessionId });
      const at = words.indexOf("--");
      const line = [...words.slice(0, at), "--json-input", "-", ...words.slice(at)];
      return heardFromCli(await dibs(line, placeOf(world, way, as), rest));
    },
  };
}

/** What a person would write on the line itself. */
function split(json: string): { positional: Record<string, unknown>; rest: string } {
  const found = /^\{"(content|body|name|key|url)":("(?:[^"\\]|\\.)*")(?:,(.*))?\}$/s.exec(json);
  if (!found) return { positional: {}, rest: json };
  return { positional: { [found[1] as string]: JSON.parse(found[2] as string) }, rest: `{${found[3] ?? ""}}` };
}
