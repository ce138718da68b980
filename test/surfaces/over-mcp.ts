import { tmpdir } from "node:os";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { OperationName } from "dibs/contract";
import { DIBS } from "../support/server-process.js";
import { placeOf } from "./over-cli.js";
import type { Asking, Entrance, Fields, Heard, Surface } from "./surface.js";
import type { World } from "./world.js";

// biome-ignore lint/suspicious/noExplicitAny: what a tool answers is what these tests are about
type Data = Record<string, any>;

/** How an operation is asked of a tool, and where in the answer its record stands. Written from the tools' own descriptions. */
interface Said {
  readonly tool: string;
  readonly own?: Fields;
  readonly renamed?: Readonly<Record<string, string>>;
  readonly record: (data: Data) => unknown;
}

const theTask = (data: Data) => data.task;
const aSession = (action: string, record: Said["record"]): Said => ({
  tool: "session",
  own: { action },
  record,
});
const itsFields = (data: Data) => ({ ...(data.session as Fields), ...(data.items ? { items: data.items } : {}) });

const SAID: Partial<Record<OperationName, Said>> = {
  claim_next_task: { tool: "claim_task", record: (data) => data },
  accept_handoff: { tool: "claim_task", record: (data) => data },
  claim_task: { tool: "claim_task", record: (data) => data },
  heartbeat_task: { tool: "heartbeat_task", record: theTask },
  release_task: { tool: "release_task", record: theTask },
  complete_task: { tool: "complete_task", record: theTask },
  fail_task: { tool: "complete_task", renamed: { reason: "failure_reason" }, record: theTask },
  change_task_context: { tool: "heartbeat_task", record: (data) => data.context },
  judge_task: { tool: "complete_task", own: { judge: true }, record: theTask },
  create_tasks: { tool: "create_tasks", record: (data) => data.tasks },
  add_dependencies: { tool: "create_tasks", record: theTask },
  remove_dependency: { tool: "create_tasks", record: theTask },
  list_dependencies: { tool: "list_tasks", record: (data) => data.tasks },
  list_tasks: { tool: "list_tasks", record: (data) => data.tasks },
  get_task: { tool: "list_tasks", record: theTask },
  get_task_why: { tool: "list_tasks", record: (data) => data.why },
  list_claims: { tool: "who_holds", renamed: { session_id: "holder_session_id" }, record: (data) => data.claims },
  list_events: { tool: "events", record: (data) => (data.events as Fields[]).map(withActor) },
  open_session: aSession("open", itsFields),
  get_session: aSession("show", itsFields),
  heartbeat_session: aSession("heartbeat", itsFields),
  end_session: aSession("end", (data) => data.ended),
  ack_notices: aSession("ack", (data) => ({ acknowledged: data.acknowledged })),
};

/** An event's actor is spread over its row in the compact form. */
function withActor({ agent_name, session_id, ...event }: Fields): Fields {
  if (agent_name === undefined) return event;
  return { ...event, actor: { agent_name, ...(session_id === undefined ? {} : { session_id }) } };
}

/** The tool and the arguments that say the call. */
export function toolCallFor({ operation, input, session }: Omit<Asking, "as">): { name: string; arguments: Fields } {
  const said = SAID[operation];
  if (said === undefined) throw new Error(`No tool is ${operation}.`);
  const given = Object.entries(input).map(([field, value]) => [said.renamed?.[field] ?? field, value]);
  // A session that is meant is also the one that calls.
  const who = session === undefined ? {} : { session_id: session };
  return { name: said.tool, arguments: { ...said.own, ...who, ...Object.fromEntries(given) } };
}

type Way = "HTTP" | "stdio on the bare file" | "stdio over HTTP";

export function mcp(way: Way): Entrance {
  return {
    name: `MCP over ${way}`,
    ...(way === "stdio on the bare file" ? { onFile: true } : {}),
    tools: { fronts: (operation) => SAID[operation] !== undefined, inTools },
    open: (world) => mcpOf(world, way),
  };
}

/** What no tool fronts and another says as well. */
const INSTEAD: Readonly<Record<string, string>> = { check_scope: "who_holds" };

function inTools(advice: string): string {
  return advice.replace(
    /\b[a-z]+(?:_[a-z]+)+\b/g,
    (word) => SAID[word as OperationName]?.tool ?? INSTEAD[word] ?? word,
  );
}

/** The official client, one connection for each person who asks. */
function mcpOf(world: World, way: Way): Surface {
  const connections = new Map<string, Connection>();
  return {
    async ask(asking) {
      const connection = connections.get(asking.as.key) ?? new Connection(world, way, asking.as);
      connections.set(asking.as.key, connection);
      return connection.call(asking);
    },
    async close() {
      for (const connection of connections.values()) await connection.close();
    },
  };
}

class Connection {
  readonly #client: Promise<Client>;
  /** What the server said to a request that was no call of a tool yet. */
  #problem: { readonly code?: string } | undefined;

  constructor(world: World, way: Way, as: Asking["as"]) {
    const transport = way === "HTTP" ? this.#overHttp(world, as) : overStdio(world, as, way === "stdio over HTTP");
    const client = new Client({ name: "surfaces", version: "1" });
    this.#client = client.connect(transport).then(() => client);
    this.#client.catch(() => undefined);
  }

  async call(asking: Asking): Promise<Heard> {
    this.#problem = undefined;
    try {
      const result = await (await this.#client).callTool(toolCallFor(asking));
      return heardOf(asking.operation, result.structuredContent as Data, result.isError === true);
    } catch (thrown) {
      if (this.#problem === undefined) throw thrown;
      return { code: String((this.#problem as { code?: string }).code), body: this.#problem };
    }
  }

  async close(): Promise<void> {
    const client = await this.#client.catch(() => undefined);
    await client?.close();
  }

  #overHttp(world: World, as: Asking["as"]): StreamableHTTPClientTransport {
    return new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${as.key}` } },
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        const refused = response.headers.get("content-type")?.startsWith("application/problem+json");
        if (refused) this.#problem = await response.clone().json();
        return response;
      },
    });
  }
}

function heardOf(operation: OperationName, data: Data, isError: boolean): Heard {
  if (isError) return { code: String(data.code), body: data };
  return { code: "ok", body: SAID[operation]?.record(data), cursor: data.next_cursor };
}

function overStdio(world: World, as: Asking["as"], server: boolean): StdioClientTransport {
  const env = placeOf(world, server ? "server" : "file", as);
  // Outside any repository, whose project it would find first.
  const place = { cwd: tmpdir(), env, stderr: "ignore" } as const;
  return new StdioClientTransport({ command: process.execPath, args: [DIBS, "mcp"], ...place });
}
