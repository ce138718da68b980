import { Agent, request } from "node:http";

export interface RawAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the tests look into bodies of every kind.
  readonly body: any;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface RawOptions {
  readonly session?: string;
  readonly idempotencyKey?: string;
  readonly timeoutMs?: number;
}

/**
 * One client of a server, with connections of its own and no retries: what the wire said, or the connection's error.
 * A fault test must see every lost answer that the real client would repeat by itself.
 */
export class RawHttp {
  readonly #agent = new Agent({ keepAlive: true });

  constructor(
    readonly url: string,
    readonly key: string | undefined,
  ) {}

  post(path: string, body: object = {}, options: RawOptions = {}): Promise<RawAnswer> {
    return this.send("POST", path, body, options);
  }

  get(path: string, options: RawOptions = {}): Promise<RawAnswer> {
    return this.send("GET", path, undefined, options);
  }

  /** Sends one request and resolves with the whole answer; rejects when there is none. */
  send(method: string, path: string, body: object | undefined, options: RawOptions = {}): Promise<RawAnswer> {
    const headers: Record<string, string> = {};
    if (this.key !== undefined) headers.authorization = `Bearer ${this.key}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    if (options.session !== undefined) headers["x-dibs-session"] = options.session;
    if (options.idempotencyKey !== undefined) headers["idempotency-key"] = options.idempotencyKey;
    return new Promise((resolve, reject) => {
      const timeout = options.timeoutMs ?? 60_000;
      const sent = request(this.url + path, { method, headers, agent: this.#agent, timeout }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("error", reject);
        response.on("close", () => {
          if (!response.complete) reject(new Error("The answer broke off."));
        });
        response.on("end", () => {
          const parsed = text === "" ? undefined : JSON.parse(text);
          resolve({ status: response.statusCode ?? 0, body: parsed, headers: response.headers });
        });
      });
      sent.on("timeout", () => sent.destroy(new Error(`No answer within ${timeout} ms.`)));
      sent.on("error", reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
