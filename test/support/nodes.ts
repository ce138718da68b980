import { freshDatabase, query, type TestServer } from "./postgres.js";
import type { RawHttp } from "./raw-http.js";
import { ServerProcess } from "./server-process.js";

/** Several nodes on one database, each a process, none special. */
export class Nodes {
  private constructor(
    readonly all: readonly ServerProcess[],
    /** Of their database, as the database's own clients reach it. */
    readonly database: string,
    readonly drop: () => Promise<void>,
  ) {}

  /** Starts them at once, on a database where there is nothing yet. `storeOf` gives each its own way to the database. */
  static async start(
    server: Pick<TestServer, "url">,
    count: number,
    storeOf: (database: string, node: number) => Promise<string> | string = (database) => database,
    envOf: (node: number) => Record<string, string> = () => ({}),
  ): Promise<Nodes> {
    const { url, drop } = await freshDatabase(server.url);
    const starts = Array.from({ length: count }, async (_, node) =>
      ServerProcess.start({ store: await storeOf(url, node), env: envOf(node) }),
    );
    return new Nodes(await Promise.all(starts), url, drop);
  }

  node(at: number): ServerProcess {
    return this.all[at % this.all.length] as ServerProcess;
  }

  rows<T>(sql: string): Promise<T[]> {
    return query<T>(this.database, sql);
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map((node) => node.kill()));
    await this.drop();
  }
}

/** A client that goes to the next node when its own gives no answer, as one behind a load balancer does. */
export class RoamingClient {
  readonly #https: readonly RawHttp[];
  #at: number;

  constructor(nodes: Nodes, at: number) {
    this.#https = nodes.all.map((node) => node.client());
    this.#at = at;
  }

  readonly http = (): RawHttp => this.#https[this.#at % this.#https.length] as RawHttp;

  readonly next = async (): Promise<void> => {
    this.#at += 1;
    await new Promise((resolve) => setTimeout(resolve, 5));
  };

  close(): void {
    for (const http of this.#https) http.close();
  }
}
