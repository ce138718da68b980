import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { FastifyInstance, RouteOptions } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StubHttp } from "../../test/support/stub-http.js";

/** All that answers without a key (R45). A new open route must be written down here. */
const OPEN = [
  "GET /",
  "GET /api/openapi.json",
  "GET /docs",
  "GET /docs/style.css",
  "GET /livez",
  "GET /readyz",
  "GET /v1/openapi.json",
  "POST /api/sign-in",
  "POST /v1/sign-in",
];

const routes: string[] = [];
let stub: StubHttp;

beforeAll(async () => {
  const watch = (message: unknown) => {
    (message as { fastify: FastifyInstance }).fastify.addHook("onRoute", ({ method, url }: RouteOptions) => {
      for (const one of [method].flat()) routes.push(`${one} ${url}`);
    });
  };
  subscribe("fastify.initialization", watch);
  stub = await StubHttp.start({ mcp: { answer: async () => new Response("never"), isHeartbeat: () => false } });
  unsubscribe("fastify.initialization", watch);
});
afterAll(() => stub[Symbol.asyncDispose]());

/** Sends to the route without a key. */
function knock(route: string) {
  const [method, url] = route.split(" ") as [string, string];
  return stub.send(method, url.replace(/:\w+/g, "x"), { headers: { "x-agent-key": undefined } });
}

describe("the inventory of routes (R45)", () => {
  test("has what the contract has, sign-in, health, reference, console and MCP", () => {
    expect(routes.length).toBeGreaterThan(100);
    for (const route of [...OPEN, "POST /mcp", "POST /v1/tasks/claim", "POST /api/tasks/:task_id/heartbeat"]) {
      expect(routes).toContain(route);
    }
  });

  test("every route outside the open list answers 401 without a key and reaches nobody", async () => {
    const open = new Set(OPEN.flatMap((route) => [route, route.replace(/^GET/, "HEAD")]));
    for (const route of routes) {
      const { status } = await knock(route);
      if (open.has(route)) expect(status, route).not.toBe(401);
      else expect(status, route).toBe(401);
    }
    expect(stub.asked).toEqual([]);
  });

  test("so does whatever is no route", async () => {
    for (const route of ["GET /v1/nothing", "OPTIONS /v1/tasks", "TRACE /", "PUT /", "GET /metrics", "POST /docs"]) {
      expect((await knock(route)).status, route).toBe(401);
    }
  });
});
