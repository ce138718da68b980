import { readConfig, serve } from "dibs/server";
import { expect, onTestFinished, test } from "vitest";
import { ScratchFolder } from "./support/scratch-folder.js";
import { sendRaw } from "./support/stub-http.js";

const KEY = "admin-key-for-tests-0123456789";

test("an agent whose calls over MCP are limited keeps its lease over MCP all the same (R49)", async () => {
  const folder = new ScratchFolder();
  const limits = { DIBS_RATE_LIMIT: 1, DIBS_RATE_BURST: 20 };
  const store = { DIBS_STORE: `sqlite:${folder.file("dibs.db")}`, DIBS_PORT: 0 };
  const served = await serve(readConfig({ ...store, ...limits, DIBS_ADMIN_KEY: KEY, DIBS_LOG: "silent" }));
  onTestFinished(async () => {
    await served.stop();
    folder.remove();
  });
  const port = Number(new URL(served.url).port);
  const use = async (name: string, given: object = {}) => {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } };
    const { status, text } = await sendRaw(port, "POST", "/mcp", { "x-agent-key": KEY }, body);
    const said = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
    return { status, data: said.result?.structuredContent };
  };
  await use("create_tasks", { tasks: [{ content: "long work" }] });
  const { task } = (await use("claim_task")).data;

  const calls = await Promise.all(Array.from({ length: 60 }, () => use("who_holds")));
  expect(calls.map(({ status }) => status)).toContain(429);
  const { status, data } = await use("heartbeat_task", { task_id: task.id, lease_id: task.lease_id });
  expect({ status, lease: data.task.lease_id }).toEqual({ status: 200, lease: task.lease_id });
});
