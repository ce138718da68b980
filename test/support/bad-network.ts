import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

interface Line {
  readonly near: Socket;
  readonly far: Socket;
}

/** A network between a node and its database that can be slow, and can break: real TCP through a port of its own. */
export class BadNetwork {
  readonly #lines = new Set<Line>();
  readonly #server: Server;
  /** Each way, ms; every packet has its own within the bounds, none overtakes another. */
  latencyMs: readonly [least: number, most: number] = [0, 0];
  /** Connections it broke. */
  resets = 0;

  private constructor(readonly target: URL) {
    this.#server = createServer((near) => this.#join(near));
  }

  static async before(databaseUrl: string): Promise<BadNetwork> {
    const network = new BadNetwork(new URL(databaseUrl));
    network.#server.listen(0, "127.0.0.1");
    await once(network.#server, "listening");
    return network;
  }

  /** The database's URL through this network. */
  get url(): string {
    const url = new URL(this.target);
    url.port = String((this.#server.address() as { port: number }).port);
    return url.href;
  }

  /** Resets a share of the connections there are (RST), whatever is under way on them. */
  reset(share = 1): void {
    for (const line of this.#lines) {
      if (Math.random() >= share) continue;
      this.resets += 1;
      this.#end(line);
    }
  }

  async close(): Promise<void> {
    this.reset();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(near: Socket): void {
    const far = connect(Number(this.target.port), this.target.hostname);
    const line = { near, far };
    this.#lines.add(line);
    this.#carry(near, far);
    this.#carry(far, near);
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on("error", () => this.#end(line));
      socket.on("close", () => this.#end(line));
    }
  }

  #carry(from: Socket, to: Socket): void {
    const onTheWay: Buffer[] = [];
    let lastDueMs = 0;
    from.on("data", (packet: Buffer) => {
      const [least, most] = this.latencyMs;
      const dueMs = Math.max(lastDueMs, performance.now() + least + Math.random() * (most - least));
      lastDueMs = dueMs;
      onTheWay.push(packet);
      setTimeout(() => to.write(onTheWay.shift() as Buffer), dueMs - performance.now());
    });
  }

  #end(line: Line): void {
    if (!this.#lines.delete(line)) return;
    line.near.resetAndDestroy();
    line.far.resetAndDestroy();
  }
}
