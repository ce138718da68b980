import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { operationList } from "dibs/contract";
import { describe, expect, test } from "vitest";
import { requiredBody, ServedHttp, UNKNOWN } from "./support/served-http.js";

const http = ServedHttp.forFile();
const { send } = http;

async function agentKey(name: string): Promise<string> {
  return (await send("POST", "/v1/agents", { name })).json.key;
}

describe("who calls", () => {
  test("C71: identity comes from the key alone; naming the holder gives nobody its rights", async () => {
    const [a, b] = [await agentKey("holder"), await agentKey("intruder")];
    const { id } = (await send("POST", "/v1/tasks", { content: "held" })).json;
    const held = (await send("POST", `/v1/tasks/${id}/claim`, {}, { "x-agent-key": a })).json.task;
    for (const action of ["release", "heartbeat", "complete"]) {
      const named = await send("POST", `/v1/tasks/${id}/${action}`, { agent: "holder" }, { "x-agent-key": b });
      expect(named.json).toMatchObject({ code: "invalid_input", fields: [{ field: "agent" }] });
      const proof = { lease_id: held.lease_id, fence: held.fence };
      const stolen = await send("POST", `/v1/tasks/${id}/${action}`, proof, { "x-agent-key": b });
      expect(stolen.json, action).toMatchObject({ status: 409, code: "lease_lost", holder: { agent_name: "holder" } });
    }
    const after = (await send("GET", `/v1/tasks/${id}`)).json;
    expect(after).toMatchObject({ status: "claimed", lease_id: held.lease_id, fence: held.fence });
    expect((await send("POST", `/v1/tasks/${id}/release`, {}, { "x-agent-key": a })).status).toBe(200);
    const history = (await send("GET", `/v1/tasks/${id}/history`)).json as {
      type: string;
      actor: { agent_name: string };
    }[];
    expect(history.map(({ type, actor }) => `${type} ${actor.agent_name}`)).toEqual([
      "task.created admin",
      "task.claimed holder",
      "stale_write.refused intruder",
      "task.released holder",
    ]);
  });

  test("R45: every operation refuses a wrong key and no key alike, and says nothing about which", async () => {
    for (const { method, path, input } of operationList) {
      const url = path.replace(/:\w+/g, UNKNOWN);
      const shape = {
        ...requiredBody(input.shape),
        ...("content" in input.shape && method === "POST" ? { content: "x" } : {}),
      };
      const body =
        method === "GET" || method === "DELETE" ? undefined : { ...shape, ...special[path.split("/v1/")[1] ?? ""] };
      const wrong = await send(method, url, body, { "x-agent-key": "dibs_wrong_key_0123456789" });
      expect({ route: `${method} ${path}`, status: wrong.status, code: wrong.json.code }).toEqual({
        route: `${method} ${path}`,
        status: 401,
        code: "unauthorized",
      });
      expect(wrong.headers["www-authenticate"]).toMatch(/^Bearer/);
    }
    const tools = await send(
      "POST",
      "/mcp",
      { jsonrpc: "2.0", id: 1, method: "tools/list" },
      { "x-agent-key": "wrong" },
    );
    expect(tools.status).toBe(401);
  });

  test("C75: a page of another host or origin reaches nothing, with a good key or not; a program without Origin does", async () => {
    const before = await http.everything();
    for (const [method, path] of [
      ["POST", "/mcp"],
      ["POST", "/v1/tasks/claim"],
      ["GET", "/v1/events"],
      ["GET", "/readyz"],
      ["GET", "/"],
    ] as const) {
      for (const bad of [
        { host: `evil.example:${http.port}` },
        { host: `localhost:${http.port}`, origin: "https://evil.example" },
        { origin: "null" },
      ]) {
        const answer = await send(method, path, method === "POST" ? {} : undefined, bad);
        expect({ path, bad, status: answer.status }).toEqual({ path, bad, status: 403 });
        expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      }
    }
    expect(await http.everything()).toBe(before);
    expect((await send("GET", "/v1/tasks", undefined, { host: `localhost:${http.port}` })).status).toBe(200);
  });

  test("the page signs in by its link once, then reads and writes as the agent, until it signs out", async () => {
    const { origin, host, hash } = new URL(await http.served.newSignInLink());
    const code = hash.replace("#code=", "");
    const page = { "x-agent-key": undefined, host, origin, "sec-fetch-site": "same-origin" };
    const entered = await send("POST", "/v1/sign-in", { code }, page);
    expect(entered.status).toBe(200);
    const cookie = String(entered.headers["set-cookie"]).split(";")[0];
    expect((await send("POST", "/v1/sign-in", { code }, page)).status).toBe(401);
    const me = await send("GET", "/v1/agent/me", undefined, { ...page, cookie });
    expect(me.json).toMatchObject({ id: entered.json.agent_id, role: "admin" });
    expect((await send("POST", "/v1/tasks", { content: "from the page" }, { ...page, cookie })).status).toBe(201);
    const bare = await send("POST", "/v1/tasks", { content: "from elsewhere" }, { "x-agent-key": undefined, cookie });
    expect(bare.status).toBe(403);
    const left = await send("POST", "/v1/sign-out", undefined, { ...page, cookie });
    expect(left.headers["set-cookie"]?.[0]).toContain("Max-Age=0");
  });
});

/** Bodies of operations that want more than the fields of the others. */
const special: Record<string, object> = {
  "tasks/batch": { tasks: [{ content: "x" }] },
  agents: { name: "new" },
  projects: { key: "new" },
  "notices/ack": { ids: [UNKNOWN] },
  heads: { branch: "main", commit: "a".repeat(40) },
};

test("a context is sent with its own version as ETag, which If-Match holds a change to", async () => {
  const { id } = (await send("POST", "/v1/tasks", { content: "x", context: { a: 1 } })).json;
  const url = `/v1/tasks/${id}/context`;
  const read = await send("GET", url);
  expect(read).toMatchObject({ status: 200, headers: { etag: '"1"' }, json: { context: { a: 1 }, version: 1 } });
  const change = (version: string) => send("PATCH", url, { context: { b: 2 } }, { "if-match": version });
  expect(await change('"1"')).toMatchObject({
    status: 200,
    headers: { etag: '"2"' },
    json: { context: { a: 1, b: 2 } },
  });
  expect(await change('"1"')).toMatchObject({ status: 412, json: { code: "version_mismatch", version: 2 } });
  expect((await send("GET", `${url}?version=1`)).json.context).toEqual({ a: 1 });
});

describe("a claim whose client is gone (R21)", () => {
  /** Sends a claim; `leave` breaks the connection. */
  function claiming(key: string, body: object) {
    const text = JSON.stringify(body);
    const headers = { "x-agent-key": key, "content-type": "application/json", "content-length": text.length };
    const client = httpRequest({
      port: http.port,
      host: "127.0.0.1",
      path: "/v1/tasks/claim",
      method: "POST",
      headers,
    });
    client.on("error", () => {}).end(text);
    const leave = () => {
      client.destroy();
    };
    return { client, leave };
  }

  test("gets nothing while it waits: what comes goes to the next", async () => {
    const labels = ["comes later"];
    const { client, leave } = claiming(await agentKey("impatient"), { labels, wait_seconds: 60 });
    await once(client, "finish");
    // The server takes what came earlier first: after two calls there and back the claim has looked, and waits.
    for (let call = 0; call < 2; call += 1) await send("POST", "/v1/projects", { key: `between-${call}` });
    leave();
    const { id } = (await send("POST", "/v1/tasks", { content: "wanted", labels })).json;
    const next = await send("POST", "/v1/tasks/claim", { labels, wait_seconds: 20 });
    expect(next.json.task.id).toBe(id);
  });

  test("gives back what was granted when it took only a part of the answer; no attempt is counted", async () => {
    const labels = ["heavy"];
    const { id: agentId, key } = (await send("POST", "/v1/agents", { name: "half-deaf" })).json;
    const held = async () => (await send("GET", `/v1/claims?agent_id=${agentId}`)).json.length;
    // More than the network keeps for a reader that doesn't read.
    for (let count = 0; count < 20; count += 1) {
      await send("POST", "/v1/tasks", { content: "heavy", labels, description: "x".repeat(900_000) });
    }
    const { client, leave } = claiming(key, { labels, count: 20 });
    await once(client, "response");
    expect(await held()).toBe(20);
    leave();
    await until(async () => (await held()) === 0);
    const [task] = (await send("GET", "/v1/tasks?label=heavy&limit=1")).json;
    expect(task).toMatchObject({ status: "open", ready: true, attempts: 0, fence: 1 });
    const history = (await send("GET", `/v1/tasks/${task.id}/history`)).json;
    expect(history.at(-1)).toMatchObject({ type: "task.released", data: { reason: "undelivered" } });
  });
});

/** Asks again and again until it is so; the test's own time limit ends it. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
}
