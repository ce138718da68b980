import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RawAnswer, StubHttp, sendBytes } from "../../test/support/stub-http.js";

let stub: StubHttp;
beforeAll(async () => {
  stub = await StubHttp.start({ config: { host: "192.0.2.7", allowedHosts: ["dibs.example", "Proxy.example:8443"] } });
});
afterAll(() => stub[Symbol.asyncDispose]());

const JSON_BODY = { headers: { "content-type": "application/json" }, body: "{}" };

function refusedAs(answer: RawAnswer, status: number, code: string): void {
  expect({ status: answer.status, code: answer.json.code }).toEqual({ status, code });
  expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
}

/** Sends, and fails if the engine hears of it. */
async function sendUnheard(...call: Parameters<StubHttp["send"]>): Promise<RawAnswer> {
  const before = stub.asked.length;
  const answer = await stub.send(...call);
  expect(stub.asked.length).toBe(before);
  return answer;
}

describe("the host guard (C75)", () => {
  test.each(["localhost", "127.0.0.1", "[::1]", "LOCALHOST", "dibs.example", "192.0.2.7"])(
    "%s is answered on any port",
    async (host) => {
      for (const header of [host, `${host}:4747`]) {
        expect((await stub.send("GET", "/livez", { headers: { host: header } })).status).toBe(200);
      }
    },
  );

  test("an allowed host with a port is answered on that port only", async () => {
    expect((await stub.send("GET", "/livez", { headers: { host: "proxy.example:8443" } })).status).toBe(200);
    refusedAs(await stub.send("GET", "/livez", { headers: { host: "proxy.example:8444" } }), 403, "forbidden");
  });

  test.each([
    "evil.example:4747",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "0.0.0.0:4747",
    "localhost:4747@evil.example",
    "evil.example/localhost",
    "localhost:port",
    "::1",
  ])("the host %j is refused on every kind of route, before anything else", async (host) => {
    for (const [method, path] of [
      ["GET", "/livez"],
      ["GET", "/"],
      ["GET", "/docs"],
      ["GET", "/v1/openapi.json"],
      ["POST", "/v1/sign-in"],
      ["POST", "/v1/tasks/claim"],
      ["GET", "/v1/tasks/%zz"],
      ["GET", "/no/such/route"],
    ] as const) {
      const answer = await sendUnheard(method, path, { headers: { host } });
      refusedAs(answer, 403, "forbidden");
      expect(answer.json.detail).toContain("DIBS_ALLOWED_HOSTS");
    }
  });

  test("a request that names no host is refused", async () => {
    expect(await sendBytes(stub.port, "GET /livez HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1.1 403 /);
    expect(await sendBytes(stub.port, "GET /livez HTTP/1.0\r\nHost:\r\n\r\n")).toMatch(/^HTTP\/1.1 403 /);
    expect(await sendBytes(stub.port, "GET /livez HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1.1 400 /);
  });

  test("a host under a wildcard address is not what the server is bound to", async () => {
    await using open = await StubHttp.start({ config: { host: "0.0.0.0" } });
    refusedAs(await open.send("GET", "/livez", { headers: { host: "0.0.0.0:80" } }), 403, "forbidden");
  });
});

describe("the origin guard (C75)", () => {
  test("a page of the same host and port may call", async () => {
    const host = `localhost:${stub.port}`;
    const headers = { host, origin: `http://${host}` };
    expect((await stub.send("POST", "/v1/tasks/claim", { headers })).status).toBe(200);
    const behindTls = { host: "dibs.example", origin: "https://dibs.example" };
    expect((await stub.send("POST", "/v1/tasks/claim", { headers: behindTls })).status).toBe(200);
  });

  test("a page of a configured host may call through a proxy that renames the host", async () => {
    const headers = { host: "localhost", origin: "https://proxy.example:8443" };
    expect((await stub.send("GET", "/v1/tasks", { headers })).status).toBe(200);
  });

  test.each([
    "null",
    "https://evil.example",
    "http://localhost:3000",
    "http://127.0.0.1:4747",
    "https://proxy.example",
    "file://",
    "http://localhost:4747.evil.example",
    "",
  ])("the origin %j is refused, also with a good key", async (origin) => {
    const headers = { host: "localhost:4747", origin };
    refusedAs(await sendUnheard("POST", "/v1/tasks/claim", { headers }), 403, "forbidden");
    refusedAs(await sendUnheard("GET", "/v1/tasks", { headers }), 403, "forbidden");
    refusedAs(await sendUnheard("GET", "/livez", { headers }), 403, "forbidden");
    refusedAs(await sendUnheard("OPTIONS", "/v1/tasks", { headers }), 403, "forbidden");
  });

  test("no origin is no pass: without a key the answer is 401", async () => {
    refusedAs(
      await sendUnheard("POST", "/v1/tasks/claim", { headers: { "x-agent-key": undefined } }),
      401,
      "unauthorized",
    );
  });
});

describe("fetch metadata", () => {
  test.each(["cross-site", "same-site", "something-new"])("%s may change nothing", async (site) => {
    const headers = { "sec-fetch-site": site };
    refusedAs(await sendUnheard("POST", "/v1/tasks/claim", { headers }), 403, "forbidden");
    refusedAs(await sendUnheard("DELETE", "/v1/tasks/0", { headers }), 403, "forbidden");
    refusedAs(await sendUnheard("POST", "/v1/sign-in", { headers }), 403, "forbidden");
    expect((await stub.send("GET", "/docs", { headers })).status).toBe(200);
  });

  test.each(["same-origin", "none"])("%s may", async (site) => {
    expect((await stub.send("POST", "/v1/tasks/claim", { headers: { "sec-fetch-site": site } })).status).toBe(200);
  });
});

describe("bodies are JSON", () => {
  test.each([
    "text/plain",
    "text/plain; charset=application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/json; charset=iso-8859-1",
    "application/merge-patch+json",
    "text/json",
    "garbage",
  ])("%s is refused with 415", async (type) => {
    const answer = await sendUnheard("POST", "/v1/tasks/claim", { headers: { "content-type": type }, body: "{}" });
    refusedAs(answer, 415, "unsupported_media_type");
    expect(answer.json.detail).toContain("application/json");
  });

  test("a body without a type is refused with 415, chunked or not", async () => {
    const lengthy = { headers: { "content-length": "2" }, body: "{}" };
    refusedAs(await sendUnheard("POST", "/v1/tasks/claim", lengthy), 415, "unsupported_media_type");
    const chunked = { headers: { "transfer-encoding": "chunked" }, body: "{}" };
    refusedAs(await sendUnheard("POST", "/v1/tasks/claim", chunked), 415, "unsupported_media_type");
  });

  test("a compressed body is refused with 415", async () => {
    const zipped = { headers: { "content-type": "application/json", "content-encoding": "gzip" }, body: "{}" };
    refusedAs(await sendUnheard("POST", "/v1/tasks/claim", zipped), 415, "unsupported_media_type");
  });

  test.each([
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
  ])("%s is taken", async (type) => {
    expect((await stub.send("POST", "/v1/tasks/claim", { headers: { "content-type": type }, body: "{}" })).status).toBe(
      200,
    );
  });

  test("a write without a body is {}, with or without a type, whatever the type", async () => {
    for (const type of [undefined, "application/json", "application/x-www-form-urlencoded"]) {
      const headers = { "content-type": type, "content-length": "0" };
      expect((await stub.send("POST", "/v1/tasks/claim", { headers })).status).toBe(200);
      expect(stub.lastInput).toEqual({});
    }
    const chunked = { headers: { "transfer-encoding": "chunked" } };
    expect((await stub.send("POST", "/v1/tasks/claim", chunked)).status).toBe(200);
  });

  test("a read with a body is refused, not half understood", async () => {
    const answer = await sendUnheard("GET", "/v1/tasks", {
      ...JSON_BODY,
      headers: { ...JSON_BODY.headers, "content-length": "2" },
    });
    refusedAs(answer, 400, "invalid_input");
  });
});

describe("every answer", () => {
  test("carries the security headers, a request id and the time, and never a CORS header", async () => {
    const paths = ["/livez", "/", "/docs", "/v1/openapi.json", "/v1/tasks", "/v1/nothing", "/v1/tasks/%zz"];
    for (const path of paths) {
      const { headers } = await stub.send("GET", path);
      expect(headers, path).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
      });
      expect(headers["content-security-policy"], path).toContain("frame-ancestors 'none'");
      expect(headers["content-security-policy"], path).not.toContain("unsafe");
      expect(headers["x-request-id"], path).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/);
      expect(headers["server-now"], path).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(
        Object.keys(headers).filter((name) => name.startsWith("access-control-")),
        path,
      ).toEqual([]);
    }
  });

  test("no request header about who stands before a proxy is read", () => {
    const sources = ["app", "guards", "credential", "admission", "caller", "sign-in"];
    for (const name of sources) {
      const text = readFileSync(new URL(`./${name}.ts`, import.meta.url), "utf8");
      expect(text).not.toMatch(/forwarded|trustProxy|real-ip/i);
    }
  });
});
