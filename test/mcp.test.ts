import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { open, operations } from "dibs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const KEY = "a-key-of-more-than-24-characters";
const GENERATIONS: [string, ClientOptions][] = [
  ["the 2026-07-28 protocol", { versionNegotiation: { mode: { pin: "2026-07-28" } } }],
  ["an older client", { versionNegotiation: { mode: "legacy" } }],
];
const MODERN = GENERATIONS[0]?.[1] as ClientOptions;

let dir: string;
let env: Record<string, string>;
let clean: (() => unknown)[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "dibs-mcp-"));
  env = { DIBS_STORE: `sqlite:${join(dir, "dibs.db")}`, DIBS_AGENT: "tester", DIBS_ADMIN_KEY: KEY, DIBS_LOG: "silent" };
  clean = [];
});
afterEach(async () => {
  for (const undo of clean.reverse()) await undo();
  rmSync(dir, { recursive: true, force: true });
});

interface Result {
  isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the tests are about
  data: any;
}

function usingTools(client: Client) {
  clean.push(() => client.close());
  const use = async (name: string, args: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Result> => {
    const result = await client.callTool({ name, arguments: args }, { signal });
    return { isError: result.isError === true, data: result.structuredContent };
  };
  return { client, use };
}

/** Starts `dibs up` and resolves with its address once it answers. */
async function up(port = 0): Promise<{ url: string; port: number; process: ChildProcess }> {
  const child = spawn(process.execPath, [MAIN, "up", "--json", "--port", String(port)], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  clean.push(() => end(child, "SIGKILL"));
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = JSON.parse(line) as { url: string };
    return { url, port: Number(new URL(url).port), process: child };
  }
  throw new Error("The server ended without saying where it listens.");
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  return ended;
}

async function overHttp(url: string, options = MODERN) {
  const client = new Client({ name: "test", version: "1" }, options);
  const requestInit = { headers: { authorization: `Bearer ${KEY}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return usingTools(client);
}

async function overStdio(options = MODERN, more: Record<string, string> = {}, args: string[] = []) {
  const client = new Client({ name: "test", version: "1" }, options);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, "mcp", ...args],
    env: { ...env, ...more },
  });
  await client.connect(transport);
  return { ...usingTools(client), transport };
}

/** The store as it stands, read beside whoever else has it open. */
async function look() {
  const store = await open({ store: env.DIBS_STORE as string });
  clean.push(() => store.close());
  const identity = { kind: "file", agent: "tester" } as const;
  return {
    newTask: async (content: string) => (await store.call(operations.create_task, { content }, { identity })).body.id,
    task: async (id: string) => (await store.call(operations.get_task, { task_id: id }, { identity })).body,
    sessions: async (state: "open" | "ended") =>
      (await store.call(operations.list_sessions, { state }, { identity })).body,
    openSession: async () => (await store.call(operations.open_session, {}, { identity })).body.id,
  };
}

async function until(what: string, seconds: number, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Not within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe.each(GENERATIONS)("%s", (_name, options) => {
  test.each(["http", "stdio"])("works the whole loop over %s", async (kind) => {
    const { use, client } = kind === "http" ? await overHttp((await up()).url, options) : await overStdio(options);
    expect((await client.listTools()).tools).toHaveLength(9);
    await use("create_tasks", { tasks: [{ content: "Fix the login", labels: ["web"] }] });
    const { id, lease_id } = (await use("claim_task", { labels: ["web"] })).data.task;
    expect((await use("heartbeat_task", { task_id: id, lease_id })).data.task.lease_id).toBe(lease_id);
    expect((await use("who_holds")).data.claims[0]).toMatchObject({ task_id: id, intent: "Fix the login" });
    expect((await use("complete_task", { task_id: id, lease_id, result: "done" })).data.task.status).toBe("completed");
    expect((await use("complete_task", { task_id: id, failure_reason: "no" })).data.code).toBe("lease_lost");
    expect((await use("claim_task")).data.task).toBeNull();
  });
});

describe("over HTTP", () => {
  test("without a good key there is not even a list of tools (R45)", async () => {
    const { url } = await up();
    const client = new Client({ name: "test", version: "1" }, MODERN);
    const requestInit = { headers: { authorization: "Bearer wrong" } };
    await expect(
      client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit })),
    ).rejects.toThrow(/401/);
  });

  test("a client goes on after the server was killed and started again, with the lease it had (C64)", async () => {
    const first = await up();
    const { use, client } = await overHttp(first.url);
    const tools = (await client.listTools()).tools;
    await use("create_tasks", { tasks: [{ content: "Fix the login" }] });
    const { id, lease_id } = (await use("claim_task")).data.task;
    await end(first.process, "SIGKILL");
    await up(first.port);
    expect((await use("heartbeat_task", { task_id: id, lease_id })).data.task.lease_id).toBe(lease_id);
    expect((await client.listTools()).tools).toEqual(tools);
  });

  test("a client that hangs up while it waits for work gets none (R21)", async () => {
    const { url } = await up();
    const { use } = await overHttp(url);
    const gone = new AbortController();
    const waiting = use("claim_task", { wait_seconds: 30 }, gone.signal);
    const other = await overHttp(url);
    gone.abort();
    await expect(waiting).rejects.toThrow();
    await other.use("create_tasks", { tasks: [{ content: "Fix the login" }] });
    await until("the task is free for others", 5, async () => (await other.use("claim_task")).data.task !== null);
  });
});

describe("the stdio bridge", () => {
  test("stdout carries nothing but the protocol", async () => {
    const child = spawn(process.execPath, [MAIN, "mcp"], {
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    clean.push(() => end(child, "SIGKILL"));
    const ask = (id: number, method: string, params: object = {}) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    ask(1, "tools/list");
    ask(2, "no/such/method");
    ask(3, "tools/call", { name: "claim_task", arguments: { labels: 5 } });
    ask(4, "tools/call", { name: "create_tasks", arguments: { tasks: [{ content: "a" }] } });
    child.stdin.write("this is no message\n");
    ask(5, "tools/call", { name: "claim_task", arguments: {} });
    const answered: unknown[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      const message = JSON.parse(line) as { jsonrpc: string; id: number };
      expect(message.jsonrpc).toBe("2.0");
      answered.push(message.id);
      if (answered.length === 5) child.stdin.end();
    }
    expect(answered.sort()).toEqual([1, 2, 3, 4, 5]);
    expect(child.exitCode ?? (await new Promise((resolve) => child.once("exit", resolve)))).toBe(0);
  });

  test("has a session of its own from the first call that needs one to its end, which frees all (R13, R10)", async () => {
    const store = await look();
    const id = await store.newTask("Fix the login");
    const { use, client } = await overStdio();
    await client.listTools();
    await use("list_tasks");
    expect(await store.sessions("open")).toEqual([]);
    await use("claim_task");
    expect(await store.sessions("open")).toEqual([
      expect.objectContaining({ client: "mcp", implicit: false, tasks_held: 1 }),
    ]);
    await client.close();
    await until("the task is free", 5, async () => (await store.task(id)).status === "open");
    expect(await store.sessions("open")).toEqual([]);
    expect((await store.task(id)).attempts).toBe(0);
  });

  test("opens another session after its own has ended, and says that the first is gone", async () => {
    const store = await look();
    const id = await store.newTask("Fix the login");
    const { use } = await overStdio();
    const first = (await use("claim_task")).data.task;
    await use("session", { action: "end" });
    expect((await use("heartbeat_task", { task_id: id })).data.code).toBe("lease_lost");
    const second = (await use("claim_task")).data.task;
    expect(second.id).toBe(id);
    expect(second.lease_id).not.toBe(first.lease_id);
  });

  test("a session that it is given is used and not ended", async () => {
    const store = await look();
    const id = await store.newTask("Fix the login");
    const session = await store.openSession();
    const { use, client } = await overStdio(MODERN, { DIBS_SESSION: session });
    await use("claim_task");
    await client.close();
    expect(await store.task(id)).toMatchObject({ status: "claimed", claimed_by_session_id: session });
  });

  test("sends the lease of what it claimed, when its agent forgets to (R3)", async () => {
    const store = await look();
    const id = await store.newTask("Fix the login");
    const session = await store.openSession();
    const { use } = await overStdio(MODERN, { DIBS_SESSION: session });
    await use("claim_task", { lease_seconds: 30 });
    const other = await overStdio(MODERN, { DIBS_SESSION: session });
    await other.use("release_task", { task_id: id });
    await other.use("claim_task");
    expect((await use("complete_task", { task_id: id })).data).toMatchObject({ code: "lease_lost" });
    expect((await other.use("complete_task", { task_id: id })).data.task.status).toBe("completed");
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s ends it in order: what it held is free", async (signal) => {
    const store = await look();
    const id = await store.newTask("Fix the login");
    const { use, transport } = await overStdio();
    await use("claim_task");
    const pid = transport.pid as number;
    process.kill(pid, signal);
    await until("the bridge is gone", 5, () => !isRunning(pid));
    expect((await store.task(id)).status).toBe("open");
  });

  test("is gone within 5 s of its parent, though its stdin stays open", async () => {
    const store = await look();
    const id = await store.newTask("Fix the login");
    // A pipe by name, of which the bridge itself keeps both ends open: no death of others closes it.
    const pipe = join(dir, "stdin");
    const script = `mkfifo "$2"; exec 3<>"$2"; "$0" "$1" mcp <&3 & echo "{\\"pid\\":$!}"; wait`;
    const parent = spawn("sh", ["-c", script, process.execPath, MAIN, pipe], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    clean.push(() => end(parent, "SIGKILL"));
    const lines = createInterface({ input: parent.stdout })[Symbol.asyncIterator]();
    const { pid } = JSON.parse((await lines.next()).value as string) as { pid: number };
    clean.push(() => isRunning(pid) && process.kill(pid, "SIGKILL"));
    const claim = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "claim_task" } };
    appendFileSync(pipe, `${JSON.stringify(claim)}\n`);
    expect((await lines.next()).value).toContain(id);
    expect((await store.task(id)).status).toBe("claimed");
    parent.kill("SIGKILL");
    await until("the bridge is gone", 5, () => !isRunning(pid));
    expect((await store.task(id)).status).toBe("open");
  });

  test("doesn't stay for a waiting call when its agent has gone, and takes nothing (R21)", async () => {
    const store = await look();
    const { use, transport, client } = await overStdio();
    const waiting = use("claim_task", { wait_seconds: 60 });
    waiting.catch(() => undefined);
    await until("it waits", 5, async () => (await store.sessions("open")).length === 1);
    const pid = transport.pid as number;
    await client.close();
    await until("the bridge is gone", 5, () => !isRunning(pid));
    await expect(waiting).rejects.toThrow();
    const id = await store.newTask("Fix the login");
    expect(await store.task(id)).toMatchObject({ status: "open", attempts: 0 });
    expect(await store.sessions("open")).toEqual([]);
  });

  test("outlives its server: calls meanwhile are refused as retryable, later ones work, the tools stay (C64)", async () => {
    const first = await up();
    const { use, client } = await overStdio(MODERN, { DIBS_URL: first.url, DIBS_KEY: KEY });
    const tools = (await client.listTools()).tools;
    await use("create_tasks", { tasks: [{ content: "Fix the login" }] });
    const { id, lease_id } = (await use("claim_task")).data.task;
    await end(first.process, "SIGKILL");
    const refused = await use("heartbeat_task", { task_id: id, lease_id });
    expect(refused).toMatchObject({ isError: true, data: { code: "store_unavailable", retryable: true } });
    expect((await client.listTools()).tools).toEqual(tools);
    await up(first.port);
    expect((await use("heartbeat_task", { task_id: id, lease_id })).data.task.lease_id).toBe(lease_id);
  }, 60_000);
});
