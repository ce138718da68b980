import { describe, expect, test } from "vitest";
import { StubHttp, sendBytes } from "../../test/support/stub-http.js";
import { DibsError, ERROR_CODES, ERRORS } from "../contract/errors.js";

const ID = "0123456789abcdef0123456789abcdef";
const KEY = "dibs_w_canary-0123456789";

/** A log that keeps every line as the text it would be. */
function keptLog() {
  const lines: string[] = [];
  const keep = (fields: Record<string, unknown>, message: string) => {
    const { err, ...rest } = fields;
    lines.push(JSON.stringify({ ...rest, message, err: String((err as Error)?.stack ?? err) }));
  };
  return { lines, log: { error: keep, warn: keep } };
}

describe("a refusal", () => {
  test.each(ERROR_CODES.filter((code) => code !== "internal"))(
    "%s becomes a problem with its own status",
    async (code) => {
      const details = { fields: [], holder: { agent_name: "a" }, next: ["wait"], setting: "s", limit: 1 };
      const stub = await StubHttp.forTest({
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
    const stub = await StubHttp.forTest({
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
    const stub = await StubHttp.forTest({ log });
    await stub.send("GET", "/v1/nothing");
    await stub.send("GET", "/v1/tasks", { headers: { "x-agent-key": undefined } });
    await stub.send("POST", "/v1/tasks", { headers: { "content-type": "text/plain" }, body: "x" });
    expect(lines).toEqual([]);
  });

  test("of an unknown route names it and the reference, but nothing of its query", async () => {
    const stub = await StubHttp.forTest();
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
    const stub = await StubHttp.forTest();
    const headers = { "content-type": "application/json" };
    const answer = await stub.send("POST", "/v1/tasks", { headers, body: '{"content": "a",}' });
    expect(answer.json).toMatchObject({ status: 400, code: "invalid_input", fields: [{ field: "(body)" }] });
    expect(answer.json.detail).toContain("position 16");
  });

  test("of a body over the limit is too_large and names the limit and the setting, announced or not (R49)", async () => {
    const stub = await StubHttp.forTest({ config: { bodyLimitBytes: 2048 } });
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
    const stub = await StubHttp.forTest({ config: { rateLimitPerSecond: 1, rateBurst: 3 } });
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
    const stub = await StubHttp.forTest({
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
    const stub = await StubHttp.forTest();
    const [head, body] = (await sendBytes(stub.port, bytes)).split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toContain("content-type: application/problem+json");
    expect(JSON.parse(body as string)).toMatchObject({ status, code });
  });
});
