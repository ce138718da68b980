import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { open } from "dibs";
import { operationList } from "dibs/contract";
import { readConfig, type Served, serve } from "dibs/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScratchFolder } from "./support/scratch-folder.js";
import { type RawAnswer, sendRaw } from "./support/stub-http.js";

const ADMIN_KEY = "admin-key-for-tests-0123456789";
const UNKNOWN = "0123456789abcdef0123456789abcdef";
const folder = new ScratchFolder();
let served: Served;
let port: number;
let foreign: { key: string; taskId: string };

beforeAll(async () => {
  const store = `sqlite:${folder.file("dibs.db")}`;
  const limits = { DIBS_RATE_LIMIT: 1_000_000, DIBS_RATE_BURST: 1_000_000 };
  served = await serve(
    readConfig({ DIBS_STORE: store, DIBS_PORT: 0, DIBS_ADMIN_KEY: ADMIN_KEY, DIBS_LOG: "silent", ...limits }),
  );
  port = Number(new URL(served.url).port);
  const beside = await open({ store });
  const { key } = await beside.createWorkspace("elsewhere");
  await beside.close();
  const task = await send("POST", "/v1/tasks", { content: "not yours" }, { "x-agent-key": key });
  foreign = { key, taskId: task.json.id };
});
afterAll(async () => {
  await served.stop();
  folder.remove();
});

function send(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string | undefined> = {},
): Promise<RawAnswer> {
  return sendRaw(port, method, path, { "x-agent-key": ADMIN_KEY, ...headers }, body);
}

async function agentKey(name: string): Promise<string> {
  return (await send("POST", "/v1/agents", { name })).json.key;
}

/** The text of everything a writer could have left half written. */
async function everything(): Promise<string> {
  const lists = ["/v1/tasks?limit=1000", "/v1/claims", "/v1/projects", "/v1/agents"];
  return (await Promise.all(lists.map((path) => send("GET", path))))
    .map(({ text }) => text.replace(/"\w+_ms":\d+/g, ""))
    .join("\n");
}

describe("bad input gets a problem that names the field and the limit, and changes nothing", () => {
  let taskId: string;
  beforeAll(async () => {
    taskId = (await send("POST", "/v1/tasks", { content: "a task" })).json.id;
  });

  const lease = (seconds: unknown) => ["POST", "/v1/tasks/claim", { lease_seconds: seconds }] as const;
  const task = (fields: object) => ["POST", "/v1/tasks", { content: "x", ...fields }] as const;
  const cases: Record<string, [readonly [string, string, unknown?], number, string, RegExp]> = {
    "malformed JSON": [["POST", "/v1/tasks", '{"content":'], 400, "invalid_input", /position 11/],
    "a list for a body": [["POST", "/v1/tasks", "[]"], 400, "invalid_input", /object/],
    "a lease of 29 s": [lease(29), 400, "invalid_input", /lease_seconds.*30\.\.3600/],
    "a lease of 3601 s": [lease(3601), 400, "invalid_input", /lease_seconds.*30\.\.3600/],
    "a lease of 0 s (C79)": [lease(0), 400, "invalid_input", /lease_seconds.*30\.\.3600/],
    "a lease of -5 s (C79)": [lease(-5), 400, "invalid_input", /lease_seconds.*30\.\.3600/],
    "a lease of half a second more (C79)": [lease(300.5), 400, "invalid_input", /lease_seconds.*whole number/],
    'a lease of "300" (C79)': [lease("300"), 400, "invalid_input", /lease_seconds.*whole number/],
    "a lease of 1e12 s (C79)": [lease(1e12), 400, "invalid_input", /lease_seconds.*30\.\.3600/],
    "a lease beyond all numbers (C79)": [
      ["POST", "/v1/tasks/claim", '{"lease_seconds":1e999}'],
      400,
      "invalid_input",
      /lease_seconds/,
    ],
    "an unknown field (C71)": [task({ agent: "A" }), 400, "invalid_input", /agent/],
    "an unknown field on a claim (C71)": [
      ["POST", "/v1/tasks/claim", { agent_id: UNKNOWN }],
      400,
      "invalid_input",
      /agent_id/,
    ],
    "an unknown field in the query": [["GET", "/v1/tasks?statsu=open"], 400, "invalid_input", /statsu/],
    "a number for a title": [task({ content: 5 }), 400, "invalid_input", /content/],
    "text for a list": [task({ labels: "a" }), 400, "invalid_input", /labels.*list/],
    "no title": [["POST", "/v1/tasks"], 400, "invalid_input", /content.*required/],
    "an empty title": [task({ content: "" }), 400, "invalid_input", /content/],
    "a title of control characters": [
      task({ content: "\u0007\u001b\u0085" }),
      400,
      "invalid_input",
      /content.*visible/,
    ],
    "a title of zero-width characters (C82)": [
      task({ content: "\u200b\u2060" }),
      400,
      "invalid_input",
      /content.*visible/,
    ],
    "a title of 2,001 characters": [task({ content: "x".repeat(2001) }), 400, "invalid_input", /content.*2000/],
    "NUL in a title (R60)": [task({ content: "a\0b" }), 400, "invalid_input", /content.*NUL/],
    "NUL deep in a context (R60)": [
      task({ context: { a: [{ b: "\0" }] } }),
      400,
      "invalid_input",
      /context\.a\.0\.b.*NUL/,
    ],
    "a lone surrogate (R60, C80)": [
      ["POST", "/v1/tasks", '{"content":"a\\ud800b"}'],
      400,
      "invalid_input",
      /content.*surrogate/,
    ],
    "a lone surrogate as a key (R60)": [
      ["POST", "/v1/tasks", '{"content":"a","context":{"\\udfff":1}}'],
      400,
      "invalid_input",
      /surrogate/,
    ],
    "nesting of 33 levels": [
      ["POST", "/v1/tasks", `{"content":"x","context":{"a":${"[".repeat(31)}${"]".repeat(31)}}}`],
      400,
      "invalid_input",
      /32 levels/,
    ],
    "a key that names a prototype": [
      ["POST", "/v1/tasks", '{"content":"x","__proto__":{"priority":4}}'],
      400,
      "invalid_input",
      /__proto__/,
    ],
    "a body of 2 MiB (C76)": [task({ description: "x".repeat(2_097_152) }), 413, "too_large", /DIBS_BODY_LIMIT/],
    "1,001 labels (R49)": [
      task({ labels: Array.from({ length: 1001 }, (_, at) => `l${at}`) }),
      400,
      "invalid_input",
      /labels.*1,000/,
    ],
    "a priority of 5": [task({ priority: 5 }), 400, "invalid_input", /priority.*1\.\.4/],
    "a time without a zone": [task({ not_before: "2026-01-31T12:00:00" }), 400, "invalid_input", /not_before.*zone/],
    "a limit of 0": [["GET", "/v1/tasks?limit=0"], 400, "invalid_input", /limit.*1\.\.1000/],
    "a limit in words": [["GET", "/v1/tasks?limit=ten"], 400, "invalid_input", /limit/],
    "a cursor of one's own": [["GET", "/v1/tasks?cursor=abc"], 400, "invalid_cursor", /cursor/],
    "an id that is none": [["GET", "/v1/tasks/42"], 400, "invalid_input", /task_id.*32 hexadecimal/],
    "an unknown id": [["POST", `/v1/tasks/${UNKNOWN}/claim`], 404, "not_found", /./],
    "an unknown project": [["GET", "/v1/tasks?project_id=nowhere"], 404, "not_found", /./],
    "a batch with one wrong task": [
      ["POST", "/v1/tasks/batch", { tasks: [{ content: "good" }, { content: "" }] }],
      400,
      "invalid_input",
      /tasks\.1\.content/,
    ],
  };

  test.each(Object.entries(cases))("%s", async (_what, [[method, path, body], status, code, words]) => {
    const before = await everything();
    const answer = await send(
      method,
      path,
      body,
      typeof body === "string" ? { "content-type": "application/json" } : {},
    );
    expect({ status: answer.status, code: answer.json.code }).toEqual({ status, code });
    expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
    expect(answer.json.detail).toMatch(words);
    expect(answer.json.error).toBe(answer.json.detail);
    if (code === "invalid_input") expect(answer.json.fields[0].message).toBeTruthy();
    expect(await everything()).toBe(before);
  });

  test("a malformed If-Match is refused, a stale one too, and a good one is honoured", async () => {
    const path = `/v1/tasks/${taskId}`;
    const { etag } = (await send("GET", path)).headers;
    expect(etag).toMatch(/^"\d+"$/);
    expect((await send("PATCH", path, { priority: 3 }, { "if-match": "1" })).json.code).toBe("invalid_input");
    expect((await send("PATCH", path, { priority: 3 }, { "if-match": '"999"' })).json.code).toBe("version_mismatch");
    const changed = await send("PATCH", path, { priority: 3 }, { "if-match": etag });
    expect(changed.json.priority).toBe(3);
    expect(changed.headers.etag).toBe(`"${changed.json.version}"`);
    expect(changed.headers.etag).not.toBe(etag);
  });

  test("another workspace's ids answer exactly like unknown ones (R47)", async () => {
    for (const { method, path, input } of operationList) {
      if (!path.includes(":task_id")) continue;
      const body = method === "GET" || method === "DELETE" ? undefined : requiredBody(input.shape);
      const [theirs, nobodys] = await Promise.all(
        [foreign.taskId, UNKNOWN].map((id) => send(method, path.replace(":task_id", id), body)),
      );
      expect(theirs?.status, `${method} ${path}`).toBe(404);
      const same = (answer: RawAnswer | undefined, id: string) => answer?.text.replaceAll(id, "ID");
      expect(same(theirs, foreign.taskId)).toBe(same(nobodys, UNKNOWN));
    }
  });
});

/** A body that lacks nothing an operation on a task wants. */
function requiredBody(shape: Readonly<Record<string, unknown>>): object {
  const good: Record<string, unknown> = {
    body: "text",
    url: "https://example.com/",
    state: "working",
    reason: "because",
  };
  return Object.fromEntries(Object.entries(good).filter(([name]) => name in shape));
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
    const before = await everything();
    for (const [method, path] of [
      ["POST", "/mcp"],
      ["POST", "/v1/tasks/claim"],
      ["GET", "/v1/events"],
      ["GET", "/readyz"],
      ["GET", "/"],
    ] as const) {
      for (const bad of [
        { host: `evil.example:${port}` },
        { host: `localhost:${port}`, origin: "https://evil.example" },
        { origin: "null" },
      ]) {
        const answer = await send(method, path, method === "POST" ? {} : undefined, bad);
        expect({ path, bad, status: answer.status }).toEqual({ path, bad, status: 403 });
        expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      }
    }
    expect(await everything()).toBe(before);
    expect((await send("GET", "/v1/tasks", undefined, { host: `localhost:${port}` })).status).toBe(200);
  });

  test("the page signs in by its link once, then reads and writes as the agent, until it signs out", async () => {
    const { origin, host, hash } = new URL(await served.newSignInLink());
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
};

describe("a claim whose client is gone (R21)", () => {
  /** Sends a claim; `leave` breaks the connection. */
  function claiming(key: string, body: object) {
    const text = JSON.stringify(body);
    const headers = { "x-agent-key": key, "content-type": "application/json", "content-length": text.length };
    const client = httpRequest({ port, host: "127.0.0.1", path: "/v1/tasks/claim", method: "POST", headers });
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
