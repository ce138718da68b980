import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { StubHttp } from "../../test/support/stub-http.js";
import { DibsError } from "../contract/errors.js";

const AGENT = "0123456789abcdef0123456789abcdef";
const EXPIRES_MS = Date.now() + 3_600_000;
const codes = new Set<string>();
const dropped: string[] = [];
let stub: StubHttp;

beforeAll(async () => {
  stub = await StubHttp.start({
    signIn: {
      redeem: async (code) => {
        if (!codes.delete(code)) throw new DibsError("unauthorized", "The code was used already.", {});
        return { token: "console-token", agentId: AGENT, expiresAtMs: EXPIRES_MS };
      },
      drop: async (token) => {
        dropped.push(token);
      },
    },
  });
});
afterAll(() => stub[Symbol.asyncDispose]());
beforeEach(() => codes.add("one-time-code"));

const anonymous = { "x-agent-key": undefined };
const signedIn = { ...anonymous, cookie: "other=1; dibs_console=console-token" };
const host = () => `localhost:${stub.port}`;

describe("the sign-in", () => {
  test.each(["/v1", "/api"])(
    "exchanges a code for a cookie that no script reads and no other site sends (%s)",
    async (base) => {
      const answer = await stub.send("POST", `${base}/sign-in`, {
        headers: anonymous,
        body: { code: "one-time-code" },
      });
      expect(answer.json).toEqual({ agent_id: AGENT, expires_at: new Date(EXPIRES_MS).toISOString() });
      const [cookie] = answer.headers["set-cookie"] as [string];
      const parts = /^dibs_console=console-token; Path=\/; Max-Age=(\d+); HttpOnly; SameSite=Strict$/.exec(cookie);
      expect(Number(parts?.[1])).toBeGreaterThan(3000);
      expect(Number(parts?.[1])).toBeLessThanOrEqual(3600);
      expect(answer.text).not.toContain("console-token");
    },
  );

  test("marks the cookie Secure for a page behind TLS", async () => {
    const headers = { ...anonymous, host: "localhost", origin: "https://localhost" };
    const answer = await stub.send("POST", "/v1/sign-in", { headers, body: { code: "one-time-code" } });
    expect(answer.headers["set-cookie"]?.[0]).toMatch(/; Secure$/);
  });

  test("takes a code once", async () => {
    const body = { code: "one-time-code" };
    expect((await stub.send("POST", "/v1/sign-in", { headers: anonymous, body })).status).toBe(200);
    const again = await stub.send("POST", "/v1/sign-in", { headers: anonymous, body });
    expect(again.json).toMatchObject({ status: 401, code: "unauthorized" });
    expect(again.headers).not.toHaveProperty("set-cookie");
  });

  test.each([[{}], [{ code: "" }], [{ code: 5 }], [{ code: "one-time-code", agent: "A" }], [[]]])(
    "refuses the body %j without using the code up",
    async (body) => {
      const answer = await stub.send("POST", "/v1/sign-in", { headers: anonymous, body });
      expect(answer.json).toMatchObject({ status: 400, code: "invalid_input" });
      expect(codes.has("one-time-code")).toBe(true);
    },
  );

  test("takes no code from a URL or a form", async () => {
    const inUrl = await stub.send("POST", "/v1/sign-in?code=one-time-code", { headers: anonymous });
    expect(inUrl.status).toBe(400);
    const type = { ...anonymous, "content-type": "application/x-www-form-urlencoded" };
    expect((await stub.send("POST", "/v1/sign-in", { headers: type, body: "code=one-time-code" })).status).toBe(415);
    expect((await stub.send("GET", "/v1/sign-in?code=one-time-code", { headers: anonymous })).status).toBe(401);
    expect(codes.has("one-time-code")).toBe(true);
  });

  test("ends with a sign-out that takes the cookie away and ends it at the store", async () => {
    const headers = { ...signedIn, host: host(), origin: `http://${host()}` };
    const answer = await stub.send("POST", "/v1/sign-out", { headers });
    expect(answer.json).toEqual({ signed_out: true });
    expect(answer.headers["set-cookie"]?.[0]).toMatch(/^dibs_console=; Path=\/; Max-Age=0;/);
    expect(dropped).toEqual(["console-token"]);
  });
});

describe("the cookie is a credential only where the browser vouches for the page", () => {
  const identity = () => stub.asked.at(-1)?.caller.identity;

  test("for reads of the page, and where nothing is said", async () => {
    for (const site of ["same-origin", "none", undefined]) {
      const answer = await stub.send("GET", "/v1/tasks", { headers: { ...signedIn, "sec-fetch-site": site } });
      expect(answer.status).toBe(200);
      expect(identity()).toEqual({ kind: "cookie", token: "console-token" });
    }
  });

  test("not for reads that another port or site makes the browser send", async () => {
    for (const site of ["same-site", "cross-site"]) {
      const answer = await stub.send("GET", "/v1/tasks", { headers: { ...signedIn, "sec-fetch-site": site } });
      expect(answer.json).toMatchObject({ status: 403, code: "forbidden" });
    }
  });

  test("for writes of the page, known by Origin or by Sec-Fetch-Site", async () => {
    for (const more of [{ origin: `http://${host()}` }, { "sec-fetch-site": "same-origin" }]) {
      const answer = await stub.send("POST", "/v1/tasks/claim", { headers: { ...signedIn, host: host(), ...more } });
      expect(answer.status).toBe(200);
    }
  });

  test.each([
    [{}],
    [{ "sec-fetch-site": "none" }],
    [{ "sec-fetch-site": "same-site" }],
    [{ origin: "null" }],
    [{ origin: "http://localhost:3000" }],
    [{ origin: "http://localhost:3000", "sec-fetch-site": "same-origin" }],
  ])("not for a write with %j", async (more) => {
    const before = stub.asked.length;
    const answer = await stub.send("POST", "/v1/tasks/claim", { headers: { ...signedIn, host: host(), ...more } });
    expect(answer.json).toMatchObject({ status: 403, code: "forbidden" });
    expect(stub.asked.length).toBe(before);
  });

  test("wrong codes are limited by address like wrong keys", async () => {
    await using other = await StubHttp.start({
      signIn: {
        redeem: async () => {
          throw new DibsError("unauthorized", "Unknown code.", {});
        },
      },
    });
    const statuses = new Set<number>();
    for (let attempt = 0; attempt < 150; attempt += 1) {
      const answer = await other.send("POST", "/v1/sign-in", {
        headers: anonymous,
        body: { code: `guess-${attempt}` },
      });
      statuses.add(answer.status);
    }
    expect([...statuses].sort()).toEqual([401, 429]);
  });
});
