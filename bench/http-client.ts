import { connect, type Socket } from "node:net";

/** One keep-alive connection that sends one POST at a time: as little work as a client can do, so that the server is measured. */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #resolve: ((body: string) => void) | undefined;
  #reject: ((fault: Error) => void) | undefined;
  readonly #head: string;

  constructor(port: number, key: string) {
    this.#head = `Host: localhost:${port}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    this.#socket = connect(port, "127.0.0.1");
    this.#socket.setNoDelay(true);
    this.#socket.on("data", (chunk) => this.#read(chunk));
    this.#socket.on("error", (fault) => this.#reject?.(fault));
  }

  post(path: string, body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#socket.write(
        `POST ${path} HTTP/1.1\r\n${this.#head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    });
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf("\r\n\r\n");
    if (headEnd === -1) return;
    const head = this.#received.toString("latin1", 0, headEnd);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < headEnd + 4 + length) return;
    const body = this.#received.toString("utf8", headEnd + 4, headEnd + 4 + length);
    this.#received = this.#received.subarray(headEnd + 4 + length);
    if (head.startsWith("HTTP/1.1 2")) this.#resolve?.(body);
    else this.#reject?.(new Error(`${head.slice(0, 20)} ${body}`));
  }

  close(): void {
    this.#socket.destroy();
  }
}
