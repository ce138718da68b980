import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { DibsError } from "../contract/errors.js";
import type { Caller } from "../contract/operation.js";
import { operations } from "../contract/operations.js";
import type { Clock } from "./clock.js";
import { type HttpCallOptions, httpCall } from "./http-call.js";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}
type Respond = (seen: Seen, response: ServerResponse, nth: number) => void;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server of the test's own, every request it saw, and a call to it. */
async function serving(respond: Respond, options: Partial<HttpCallOptions> = {}) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { method = "", url = "", headers } = request;
    seen.push({ method, url, headers, body });
    respond({ method, url, headers, body }, response, seen.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { seen, url, call: httpCall({ url, clock: quickClock, random: () => 1, ...options }) };
}

/** Pauses pass at once and are noted; limits on an attempt (a second or longer) never run out. */
const paused: number[] = [];
const quickClock: Clock = {
  nowMs: () => performance.now(),
  setTimer: (run, delayMs) => {
    if (delayMs >= 30_000) return undefined;
    paused.push(delayMs);
    return setImmediate(run);
  },
  clearTimer: (timer) => clearImmediate(timer as NodeJS.Immediate),
};

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

const ID = "0123456789abcdef0123456789abcdef";
const caller: Caller = { identity: { kind: "key", key: "dibs_key" }, sessionId: ID };

describe("a call over HTTP", () => {
  test("puts path parts in the path, the rest in a JSON body, and who asks in headers", async () => {
    const { call, seen } = await serving((_seen, response) => json(response, 200, { id: ID }));
    await call(operations.complete_task, { task_id: ID, fence: 3, result: { a: [1] } }, { ...caller, ifVersion: 7 });
    expect(seen[0]).toMatchObject({
      method: "POST",
      url: `/v1/tasks/${ID}/complete`,
      body: '{"fence":3,"result":{"a":[1]}}',
      headers: {
        authorization: "Bearer dibs_key",
        "x-dibs-session": ID,
        "if-match": '"7"',
        "content-type": "application/json",
      },
    });
  });

  test("puts a read's input in the query, one by one for lists, and leaves out what is absent", async () => {
    const { call, seen } = await serving((_seen, response) => json(response, 200, []));
    const input = { types: ["task.created", "a&b"], limit: 5, after: undefined, task_id: ID };
    await call(operations.list_events, input, caller);
    expect(seen[0]?.url).toBe(`/v1/events?types=task.created&types=a%26b&limit=5&task_id=${ID}`);
    expect(seen[0]?.headers).not.toHaveProperty("idempotency-key");
    expect(seen[0]?.headers).not.toHaveProperty("content-type");
  });

  test("encodes path parts and refuses those that would make another route", async () => {
    const { call, seen } = await serving((_seen, response) => json(response, 200, {}));
    await call(operations.get_project, { project_id: "team/web?x" }, caller);
    expect(seen[0]?.url).toBe("/v1/projects/team%2Fweb%3Fx");
    for (const part of ["", ".", "..", undefined]) {
      const refused = call(operations.get_task, { task_id: part as string }, caller);
      await expect(refused).rejects.toMatchObject({
        code: "invalid_input",
        details: { fields: [{ field: "task_id" }] },
      });
    }
    expect(seen).toHaveLength(1);
  });

  test("gives status, next cursor, replay, notices and the server's time beside the body", async () => {
    const { call } = await serving((_seen, response) =>
      json(response, 201, [1], {
        link: '</v1/tasks?limit=1&cursor=ab%2Bc>; rel="next"',
        "idempotency-replayed": "true",
        "dibs-notices": "2",
        "server-now": "2026-01-31T12:00:00.123Z",
      }),
    );
    expect(await call(operations.list_tasks, {}, caller)).toEqual({
      body: [1],
      status: 201,
      nextCursor: "ab+c",
      replayed: true,
      notices: 2,
      serverNowMs: Date.parse("2026-01-31T12:00:00.123Z"),
    });
  });

  test("throws a refusal as the error it was, with its fields, and doesn't repeat the call", async () => {
    const refusal = new DibsError("task_claimed", "bob holds it", { holder: { agent_name: "bob" }, next: ["wait"] });
    const { call, seen } = await serving((_seen, response) => json(response, 409, refusal.toProblem()));
    await expect(call(operations.claim_task, { task_id: ID }, caller)).rejects.toMatchObject({
      code: "task_claimed",
      message: "bob holds it",
      details: { holder: { agent_name: "bob" }, next: ["wait"] },
    });
    expect(seen).toHaveLength(1);
  });
});

describe("a call that fails on the way", () => {
  test("is sent again under the same Idempotency-Key, so that it has one effect (C58)", async () => {
    const { call, seen } = await serving((_seen, response, nth) =>
      nth < 3 ? void response.socket?.destroy() : json(response, 200, { task: null, notices: [] }),
    );
    expect((await call(operations.claim_next_task, {}, caller)).body).toMatchObject({ task: null });
    const keys = seen.map((one) => one.headers["idempotency-key"]);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    await call(operations.claim_next_task, {}, caller);
    expect(seen[3]?.headers["idempotency-key"]).not.toBe(keys[0]);
  });

  test("keeps the caller's own Idempotency-Key", async () => {
    const { call, seen } = await serving((_seen, response) => json(response, 200, {}));
    await call(operations.claim_next_task, {}, { ...caller, idempotencyKey: "mine" });
    expect(seen[0]?.headers["idempotency-key"]).toBe("mine");
  });

  test("waits at least as long as a busy server asks, and then no longer than its budget", async () => {
    const busy = new DibsError("store_unavailable", "busy", {}).toProblem();
    const { call, seen } = await serving((_seen, response, nth) =>
      nth === 1 ? json(response, 503, busy, { "retry-after": "2" }) : json(response, 200, []),
    );
    paused.length = 0;
    await call(operations.list_tasks, {}, caller);
    expect(seen).toHaveLength(2);
    expect(paused).toEqual([2_100]);

    const { call: hopeless, seen: once } = await serving((_seen, response) =>
      json(response, 503, busy, { "retry-after": "31" }),
    );
    await expect(hopeless(operations.list_tasks, {}, caller)).rejects.toMatchObject({ message: "busy" });
    expect(once).toHaveLength(1);
  });

  test("ends as store_unavailable after bounded attempts, saying how to start the server", async () => {
    const { call, url, seen } = await serving((_seen, response) => void response.socket?.destroy());
    const error = await call(operations.list_tasks, {}, caller).catch((thrown) => thrown);
    expect(error).toMatchObject({ name: "DibsError", code: "store_unavailable", exit: 7 });
    expect(error.message).toContain(`Can't reach Dibs at ${url}`);
    expect(error.message).toContain("dibs up");
    expect(seen).toHaveLength(8);
  });

  test("an attempt that gets no answer in time counts as failed on the way", async () => {
    const limits: { run: () => void; delayMs: number }[] = [];
    const clock: Clock = {
      ...quickClock,
      setTimer: (run, delayMs) => {
        if (delayMs < 30_000) return quickClock.setTimer(run, delayMs);
        limits.push({ run, delayMs });
        return undefined;
      },
    };
    const answer = { task: null, notices: [] };
    const { call, seen } = await serving(
      (_seen, response, nth) => (nth === 1 ? limits[0]?.run() : json(response, 200, answer)),
      { clock },
    );
    await call(operations.claim_next_task, { wait_seconds: 60 }, caller);
    expect(seen).toHaveLength(2);
    expect(limits[0]?.delayMs).toBe(90_000);
  });

  test("stops at once when the caller's signal aborts", async () => {
    const stop = new AbortController();
    const { call, seen } = await serving(() => stop.abort(new Error("enough")));
    await expect(call(operations.list_tasks, {}, { ...caller, signal: stop.signal })).rejects.toThrow("enough");
    expect(seen).toHaveLength(1);
  });
});

describe("what is not Dibs", () => {
  test("is named as such, without following redirects or repeating the call", async () => {
    const { call, seen } = await serving((_seen, response) =>
      response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
    );
    await expect(call(operations.list_tasks, {}, caller)).rejects.toThrow(/is not Dibs \(status 302/);
    expect(seen).toHaveLength(1);
    const { call: page } = await serving((_seen, response) => response.writeHead(200).end("<html>"));
    await expect(page(operations.list_tasks, {}, caller)).rejects.toMatchObject({ code: "store_unavailable" });
  });

  test("no error repeats the key or a password in the address (R48)", async () => {
    const bad = httpCall({ url: "http://user:secret@127.0.0.1:1", key: "dibs_s3cret\n", retry: { attempts: 1 } });
    const error = await bad(operations.list_tasks, {}, { identity: { kind: "cookie", token: "" } }).catch((e) => e);
    expect(error).toMatchObject({ code: "unauthorized" });
    const down = httpCall({ url: "http://user:secret@127.0.0.1:1", retry: { attempts: 1 } });
    const unreachable = await down(operations.list_tasks, {}, caller).catch((e) => e);
    expect(unreachable.code).toBe("store_unavailable");
    expect(`${error.message} ${unreachable.message}`).not.toMatch(/s3cret|secret|dibs_key/);
  });
});
