import { afterEach, describe, expect, test } from "vitest";
import { StubHttp, type StubOptions } from "../../test/support/stub-http.js";
import { DibsError } from "../contract/errors.js";
import type { Credential } from "./settings.js";

const running: StubHttp[] = [];
afterEach(async () => {
  for (const stub of running.splice(0)) await stub.app.close();
});

/** The surface with an MCP handler that keeps what it was given and answers as told. */
async function start(answer: (request: Request) => Response | Promise<Response>, options: StubOptions = {}) {
  const received: { request: Request; body: string; credential: Credential }[] = [];
  const stub = await StubHttp.start({
    ...options,
    mcp: {
      answer: async (request, credential) => {
        received.push({ request, body: await request.clone().text(), credential });
        return answer(request);
      },
      isHeartbeat: (message) => (message as { method?: string } | undefined)?.method === "heartbeat",
    },
  });
  running.push(stub);
  return { stub, received };
}

const ok = () => Response.json({ jsonrpc: "2.0", id: 1, result: {} });
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
const json = { "content-type": "application/json" };

describe("/mcp", () => {
  test("gives the handler the request as it came, and the credential beside it, not in it", async () => {
    const { stub, received } = await start(ok);
    const headers = { ...json, accept: "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28" };
    const answer = await stub.send("POST", "/mcp", { headers: { ...headers, cookie: "a=b" }, body: CALL });
    expect(answer.json).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect(answer.headers["content-type"]).toBe("application/json");
    const [{ request, body, credential }] = received as [(typeof received)[0]];
    expect({ method: request.method, body, credential }).toEqual({
      method: "POST",
      body: CALL,
      credential: { kind: "key", key: "a-good-key" },
    });
    expect(new URL(request.url).pathname).toBe("/mcp");
    expect(request.headers.get("mcp-protocol-version")).toBe("2026-07-28");
    expect(request.headers.get("accept")).toBe(headers.accept);
    for (const name of ["x-agent-key", "authorization", "cookie"]) expect(request.headers.get(name)).toBeNull();
  });

  test("passes on status, streams and no CORS header", async () => {
    const stream = new Response("event: message\ndata: {}\n\n", {
      status: 200,
      headers: { "content-type": "text/event-stream", "access-control-allow-origin": "*" },
    });
    const { stub } = await start(() => stream);
    const answer = await stub.send("POST", "/mcp", { headers: json, body: CALL });
    expect(answer.text).toBe("event: message\ndata: {}\n\n");
    expect(answer.headers).not.toHaveProperty("access-control-allow-origin");
    const refusing = await start(() => new Response(null, { status: 405, headers: { allow: "POST" } }));
    for (const method of ["GET", "DELETE"]) {
      expect(await refusing.stub.send(method, "/mcp")).toMatchObject({ status: 405, headers: { allow: "POST" } });
    }
  });

  test("leaves malformed JSON to the handler, and refuses nesting and forbidden keys itself", async () => {
    const { stub, received } = await start(ok);
    await stub.send("POST", "/mcp", { headers: json, body: "{" });
    expect(received[0]?.body).toBe("{");
    for (const body of ['{"params":{"__proto__":{}}}', "[".repeat(33) + "]".repeat(33)]) {
      expect((await stub.send("POST", "/mcp", { headers: json, body })).json).toMatchObject({ code: "invalid_input" });
    }
    expect(received).toHaveLength(1);
  });

  test("is reached with a good key only: without one, with a wrong one and from another page nothing is heard", async () => {
    const { stub, received } = await start(ok, {
      answer: ({ caller: { identity } }) => {
        if (identity.kind === "key" && identity.key === "a-good-key") return {};
        throw new DibsError("unauthorized", "Unknown key.", {});
      },
    });
    const statusWith = async (headers: Record<string, string | undefined>) =>
      (await stub.send("POST", "/mcp", { headers: { ...json, ...headers }, body: CALL })).status;
    expect(await statusWith({ "x-agent-key": undefined })).toBe(401);
    expect(await statusWith({ "x-agent-key": "wrong" })).toBe(401);
    expect(await statusWith({ host: "evil.example:4747" })).toBe(403);
    expect(await statusWith({ origin: "https://evil.example" })).toBe(403);
    expect(await statusWith({ origin: "null" })).toBe(403);
    expect(await statusWith({ "content-type": "text/plain" })).toBe(415);
    expect(received).toEqual([]);
    expect(await statusWith({})).toBe(200);
    expect(received).toHaveLength(1);
  });

  test("counts heartbeats apart: a limit of calls never makes leases lapse, nor do heartbeats use it up (R49)", async () => {
    const { stub, received } = await start(ok, { config: { rateLimitPerSecond: 0.001, rateBurst: 3 } });
    const statuses = async (body: string, count = 4) => {
      const got = [];
      for (let nth = 0; nth < count; nth += 1)
        got.push((await stub.send("POST", "/mcp", { headers: json, body })).status);
      return got;
    };
    const beat = '{"jsonrpc":"2.0","id":1,"method":"heartbeat"}';
    expect(await statuses(beat, 1)).toEqual([200]);
    expect(await statuses(CALL)).toEqual([200, 200, 200, 429]);
    expect(await statuses(beat)).toEqual([200, 200, 429, 429]);
    // One limit for each, whatever the way: the interface's own heartbeats are used up, too.
    expect((await stub.send("POST", `/v1/tasks/${"0".repeat(32)}/heartbeat`)).status).toBe(429);
    expect(received).toHaveLength(6);
  });

  test("a fault of the handler is a problem that says nothing of the inside", async () => {
    const { stub } = await start(() => {
      throw new Error("inner text");
    });
    const answer = await stub.send("POST", "/mcp", { headers: json, body: CALL });
    expect(answer.json).toMatchObject({ status: 500, code: "internal" });
    expect(answer.text).not.toContain("inner text");
  });
});
