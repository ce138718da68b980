import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { StubHttp } from "../../test/support/stub-http.js";
import { DibsError } from "../contract/errors.js";

const anonymous = { headers: { "x-agent-key": undefined } };

describe("health", () => {
  test("is told without a key", async () => {
    await using stub = await StubHttp.start();
    for (const path of ["/livez", "/readyz"]) {
      expect(await stub.send("GET", path, anonymous)).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    }
  });

  test("a store that can't be used makes the server unready, not dead", async () => {
    await using stub = await StubHttp.start({
      isReady: async () => {
        throw new DibsError("store_unavailable", "The store is busy.", {});
      },
    });
    const ready = await stub.send("GET", "/readyz", anonymous);
    expect(ready.json).toMatchObject({ status: 503, code: "store_unavailable", detail: "The store is busy." });
    expect(ready.headers["retry-after"]).toBe("1");
    expect((await stub.send("GET", "/livez", anonymous)).status).toBe(200);
  });

  test("those who ask at one time share one look at the store", async () => {
    let looks = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using stub = await StubHttp.start({
      isReady: () => {
        looks += 1;
        return released;
      },
    });
    let arrived = 0;
    const all = new Promise<void>((resolve) => {
      stub.app.server.on("request", () => {
        arrived += 1;
        if (arrived === 20) setImmediate(() => setImmediate(resolve));
      });
    });
    const asking = Array.from({ length: 20 }, () => stub.send("GET", "/readyz", anonymous));
    await all;
    release();
    expect(new Set((await Promise.all(asking)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(looks).toBe(1);
    await stub.send("GET", "/readyz", anonymous);
    expect(looks).toBe(2);
  });

  test("a closing server finishes what runs, and answers 503 to what still comes over the same connection", async () => {
    let release = () => {};
    const stub = await StubHttp.start({
      answer: () =>
        new Promise((resolve) => {
          release = () => resolve({ text: '"done"' });
        }),
    });
    const wire = connect(stub.port, "127.0.0.1").setEncoding("utf8");
    let heard = "";
    wire.on("data", (chunk) => {
      heard += chunk;
    });
    const head = "HTTP/1.1\r\nHost: localhost\r\nX-Agent-Key: k\r\n\r\n";
    wire.write(`POST /v1/tasks/claim ${head}`);
    await until(() => stub.asked.length === 1);
    const closed = stub.app.close();
    await until(() => !stub.app.server.listening);
    const late = once(stub.app.server, "request");
    wire.write(`POST /v1/tasks/claim ${head}`);
    await late;
    release();
    await closed;
    await until(() => heard.includes("store_unavailable"));
    const statuses = [...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(["200", "503"]);
    expect(heard).toContain('"done"');
    expect(heard.toLowerCase()).toContain("retry-after: 1");
    expect(stub.asked).toHaveLength(1);
  });
});

/** Gives way to everything else until it is so; the test's own time limit ends it. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
