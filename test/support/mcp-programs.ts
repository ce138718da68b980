import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { open, operations } from "dibs";
import { afterEach, beforeEach } from "vitest";
import { QUICK_DISK } from "./quick-disk.js";

export const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
export const KEY = "a-key-of-more-than-24-characters";
export const GENERATIONS: [string, ClientOptions][] = [
  ["the 2026-07-28 protocol", { versionNegotiation: { mode: { pin: "2026-07-28" } } }],
  ["an older client", { versionNegotiation: { mode: "legacy" } }],
];
export const MODERN = GENERATIONS[0]?.[1] as ClientOptions;

/** What belongs to one test: its folder, what its programs are told, and what is undone when it is over. */
export const scene = { dir: "", env: {} as Record<string, string>, clean: [] as (() => unknown)[] };

/** Gives every test of the file a scene of its own. */
export function eachInItsScene(): void {
  beforeEach(() => {
    const dir = mkdtempSync(join(QUICK_DISK, "dibs-mcp-"));
    const store = { DIBS_STORE: `sqlite:${join(dir, "dibs.db")}`, DIBS_AGENT: "tester", DIBS_ADMIN_KEY: KEY };
    Object.assign(scene, { dir, env: { ...store, DIBS_LOG: "silent" }, clean: [] });
  });
  afterEach(async () => {
    for (const undo of scene.clean.reverse()) await undo();
    rmSync(scene.dir, { recursive: true, force: true });
  });
}

interface Result {
  isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the tests are about
  data: any;
}

function usingTools(client: Client) {
  scene.clean.push(() => client.close());
  const use = async (name: string, args: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Result> => {
    const result = await client.callTool({ name, arguments: args }, { signal });
    return { isError: result.isError === true, data: result.structuredContent };
  };
  return { client, use };
}

/** Starts `dibs up` and resolves with its address once it answers. */
export async function up(port = 0): Promise<{ url: string; port: number; process: ChildProcess }> {
  const child = spawn(process.execPath, [MAIN, "up", "--json", "--port", String(port)], {
    env: { ...process.env, ...scene.env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  scene.clean.push(() => end(child, "SIGKILL"));
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = JSON.parse(line) as { url: string };
    return { url, port: Number(new URL(url).port), process: child };
  }
  throw new Error("The server ended without saying where it listens.");
}

export function end(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  return ended;
}

export async function overHttp(url: string, options = MODERN) {
  const client = new Client({ name: "test", version: "1" }, options);
  const requestInit = { headers: { authorization: `Bearer ${KEY}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return usingTools(client);
}

export async function overStdio(options = MODERN, more: Record<string, string> = {}, args: string[] = [], cwd = ".") {
  const client = new Client({ name: "test", version: "1" }, options);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, "mcp", ...args],
    env: { ...scene.env, ...more },
    cwd,
  });
  await client.connect(transport);
  return { ...usingTools(client), transport };
}

/** The store as it stands, read beside whoever else has it open. */
export async function look() {
  const store = await open({ store: scene.env.DIBS_STORE as string });
  scene.clean.push(() => store.close());
  const identity = { kind: "file", agent: "tester" } as const;
  return {
    newTask: async (content: string) => (await store.call(operations.create_task, { content }, { identity })).body.id,
    task: async (id: string) => (await store.call(operations.get_task, { task_id: id }, { identity })).body,
    sessions: async (state: "open" | "ended") =>
      (await store.call(operations.list_sessions, { state }, { identity })).body,
    openSession: async () => (await store.call(operations.open_session, {}, { identity })).body.id,
  };
}

export async function until(what: string, seconds: number, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Not within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
