import { describe, expect, test } from "vitest";
import { StubHttp } from "../../test/support/stub-http.js";

const ID = "0123456789abcdef0123456789abcdef";
const KEY = "dibs_w_canary-0123456789";

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
    const stub = await StubHttp.forTest();
    await stub.send("GET", "/v1/tasks", { headers });
    expect(seen(stub)?.identity).toEqual({ kind: "key", key: KEY });
  });

  test("may have a key of any text, sent as UTF-8", async () => {
    const stub = await StubHttp.forTest();
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
    const stub = await StubHttp.forTest();
    const answer = await stub.send("GET", "/v1/tasks", { headers });
    expect(answer.json).toMatchObject({ status: 401, code: "unauthorized" });
    expect(answer.headers["www-authenticate"]).toMatch(/^Bearer/);
    expect(answer.json.detail).toContain("Authorization: Bearer KEY");
    expect(stub.asked).toEqual([]);
  });

  test("C71: is never who the body, the query or a forwarding header says", async () => {
    const stub = await StubHttp.forTest();
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
    const stub = await StubHttp.forTest();
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
    const stub = await StubHttp.forTest();
    const answer = await stub.send("PATCH", `/v1/tasks/${ID}`, { headers: { [name]: value }, body: {} });
    expect(answer.json).toMatchObject({ status: 400, code: "invalid_input", fields: [{ field: name }] });
    expect(stub.asked).toEqual([]);
  });

  test("may use an idempotency key of 255 characters (R59)", async () => {
    const stub = await StubHttp.forTest();
    const key = "k".repeat(255);
    await stub.send("POST", "/v1/tasks/claim", { headers: { "idempotency-key": key } });
    expect(seen(stub)?.idempotencyKey).toBe(key);
  });
});
