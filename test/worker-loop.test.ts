import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScratchFolder } from "./support/scratch-folder.js";
import { ServerProcess } from "./support/server-process.js";

const WORKER = fileURLToPath(new URL("../examples/worker.sh", import.meta.url));

let folder: ScratchFolder;
let server: ServerProcess;
beforeAll(async () => {
  folder = new ScratchFolder();
  server = await ServerProcess.start({ store: `sqlite:${folder.file("dibs.db")}` });
});
afterAll(async () => {
  await server.stop();
  folder.remove();
});

async function agentKey(name: string): Promise<string> {
  return (await server.client().post("/v1/agents", { name })).body.key;
}

function worker(key: string, env: Record<string, string>, command: readonly string[]) {
  const child = spawn("bash", [WORKER, ...command], {
    cwd: folder.path,
    env: { PATH: process.env.PATH, DIBS_URL: server.url, DIBS_KEY: key, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdout.resume();
  const finished = once(child, "close").then(([exit]) => ({ exit: exit as number, stderr }));
  return { child, finished };
}

describe("the worker in curl and jq (examples/worker.sh)", () => {
  test("five copies with five keys do 200 tasks, each exactly once, and end when the queue is empty (R15)", async () => {
    const tasks = Array.from({ length: 200 }, (_, at) => ({ content: `invoice ${at}`, labels: ["invoices"] }));
    await server.client().post("/v1/tasks", { content: "for somebody else", labels: ["other"] });
    const made: { id: string }[] = (await server.client().post("/v1/tasks/batch", { tasks })).body;

    const keys = await Promise.all([1, 2, 3, 4, 5].map((nth) => agentKey(`worker-${nth}`)));
    const env = { LABELS: '["invoices"]', LEASE_SECONDS: "300", WHEN_EMPTY: "exit" };
    const command = ["sh", "-c", `sed 's/.*"id":"\\([0-9a-f]*\\)".*/\\1/' | tee -a done.log`];
    const ended = await Promise.all(keys.map((key) => worker(key, env, command).finished));
    expect(ended).toEqual(keys.map(() => ({ exit: 0, stderr: "" })));

    const done = readFileSync(folder.file("done.log"), "utf8").trim().split("\n");
    expect(done.sort()).toEqual(made.map(({ id }) => id).sort());
    const after = (await server.client().get("/v1/tasks?label=invoices&limit=1000")).body;
    for (const task of after) expect(task).toMatchObject({ status: "completed", attempts: 1, result: `${task.id}\n` });
    expect(new Set(after.map((task: { closed_by_agent_id: string }) => task.closed_by_agent_id)).size).toBe(5);
    expect((await server.client().get("/v1/tasks?label=other")).body).toMatchObject([{ status: "open" }]);
  }, 300_000);

  test("a command that fails gives its task back as an attempt; one that is stopped, without (R18, R20)", async () => {
    const key = await agentKey("worker-6");
    const made = { content: "hopeless", labels: ["bad"], max_attempts: 2 };
    const { id } = (await server.client().post("/v1/tasks", made)).body;
    const env = { LABELS: '["bad"]', WHEN_EMPTY: "exit" };
    await worker(key, env, ["false"]).finished;
    const failed = (await server.client().get(`/v1/tasks/${id}`)).body;
    expect(failed).toMatchObject({ status: "failed", attempts: 2 });

    const long = (await server.client().post("/v1/tasks", { content: "long", labels: ["bad"] })).body;
    const { child, finished } = worker(key, env, ["sleep", "600"]);
    while ((await server.client().get(`/v1/tasks/${long.id}`)).body.status !== "claimed");
    child.kill("SIGTERM");
    expect((await finished).exit).toBe(130);
    const released = (await server.client().get(`/v1/tasks/${long.id}`)).body;
    expect(released).toMatchObject({ status: "open", handoff_note: "The worker was stopped." });
  }, 60_000);

  test("a key that is refused ends it, saying why", async () => {
    const { exit, stderr } = await worker("no-such-key", {}, ["true"]).finished;
    expect(exit).toBe(1);
    expect(stderr).toMatch(/^unauthorized: /);
  });
});
