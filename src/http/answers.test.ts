import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type Asked, StubHttp, type StubOptions, sendBytes } from "../../test/support/stub-http.js";
import { DibsError, ERROR_CODES, ERRORS } from "../contract/errors.js";
import type { TextAnswer } from "../contract/operation.js";

const ID = "0123456789abcdef0123456789abcdef";
const KEY = "dibs_w_canary-0123456789";
const running: StubHttp[] = [];
afterEach(async () => {
  for (const stub of running.splice(0)) await stub.app.close();
});

async function start(options: StubOptions = {}): Promise<StubHttp> {
  const stub = await StubHttp.start(options);
  running.push(stub);
  return stub;
}

/** A log that keeps every line as the text it would be. */
function keptLog() {
  const lines: string[] = [];
  const keep = (fields: Record<string, unknown>, message: string) => {
    const { err, ...rest } = fields;
    lines.push(JSON.stringify({ ...rest, message, err: String((err as Error)?.stack ?? err) }));
  };
  return { lines, log: { error: keep, warn: keep } };
}

describe("an answer", () => {
  test("is the engine's text, byte for byte, with its status and its clock", async () => {
    const text = '{"b":1 ,"a":"é\\u202e"}';
    const stub = await start({ answer: () => ({ text, status: 202, serverNowMs: 1_700_000_000_007 }) });
    const answer = await stub.send("POST", `/v1/tasks/${ID}/cancel`);
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 202, text });
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.headers["server-now"]).toBe("2023-11-14T22:13:20.007Z");
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.headers).not.toHaveProperty("link");
    expect(answer.headers).not.toHaveProperty("dibs-notices");
    expect(answer.headers).not.toHaveProperty("idempotency-replayed");
  });

  test("says in headers what is no part of the record: notices, replay, next page", async () => {
    const stub = await start({ answer: () => ({ text: "[]", notices: 3, replayed: true, nextCursor: "c+1/=" }) });
    const { headers } = await stub.send("GET", "/api/tasks?label=a%20b&cursor=old&limit=5");
    expect(headers["dibs-notices"]).toBe("3");
    expect(headers["idempotency-replayed"]).toBe("true");
    expect(headers.link).toBe('</api/tasks?label=a+b&cursor=c%2B1%2F%3D&limit=5>; rel="next"');
  });

  test("a task carries its version as ETag, and nothing else is taken for one", async () => {
    const texts = ['{"id":"x","version":7}', '{"result":{"version":8}}', '{"version":9,"id":"x"}'];
    const stub = await start({ answer: () => ({ text: texts.shift() as string }) });
    const tags = [];
    for (let count = 0; count < 3; count += 1) tags.push((await stub.send("GET", `/v1/tasks/${ID}`)).headers.etag);
    expect(tags).toEqual(['"7"', undefined, undefined]);
  });

  test("to HEAD has the headers of GET and no body", async () => {
    const stub = await start({ answer: () => ({ text: '{"a":1}' }) });
    const answer = await stub.send("HEAD", `/v1/tasks/${ID}`);
    expect({ status: answer.status, text: answer.text, length: answer.headers["content-length"] }).toEqual({
      status: 200,
      text: "",
      length: "7",
    });
  });
});

describe("the caller", () => {
  const seen = (stub: StubHttp) => stub.asked.at(-1)?.caller;

  test.each([
    [{ authorization: `Bearer ${KEY}`, "x-agent-key": undefined }],
    [{ authorization: `bearer   ${KEY} `, "x-agent-key": undefined }],
    [{ "x-agent-key": KEY }],
    [{ authorization: `Bearer ${KEY}`, "x-agent-key": "another" }],
    [{ authorization: "Basic dXNlcjpwYXNz", "x-agent-key": KEY }],
    [{ "x-agent-key": KEY, cookie: "dibs_console=token" }],
  ])("is whoever has the key in %j", async (headers) => {
    const stub = await start();
    await stub.send("GET", "/v1/tasks", { headers });
    expect(seen(stub)?.identity).toEqual({ kind: "key", key: KEY });
  });

  test("may have a key of any text, sent as UTF-8", async () => {
    const stub = await start();
    const key = "schlüssel-mit-ümlauten-é-24";
    await stub.send("GET", "/v1/tasks", { headers: { "x-agent-key": Buffer.from(key).toString("latin1") } });
    expect(seen(stub)?.identity).toEqual({ kind: "key", key });
  });

  test.each([
    [{ authorization: "Basic dXNlcjpwYXNz", "x-agent-key": undefined }],
    [{ authorization: "Bearer ", "x-agent-key": undefined }],
    [{ "x-agent-key": "" }],
    [{ "x-agent-key": undefined, cookie: "other=1; dibs_console=" }],
    [{ "x-agent-key": undefined, cookie: "xdibs_console=token" }],
  ])("without a usable key (%j) gets 401 and is told how to send one", async (headers) => {
    const stub = await start();
    const answer = await stub.send("GET", "/v1/tasks", { headers });
    expect(answer.json).toMatchObject({ status: 401, code: "unauthorized" });
    expect(answer.headers["www-authenticate"]).toMatch(/^Bearer/);
    expect(answer.json.detail).toContain("Authorization: Bearer KEY");
    expect(stub.asked).toEqual([]);
  });

  test("C71: is never who the body, the query or a forwarding header says", async () => {
    const stub = await start();
    const headers = { "x-agent-key": KEY, "x-forwarded-for": "127.0.0.1", "x-forwarded-user": "admin", from: "admin" };
    await stub.send("POST", "/v1/tasks/claim", {
      headers,
      body: { agent: "A", agent_id: ID, identity: { kind: "file" } },
    });
    expect(seen(stub)?.identity).toEqual({ kind: "key", key: KEY });
    // What isn't a field of the call goes on as input, where the engine refuses it by name.
    expect(stub.lastInput).toEqual({ agent: "A", agent_id: ID, identity: { kind: "file" } });
  });

  test("names session, idempotency key and version in headers", async () => {
    const stub = await start();
    const headers = { "x-dibs-session": ID, "idempotency-key": "k1", "if-match": '"5"' };
    await stub.send("PATCH", `/v1/tasks/${ID}`, { headers, body: {} });
    expect(seen(stub)).toMatchObject({ sessionId: ID, idempotencyKey: "k1", ifVersion: 5 });
    await stub.send("GET", "/v1/tasks", {
      headers: { "idempotency-key": "k1", "if-match": "*", "x-dibs-session": "" },
    });
    expect(seen(stub)).toMatchObject({ sessionId: undefined, idempotencyKey: undefined, ifVersion: undefined });
  });

  test.each([
    ["If-Match", "5"],
    ["If-Match", 'W/"5"'],
    ["If-Match", '"5", "6"'],
    ["If-Match", '"-1"'],
    ["If-Match", '"99999999999999999999"'],
    ["If-Match", ""],
    ["Idempotency-Key", ""],
    ["Idempotency-Key", "k".repeat(256)],
  ])("is refused with a malformed %s: %s (R59)", async (name, value) => {
    const stub = await start();
    const answer = await stub.send("PATCH", `/v1/tasks/${ID}`, { headers: { [name]: value }, body: {} });
    expect(answer.json).toMatchObject({ status: 400, code: "invalid_input", fields: [{ field: name }] });
    expect(stub.asked).toEqual([]);
  });

  test("may use an idempotency key of 255 characters (R59)", async () => {
    const stub = await start();
    const key = "k".repeat(255);
    await stub.send("POST", "/v1/tasks/claim", { headers: { "idempotency-key": key } });
    expect(seen(stub)?.idempotencyKey).toBe(key);
  });
});

describe("a refusal", () => {
  test.each(ERROR_CODES.filter((code) => code !== "internal"))(
    "%s becomes a problem with its own status",
    async (code) => {
      const details = { fields: [], holder: { agent_name: "a" }, next: ["wait"], setting: "s", limit: 1 };
      const stub = await start({
        answer: () => {
          throw new DibsError(code, "What to do next.", details as never);
        },
      });
      const answer = await stub.send("POST", `/v1/tasks/${ID}/claim`);
      expect(answer.status).toBe(ERRORS[code].status);
      expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
      expect(answer.json).toMatchObject({
        status: answer.status,
        code,
        detail: "What to do next.",
        error: "What to do next.",
      });
      expect(answer.json).toMatchObject({
        type: expect.stringContaining(code),
        title: ERRORS[code].meaning,
        next: ["wait"],
      });
      const waits = [429, 503].includes(answer.status);
      expect(answer.headers["retry-after"]).toBe(waits ? "1" : undefined);
      expect(answer.headers["www-authenticate"] !== undefined).toBe(answer.status === 401);
    },
  );

  test("of something unforeseen says only the request's id, and the log says the cause once, without keys or bodies", async () => {
    const { lines, log } = keptLog();
    const faults = [new Error("SELECT secret FROM keys"), new DibsError("internal", "inner text", {}), "thrown text"];
    const stub = await start({
      log,
      answer: () => {
        throw faults.shift();
      },
    });
    for (let count = 1; count <= 3; count += 1) {
      const answer = await stub.send("POST", "/v1/tasks", {
        headers: { "x-agent-key": KEY },
        body: { content: "body-canary" },
      });
      expect(answer.json).toMatchObject({ status: 500, code: "internal" });
      expect(answer.json.detail).toContain(answer.headers["x-request-id"]);
      expect(answer.text).not.toMatch(/SELECT|inner text|thrown text|stack|\.ts/);
      expect(lines).toHaveLength(count);
      expect(lines.at(-1)).toContain(answer.headers["x-request-id"]);
      expect(lines.at(-1)).toContain("/v1/tasks");
    }
    expect(lines[0]).toContain("SELECT secret FROM keys");
    expect(lines.join()).not.toMatch(/canary/);
  });

  test("of a good call's kind is never logged", async () => {
    const { lines, log } = keptLog();
    const stub = await start({ log });
    await stub.send("GET", "/v1/nothing");
    await stub.send("GET", "/v1/tasks", { headers: { "x-agent-key": undefined } });
    await stub.send("POST", "/v1/tasks", { headers: { "content-type": "text/plain" }, body: "x" });
    expect(lines).toEqual([]);
  });

  test("of an unknown route names it and the reference, but nothing of its query", async () => {
    const stub = await start();
    for (const [method, path] of [
      ["GET", "/v1/task"],
      ["PUT", "/v1/tasks/claim/now"],
      ["POST", "/mcp"],
      ["OPTIONS", "/v1/tasks"],
      ["GET", "/favicon.ico"],
    ] as const) {
      const answer = await stub.send(method, `${path}?key=canary`);
      expect(answer.json).toMatchObject({ status: 404, code: "not_found" });
      expect(answer.json.detail).toContain(`${method} ${path}`);
      expect(answer.json.detail).toContain("/docs");
      expect(answer.text).not.toContain("canary");
    }
  });

  test("of malformed JSON is invalid_input with the place, not a fault (C58)", async () => {
    const stub = await start();
    const headers = { "content-type": "application/json" };
    const answer = await stub.send("POST", "/v1/tasks", { headers, body: '{"content": "a",}' });
    expect(answer.json).toMatchObject({ status: 400, code: "invalid_input", fields: [{ field: "(body)" }] });
    expect(answer.json.detail).toContain("position 16");
  });

  test("of a body over the limit is too_large and names the limit and the setting, announced or not (R49)", async () => {
    const stub = await start({ config: { bodyLimitBytes: 2048 } });
    const exact = { context: { pad: "" } };
    exact.context.pad = "x".repeat(2048 - JSON.stringify(exact).length);
    expect((await stub.send("POST", "/v1/tasks", { body: exact })).status).toBe(200);
    exact.context.pad += "x";
    for (const headers of [{}, { "transfer-encoding": "chunked" }]) {
      const answer = await stub.send("POST", "/v1/tasks", { headers, body: exact });
      expect(answer.json).toMatchObject({ status: 413, code: "too_large", limit: 2048 });
      expect(answer.json.detail).toContain("DIBS_BODY_LIMIT");
    }
    expect(stub.asked).toHaveLength(1);
  });

  test("of too many calls says when to come again, and heartbeats still pass (R49)", async () => {
    const stub = await start({ config: { rateLimitPerSecond: 1, rateBurst: 3 } });
    const statuses = [];
    for (let call = 0; call < 3; call += 1) statuses.push((await stub.send("POST", "/v1/tasks/claim")).status);
    const refused = await stub.send("POST", "/v1/tasks/claim");
    expect([...statuses, refused.status]).toEqual([200, 200, 200, 429]);
    expect(refused.headers["retry-after"]).toBe("1");
    expect(refused.json).toMatchObject({ code: "rate_limited", setting: "DIBS_RATE_LIMIT", limit: 1 });
    expect((await stub.send("POST", `/v1/tasks/${ID}/heartbeat`)).status).toBe(200);
    expect((await stub.send("POST", `/api/sessions/${ID}/heartbeat`)).status).toBe(200);
    expect((await stub.send("POST", "/v1/tasks/claim", { headers: { "x-agent-key": "another" } })).status).toBe(200);
  });

  test("of wrong keys turns into 429 when they keep coming, while good keys go on", async () => {
    const stub = await start({
      answer: ({ caller: { identity } }) => {
        if (identity.kind === "key" && identity.key.startsWith("wrong"))
          throw new DibsError("unauthorized", "Unknown key.", {});
        return {};
      },
    });
    expect((await stub.send("GET", "/v1/tasks")).status).toBe(200);
    const statuses = new Set<number>();
    for (let call = 0; call < 150; call += 1) {
      statuses.add((await stub.send("GET", "/v1/tasks", { headers: { "x-agent-key": `wrong-${call}` } })).status);
    }
    expect([...statuses].sort()).toEqual([401, 429]);
    expect((await stub.send("GET", "/v1/tasks")).status).toBe(200);
  });

  test.each([
    ["garbage\r\n\r\n", 400, "invalid_input"],
    ["GET / HTTP/1.1\r\nHost: localhost\r\nBad Header\r\n\r\n", 400, "invalid_input"],
    [`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 413, "too_large"],
    [
      "POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
      400,
      "invalid_input",
    ],
  ])("of what is not HTTP is a problem too, and closes the connection", async (bytes, status, code) => {
    const stub = await start();
    const [head, body] = (await sendBytes(stub.port, bytes)).split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toContain("content-type: application/problem+json");
    expect(JSON.parse(body as string)).toMatchObject({ status, code });
  });
});

describe("a client that goes away", () => {
  /** A claim whose answer the test holds back: the engine's side, the client's, and the server's end of the wire. */
  async function heldClaim(text = "{}") {
    const stub = await StubHttp.start({ answer: (asked) => engine(asked) });
    running.push(stub);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let engine: (asked: Asked) => Promise<Partial<TextAnswer>> = async () => ({});
    const arrived = new Promise<Asked>((resolve) => {
      engine = async (asked) => {
        resolve(asked);
        await released;
        return { text };
      };
    });
    const connected = once(stub.app.server, "connection");
    const headers = { "x-agent-key": KEY };
    const client = httpRequest({
      port: stub.port,
      host: "127.0.0.1",
      path: "/v1/tasks/claim",
      method: "POST",
      headers,
    });
    client.on("error", () => {}).end();
    const { caller } = await arrived;
    const [socket] = (await connected) as [Socket];
    return { caller, client, socket, release };
  }

  test("aborts the signal while the engine works", async () => {
    const { caller, client, release } = await heldClaim();
    const signal = caller.signal as AbortSignal;
    expect(signal.aborted).toBe(false);
    const aborted = once(signal, "abort");
    client.destroy();
    await aborted;
    release();
  });

  test("aborts the signal also for an engine that asks only after the connection is gone", async () => {
    const { caller, client, socket, release } = await heldClaim();
    client.destroy();
    await once(socket, "close");
    expect(caller.signal?.aborted).toBe(true);
    release();
  });

  test("aborts the signal when the answer was sent but not wholly taken", async () => {
    const { caller, client, release } = await heldClaim(`"${"x".repeat(50_000_000)}"`);
    const signal = caller.signal as AbortSignal;
    const answered = once(client, "response");
    release();
    await answered;
    expect(signal.aborted).toBe(false);
    const aborted = once(signal, "abort");
    client.destroy();
    await aborted;
  });

  test("never aborts the signal of an answer that arrived", async () => {
    const { caller, client, socket, release } = await heldClaim();
    const signal = caller.signal as AbortSignal;
    const closed = once(socket, "close");
    release();
    const [response] = (await once(client, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    socket.destroy();
    await closed;
    expect(signal.aborted).toBe(false);
  });
});
