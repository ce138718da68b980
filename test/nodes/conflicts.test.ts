import { type OpenStore, open, operations } from "dibs";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { freshDatabase, query } from "../support/postgres.js";

const CALLER = { identity: { kind: "file", agent: "tester" } } as const;

describe("a transaction that meets others", () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let store: OpenStore;
  const faults: string[] = [];

  beforeEach(async () => {
    database = await freshDatabase(inject("postgres"));
    store = await open({ store: database.url, onFault: (_operation, cause) => faults.push(cause) });
  });
  afterEach(async () => {
    await store.close();
    await database.drop();
  });

  test.each([
    ["a deadlock", "40P01"],
    ["a serialization failure", "40001"],
  ])("is undone by %s and done again, and nobody is shown that (R57)", async (_what, code) => {
    await undoneFirst(code, 5);
    const made = await store.call(operations.create_task, { content: "one" }, CALLER);
    expect(made.status).toBe(201);
    const events = await query(database.url, "SELECT type FROM events WHERE task_id IS NOT NULL");
    expect(events).toEqual([{ type: "task.created" }]);
  });

  test("again and again is told that the store is busy, which may be repeated, not of a fault of ours (R57)", async () => {
    await undoneFirst("40P01", 1_000);
    const busy = { code: "store_unavailable", retryable: true };
    await expect(store.call(operations.create_task, { content: "one" }, CALLER)).rejects.toMatchObject(busy);
    expect(faults).toEqual([]);
    // Its neighbours are not held up by it for long, and what was undone left nothing.
    expect((await store.call(operations.list_tasks, {}, CALLER)).body).toEqual([]);
  });

  /** The first so many commits that create a task are undone, as by another node's transaction. */
  async function undoneFirst(code: string, times: number): Promise<void> {
    await query(
      database.url,
      `CREATE SEQUENCE tries;
       CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF nextval('tries') <= ${times} THEN RAISE EXCEPTION 'undone' USING ERRCODE = '${code}'; END IF;
         RETURN NULL;
       END $$;
       CREATE CONSTRAINT TRIGGER undo AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW WHEN (NEW.type = 'task.created') EXECUTE FUNCTION undo()`,
    );
  }
});
