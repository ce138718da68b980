import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { ON_SQLITE } from "../support/any-store.js";
import { FreshStore } from "../support/fresh-store.js";

/** What nodes do with names at one instant; a file has one writer at a time. */

describe.skipIf(ON_SQLITE)("nodes that write names at one instant", () => {
  test("a renewal that read the clock in time and comes after the name was granted anew renews nothing (R1, R16)", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    // More ends at that instant than one call puts on record, and path:a is the last of it.
    const scopes = ["port:1", "port:2", "port:3", "port:4", "port:5", "port:6", "path:a"];
    await fresh.ask("claim_scopes", { scopes, intent: "x", ttl_seconds: 30 }, ann);
    const { id } = await fresh.task({ scopes: ["path:a/b"] });
    const other = await fresh.another();
    fresh.time.pass(29_999);

    // Its transaction has read the clock, and waits for a branch that another call in it is about.
    const stopper = await connected(fresh);
    const [project] = await fresh.ask("list_projects", {}, ann);
    await stopper.query("BEGIN");
    await stopper.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 7))", [`${project?.id} b`]);
    const declared = fresh.ask("declare_unlanded", { branch: "b", scopes: ["port:9"] }, ann, other);
    const renewal = fresh.ask("heartbeat_scopes", { scopes: ["path:a"] }, ann, other);
    await expect.poll(() => waiting(fresh)).toBe(1);
    fresh.time.pass(1);
    const task = (await fresh.ask("claim_task", { task_id: id }, ben)).task;
    await stopper.query("COMMIT");
    expect(await renewal).toMatchObject({ items: [{ scope: "path:a", outcome: "lost" }] });
    await declared;
    await other.close();
    const held = await fresh.ask("list_claims", { kind: "path" }, fresh.root);
    expect(held.map(({ scope, task_id }) => [scope, task_id])).toEqual([["path:a/b", task?.id]]);
  });

  test("who lets go of a name and who claims the task that sleeps behind it don't wait for each other", async () => {
    const fresh = await FreshStore.open();
    const [one, other] = [await fresh.another(), await fresh.another()];
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    await fresh.ask("claim_scopes", { scopes: ["path:a"], intent: "x" }, ann);
    const { id } = await fresh.task({ scopes: ["path:a"] });
    expect((await fresh.ask("claim_next_task", {}, ben)).skipped_count).toBe(1);

    // Who lets go holds the names, and stops in front of the claim; then the other begins.
    const stopper = await connected(fresh);
    await stopper.query("BEGIN");
    await stopper.query("SELECT 1 FROM scope_claims FOR UPDATE");
    const released = fresh.ask("release_scopes", { all: true }, ann, one);
    await expect.poll(() => waiting(fresh)).toBe(1);
    const claimed = fresh.ask("claim_task", { task_id: id }, ben, other);
    await expect.poll(() => waiting(fresh)).toBe(2);
    await stopper.query("COMMIT");
    await released;
    expect((await claimed).task).toMatchObject({ id, status: "claimed" });
    // Connections tell what they have met when they end.
    await one.close();
    await other.close();
    await expect.poll(() => connections(fresh, "dibs/%")).toBe(2);
    expect(await deadlocks(fresh)).toBe(0);
  });
});

async function connected(fresh: FreshStore): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: fresh.kept.url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Calls that wait for a lock of the database's. */
async function waiting(fresh: FreshStore): Promise<number> {
  const sql = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database()
    AND wait_event_type = 'Lock'`;
  const [row] = await fresh.kept.rows<{ n: number }>(sql);
  return row?.n ?? 0;
}

async function connections(fresh: FreshStore, like: string): Promise<number> {
  const sql = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database()
    AND application_name LIKE '${like}'`;
  const [row] = await fresh.kept.rows<{ n: number }>(sql);
  return row?.n ?? 0;
}

async function deadlocks(fresh: FreshStore): Promise<number> {
  const sql = "SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = current_database()";
  const [row] = await fresh.kept.rows<{ n: number }>(sql);
  return row?.n ?? 0;
}
