import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach } from "vitest";
import type { Call, Caller } from "../../src/contract/operation.js";
import { operations } from "../../src/contract/operations.js";
import { open } from "../../src/index.js";
import { createMcpHttp } from "../../src/mcp/http.js";
import { QUICK_DISK } from "./quick-disk.js";

export const MODERN: ClientOptions = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
export const LEGACY: ClientOptions = { versionNegotiation: { mode: "legacy" } };
export const tester: Caller["identity"] = { kind: "file", agent: "tester" };
export const rival: Caller["identity"] = { kind: "file", agent: "rival" };

export interface Result {
  isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the tests are about
  data: any;
  text: string;
  /** The whole answer counted as 3.5 characters a token. */
  tokens: number;
}

/** The MCP surface on a store of the test's own. */
export class McpSurface {
  #dir = "";
  store!: Awaited<ReturnType<typeof open>>;
  answer!: ReturnType<typeof createMcpHttp>;
  faults: unknown[] = [];

  /** Made anew for each test of the file. */
  static forEach(): McpSurface {
    const surface = new McpSurface();
    beforeEach(() => surface.#open());
    afterEach(async () => {
      await surface.store.close();
      rmSync(surface.#dir, { recursive: true, force: true });
    });
    return surface;
  }

  async #open(): Promise<void> {
    this.#dir = mkdtempSync(join(QUICK_DISK, "dibs-mcp-"));
    this.store = await open({ store: `sqlite:${join(this.#dir, "dibs.db")}` });
    this.faults = [];
    this.restart();
  }

  /** The surface as a new process would have it: all it kept in mind is gone. */
  restart(call: Call = this.store.call): void {
    this.answer = createMcpHttp({ call, version: "1.2.3", onFault: (fault) => this.faults.push(fault) });
  }

  /** An official client that reaches the handler through its transport, with no network between. */
  readonly connect = async (
    options: ClientOptions = MODERN,
    identity = tester,
    headers: Record<string, string> = {},
  ) => {
    const client = new Client({ name: "test", version: "1" }, options);
    const fetch = (url: string | URL, init?: RequestInit) => this.answer(new Request(url, init), identity);
    await client.connect(
      new StreamableHTTPClientTransport(new URL("http://mcp.test/mcp"), { fetch, requestInit: { headers } }),
    );
    const use = async (name: string, args: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Result> => {
      const result = await client.callTool({ name, arguments: args }, { signal });
      const content = result.content as { text: string }[];
      return {
        isError: result.isError === true,
        data: result.structuredContent,
        text: content.map((part) => part.text).join("\n"),
        tokens: Math.ceil(JSON.stringify({ content, structuredContent: result.structuredContent }).length / 3.5),
      };
    };
    return { client, use };
  };

  readonly newTask = async (content: string, more: object = {}): Promise<string> =>
    (await this.store.call(operations.create_task, { content, ...more }, { identity: tester })).body.id;

  readonly readTask = async (id: string) =>
    (await this.store.call(operations.get_task, { task_id: id }, { identity: tester })).body;
}
