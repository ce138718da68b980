import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { eachInItsScene, end, GENERATIONS, MODERN, overHttp, overStdio, until, up } from "./support/mcp-programs.js";

eachInItsScene();

describe.each(GENERATIONS)("%s", (_name, options) => {
  test.each(["http", "stdio"])("works the whole loop over %s", async (kind) => {
    const { use, client } = kind === "http" ? await overHttp((await up()).url, options) : await overStdio(options);
    expect((await client.listTools()).tools).toHaveLength(12);
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
