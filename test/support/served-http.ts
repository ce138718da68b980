import { open } from "dibs";
import { readConfig, type Served, serve } from "dibs/server";
import { afterAll, beforeAll } from "vitest";
import { ScratchFolder } from "./scratch-folder.js";
import { type RawAnswer, sendRaw } from "./stub-http.js";

const ADMIN_KEY = "admin-key-for-tests-0123456789";
export const UNKNOWN = "0123456789abcdef0123456789abcdef";

/** A server for all tests of a file, whose admin asks; in another workspace stands a task that is none of its own. */
export class ServedHttp {
  readonly #folder = new ScratchFolder();
  served!: Served;
  foreignTaskId = "";

  /** Started before the file's first test, stopped after its last. */
  static forFile(): ServedHttp {
    const http = new ServedHttp();
    beforeAll(() => http.#start());
    afterAll(async () => {
      await http.served.stop();
      http.#folder.remove();
    });
    return http;
  }

  async #start(): Promise<void> {
    const store = `sqlite:${this.#folder.file("dibs.db")}`;
    const limits = { DIBS_RATE_LIMIT: 1_000_000, DIBS_RATE_BURST: 1_000_000 };
    this.served = await serve(
      readConfig({ DIBS_STORE: store, DIBS_PORT: 0, DIBS_ADMIN_KEY: ADMIN_KEY, DIBS_LOG: "silent", ...limits }),
    );
    const beside = await open({ store });
    const { key } = await beside.createWorkspace("elsewhere");
    await beside.close();
    const task = await this.send("POST", "/v1/tasks", { content: "not yours" }, { "x-agent-key": key });
    this.foreignTaskId = task.json.id;
  }

  get port(): number {
    return Number(new URL(this.served.url).port);
  }

  readonly send = (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string | undefined> = {},
  ): Promise<RawAnswer> => sendRaw(this.port, method, path, { "x-agent-key": ADMIN_KEY, ...headers }, body);

  /** The text of everything a writer could have left half written. */
  async everything(): Promise<string> {
    const lists = ["/v1/tasks?limit=1000", "/v1/claims", "/v1/projects", "/v1/agents"];
    return (await Promise.all(lists.map((path) => this.send("GET", path))))
      .map(({ text }) => text.replace(/"\w+_ms":\d+/g, ""))
      .join("\n");
  }
}

/** A body that lacks nothing an operation on a task wants. */
export function requiredBody(shape: Readonly<Record<string, unknown>>): object {
  const good: Record<string, unknown> = {
    body: "text",
    content: "x",
    url: "https://example.com/",
    state: "working",
    reason: "because",
    verdict: "pass",
    answer: "hold",
    context: {},
    depends_on: [UNKNOWN],
  };
  return Object.fromEntries(Object.entries(good).filter(([name]) => name in shape));
}
