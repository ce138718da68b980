import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { onTestFinished } from "vitest";
import type { Caller, Operation, TextAnswer } from "../../src/contract/operation.js";
import { createHttp } from "../../src/http/app.js";
import type { HttpOptions, HttpSettings } from "../../src/http/settings.js";

/** What the surface asked the engine for. */
export interface Asked {
  readonly operation: Operation;
  readonly input: unknown;
  readonly caller: Caller;
}

export interface StubOptions extends Partial<Omit<HttpOptions, "config" | "callText">> {
  readonly config?: Partial<HttpSettings>;
  /** What the engine answers; by default `{}` with status 200. */
  readonly answer?: (asked: Asked) => Promise<Partial<TextAnswer>> | Partial<TextAnswer>;
}

/** The HTTP surface on a real port, with the engine behind it replaced by what a test makes it say. */
export class StubHttp {
  readonly asked: Asked[] = [];
  readonly app: ReturnType<typeof createHttp>;

  private constructor(readonly options: StubOptions) {
    const { config, answer, ...rest } = options;
    this.app = createHttp({
      signIn: {
        redeem: async () => {
          throw new Error("no sign-in in this test");
        },
      },
      isReady: () => {},
      consoleDir: "/nowhere",
      ...rest,
      config: {
        host: "127.0.0.1",
        allowedHosts: [],
        rateLimitPerSecond: 1_000_000,
        rateBurst: 1_000_000,
        bodyLimitBytes: 65_536,
        ...config,
      },
      callText: async (operation, input, caller) => {
        const asked = { operation, input, caller };
        this.asked.push(asked);
        return { text: "{}", status: 200, notices: 0, serverNowMs: 1_700_000_000_123, ...(await answer?.(asked)) };
      },
    });
  }

  static async start(options: StubOptions = {}): Promise<StubHttp> {
    const stub = new StubHttp(options);
    await stub.app.listen({ host: "127.0.0.1", port: 0 });
    return stub;
  }

  /** Started, and closed when the test is over. */
  static async forTest(options: StubOptions = {}): Promise<StubHttp> {
    const stub = await StubHttp.start(options);
    onTestFinished(() => stub.app.close());
    return stub;
  }

  get port(): number {
    return (this.app.server.address() as AddressInfo).port;
  }

  /** The input of the last call that reached the engine. */
  get lastInput(): unknown {
    return this.asked.at(-1)?.input;
  }

  /** Sends with a good key unless the headers say otherwise. */
  send(method: string, path: string, sent: { headers?: Record<string, string | undefined>; body?: unknown } = {}) {
    return sendRaw(this.port, method, path, { "x-agent-key": "a-good-key", ...sent.headers }, sent.body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app.close();
  }
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; fails the test when it isn't. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the tests are about
  readonly json: any;
}

/**
 * One request with exactly these headers (Host by default the real one). A body that isn't text or bytes is sent as
 * JSON, with its content type.
 */
export function sendRaw(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string | undefined> = {},
  body?: unknown,
): Promise<RawAnswer> {
  const plain = body === undefined || typeof body === "string" || body instanceof Uint8Array;
  const bytes = plain ? body : JSON.stringify(body);
  // Node announces the bodies of some methods only when told to.
  const length = bytes === undefined || headers["transfer-encoding"] ? undefined : String(Buffer.byteLength(bytes));
  const type = plain ? undefined : "application/json";
  const given = Object.entries({ "content-type": type, "content-length": length, ...headers });
  const wanted = Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Record<string, string>;
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: "127.0.0.1", port, method, path, headers: wanted, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const { statusCode: status = 0, headers: answered } = response;
        resolve({
          status,
          headers: answered,
          text,
          get json() {
            return JSON.parse(text);
          },
        });
      });
    });
    sent.on("error", reject);
    sent.end(bytes);
  });
}

/** Writes these bytes to the port and resolves with all that comes back until the connection ends. */
export function sendBytes(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    socket.on("error", reject).on("close", () => resolve(text));
  });
}
