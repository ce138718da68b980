import { open, operations } from "dibs";
import type { Caller, OperationName } from "dibs/contract";
import pg from "pg";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { retried } from "../src/core/engine/retried.js";
import type { Store } from "../src/core/port/store.js";
import { openStore } from "../src/store/open.js";
import { MIGRATION_LOCK, MIGRATIONS, migratePostgres, type PostgresMigration } from "../src/store/postgres-migrate.js";
import { StoreScene } from "./store-parts/scene.js";
import { freshDatabase, query } from "./support/postgres.js";

/** This code's schema. */
const NOW = MIGRATIONS.length;
// Made up: what the next releases might do. The second step is one that code of this one can't work with.
const next: PostgresMigration = {
  sql: `ALTER TABLE tasks ADD COLUMN colour text; CREATE TABLE steps_done (step bigint NOT NULL);
    INSERT INTO steps_done VALUES (1); CREATE INDEX tasks_colour ON tasks (colour) WHERE colour IS NOT NULL`,
  worksFor: NOW,
};
const tooFar: PostgresMigration = {
  sql: "ALTER TABLE tasks RENAME COLUMN state TO working_state; INSERT INTO steps_done VALUES (2)",
  worksFor: NOW + 1,
};

async function database(): Promise<string> {
  const { url, drop } = await freshDatabase(inject("postgres"));
  onTestFinished(drop);
  return url;
}

async function node(url: string, options: { migrate?: boolean } = {}): Promise<Store> {
  const store = await openStore(url, options);
  onTestFinished(() => store.close());
  return store;
}

/** A node of a later release, as far as its schema goes. */
async function migrateTo(url: string, ...migrations: PostgresMigration[]) {
  const known = migrations.length;
  const client = new pg.Client({ connectionString: url, application_name: `dibs/${known}` });
  await client.connect();
  try {
    return await migratePostgres(client, { migrations });
  } finally {
    await client.end();
  }
}

test("code of the step before goes on working beside the next schema, and starts on it (R57)", async () => {
  const url = await database();
  const scene = await StoreScene.set({ open: () => openStore(url), pass: () => {}, remove: () => {} });
  const task = await scene.write((tx) => scene.task(tx));
  expect(await migrateTo(url, ...MIGRATIONS, next)).toEqual({ from: NOW, to: NOW + 1 });

  const granted = await retried(() => scene.write((tx) => scene.grant(tx, task)));
  expect(granted.fence).toBe(1);
  await scene.write((tx) => scene.task(tx));
  const later = await node(url);
  const rows = await later.transaction("read", async (tx) => tx.tasks.list("w1", { sort: "created" }, ALL, tx.nowMs));
  expect(rows.map(({ status }) => status)).toEqual(["claimed", "open"]);
  expect(await query(url, "SELECT version::int, works_for::int FROM dibs_schema")).toEqual([
    { version: NOW + 1, works_for: NOW },
  ]);
});

const ALL = { limit: 100, after: null };

test("a new column in every table disturbs no node at work, whose statements were planned without it (R57)", async () => {
  const url = await database();
  const store = await open({ store: url });
  onTestFinished(() => store.close());
  const caller: Caller = { identity: { kind: "file", agent: "ann" } };
  const work = async () => {
    const ask = async (name: OperationName, input: object) =>
      (await store.call(operations[name], input as never, caller)).body as { id: string };
    const { id } = await ask("create_task", { content: "a task", labels: ["tests"] });
    await ask("claim_task", { task_id: id });
    await ask("add_comment", { task_id: id, body: "seen" });
    await ask("complete_task", { task_id: id, result: "done" });
    for (const [name, input] of READS) await ask(name, { ...input, ...(input && { task_id: id }) });
    await Promise.all(Array.from({ length: 8 }, () => ask("create_task", { content: "in company" })));
  };
  await work();
  await work();
  const tables = await query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  expect(tables.length).toBeGreaterThan(12);
  const sql = tables.map(({ tablename }) => `ALTER TABLE ${tablename} ADD COLUMN made_up bigint;`).join("\n");
  await migrateTo(url, ...MIGRATIONS, { sql: sql.replace(/^.*dibs_schema.*$/m, ""), worksFor: NOW });
  await work();
});

const READS: [OperationName, object | undefined][] = [
  ["get_task", {}],
  ["list_tasks", undefined],
  ["list_comments", {}],
  ["get_task_history", {}],
  ["list_events", undefined],
  ["list_agents", undefined],
  ["list_sessions", undefined],
  ["list_projects", undefined],
  ["get_workspace", undefined],
  ["list_claims", undefined],
];

test("a step that the nodes at work can't follow is refused while they are connected, and says what to do", async () => {
  const url = await database();
  const old = await openStore(url, { onHint: () => {} });
  const refused = await migrateTo(url, ...MIGRATIONS, next, tooFar).catch((fault) => fault);
  expect(refused).toMatchObject({ code: "store_unavailable" });
  expect(refused.message).toMatch(
    new RegExp(
      `^The store's schema is version ${NOW}; version ${NOW + 2} works only for nodes written for version ${NOW + 1} or later, and [1-9]\\d* connections of older nodes are open\\. Stop those nodes, or first upgrade all of them to a Dibs of schema version ${NOW + 1}\\.$`,
    ),
  );
  expect(await query(url, "SELECT version::int FROM dibs_schema")).toEqual([{ version: NOW }]);
  await old.close();
  // The server notices a moment later that they are gone.
  await vi.waitFor(
    async () => expect(await migrateTo(url, ...MIGRATIONS, next, tooFar)).toEqual({ from: NOW, to: NOW + 2 }),
    10_000,
  );
});

test("the step that brings dependencies is refused while code that knows none is at work, as that would free nothing", async () => {
  const url = await database();
  await migrateTo(url, ...MIGRATIONS.slice(0, 1));
  await query(
    url,
    `INSERT INTO workspaces VALUES ('w', 'w', '{}', 1);
     INSERT INTO tasks (id, workspace_id, project_id, priority, status, queue, assigned_to, created_by, max_attempts,
       created_at, updated_at) VALUES ('t', 'w', 'p', 2, 'open', 1, '', 'a', 5, 1, 1);
     INSERT INTO task_texts (seq, content, labels) VALUES (1, 'a task from before', '[]')`,
  );
  const old = new pg.Client({ connectionString: url, application_name: "dibs/1" });
  await old.connect();
  await expect(migrateTo(url, ...MIGRATIONS.slice(0, 2))).rejects.toThrow(
    /works only for nodes written for version 2 or later, and 1 connections/,
  );
  await expect(openStore(url)).rejects.toThrow(/works only for nodes .* and 1 connections/);
  await old.end();
  const store = await vi.waitFor(() => node(url), 10_000);
  const task = await store.transaction("read", async (tx) => tx.tasks.byId("w", "t"));
  expect(task).toMatchObject({ content: "a task from before", blockers: 0, open_blockers: 0, has_dependents: 0 });
});

test("a schema too new for this code is refused, and says what to do", async () => {
  const url = await database();
  await migrateTo(url, ...MIGRATIONS, next, tooFar);
  for (const migrate of [true, false]) {
    await expect(openStore(url, { migrate })).rejects.toMatchObject({
      code: "store_unavailable",
      message: `The store's schema is version ${NOW + 2}, made by a newer Dibs; this one knows ${NOW} and can't work with it. Update Dibs.`,
    });
  }
});

test("without leave to migrate an old schema is refused, and says what to do", async () => {
  const url = await database();
  await expect(openStore(url, { migrate: false })).rejects.toMatchObject({
    code: "store_unavailable",
    message: `The store's schema is version 0, this Dibs needs ${NOW}: run dibs migrate, or start with DIBS_MIGRATE=auto.`,
  });
  expect(await query(url, "SELECT to_regclass('tasks') IS NULL AS untouched")).toEqual([{ untouched: true }]);
  await node(url);
  await node(url, { migrate: false });
});

test("a node that waited for another's migration sees it, whatever it had looked up before", async () => {
  const url = await database();
  // Few catalog changes: many would make the server itself tell the others that what they remember is old.
  const small: PostgresMigration = { sql: "CREATE TABLE small (n bigint)", worksFor: 1 };
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query(`SELECT pg_advisory_lock(${MIGRATION_LOCK})`);
  const waiting = Promise.all(Array.from({ length: 4 }, () => migrateTo(url, small)));
  const inLine = "SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
  await vi.waitFor(async () => expect((await holder.query(inLine)).rows).toEqual([{ n: 4 }]), 10_000);
  await migratePostgres(holder, { migrations: [small] });
  await holder.query(`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`);
  expect(await waiting).toEqual(Array(4).fill({ from: 1, to: 1 }));
});

test("a database whose transactions are stricter by default is used as any other", async () => {
  const url = await database();
  const name = new URL(url).pathname.slice(1);
  await query(url, `ALTER DATABASE ${name} SET default_transaction_isolation = 'repeatable read'`);
  const scene = await StoreScene.set({ open: () => openStore(url), pass: () => {}, remove: () => {} });
  const other = await node(url);
  await scene.write(async (tx) => {
    const task = await other.transaction("write", (others) => scene.task(others));
    expect(await tx.tasks.byId(task.workspace_id, task.id)).toMatchObject({ content: task.content });
  });
});

test("nodes that start at once migrate once", async () => {
  const url = await database();
  await Promise.all(Array.from({ length: 8 }, () => node(url)));
  const ran = await Promise.all(Array.from({ length: 8 }, () => migrateTo(url, ...MIGRATIONS, next)));
  expect(ran.filter(({ from, to }) => from === NOW && to === NOW + 1)).toHaveLength(1);
  expect(ran.filter(({ from, to }) => from === NOW + 1 && to === NOW + 1)).toHaveLength(7);
  expect(await query(url, "SELECT step::int FROM steps_done")).toEqual([{ step: 1 }]);
});

test("a step that fails leaves nothing behind, and the nodes at work", async () => {
  const url = await database();
  const store = await node(url);
  const broken = { sql: "ALTER TABLE tasks ADD COLUMN colour text; SELECT nonsense", worksFor: NOW };
  await expect(migrateTo(url, ...MIGRATIONS, broken)).rejects.toThrow(/nonsense/);
  expect(await query(url, "SELECT version::int FROM dibs_schema")).toEqual([{ version: NOW }]);
  expect(await migrateTo(url, ...MIGRATIONS, next)).toEqual({ from: NOW, to: NOW + 1 });
  await store.transaction("write", async () => {});
});
