import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { type Asked, StubHttp } from "../../test/support/stub-http.js";
import type { TextAnswer } from "../contract/operation.js";

const KEY = "dibs_w_canary-0123456789";

describe("a client that goes away", () => {
  /** A claim whose answer the test holds back: the engine's side, the client's, and the server's end of the wire. */
  async function heldClaim(text = "{}") {
    const stub = await StubHttp.forTest({ answer: (asked) => engine(asked) });
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
