import pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Nodes } from "../support/nodes.js";
import type { RawHttp } from "../support/raw-http.js";

let nodes: Nodes;
let holder: RawHttp;
let reader: RawHttp;

beforeAll(async () => {
  nodes = await Nodes.start({ url: inject("postgres") }, 2);
  [holder, reader] = [nodes.node(0).client(), nodes.node(1).client()] as [RawHttp, RawHttp];
  await holder.send("PATCH", "/v1/workspace", { lease_seconds_min: 1 });
});
afterAll(async () => {
  holder.close();
  reader.close();
  await nodes.stop();
});

const untilMs = (atMs: number) => new Promise((resolve) => setTimeout(resolve, atMs - Date.now()));

test("who asks for a task isn't told of its lease's end while a renewal is under way (R1)", async () => {
  // A renewal that reads the clock in time, and commits when the lease it renews would be over.
  await nodes.rows(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(3); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON tasks DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.lease_id = OLD.lease_id AND NEW.lease_until > OLD.lease_until) EXECUTE FUNCTION slow()`);
  await holder.post("/v1/tasks", { content: "kept" });
  const { task } = (await holder.post("/v1/tasks/claim", { lease_seconds: 2 })).body;
  const endsMs = Date.parse(task.lease_expires_at);
  await untilMs(endsMs - 1500);
  const renewal = holder.post(`/v1/tasks/${task.id}/heartbeat`, { lease_id: task.lease_id, lease_seconds: 60 });
  await untilMs(endsMs + 50);
  const [{ body: read }, { body: why }] = await Promise.all([
    reader.get(`/v1/tasks/${task.id}`),
    reader.get(`/v1/tasks/${task.id}/why`),
  ]);
  expect((await renewal).status).toBe(200);
  expect([read.status, read.lease_id]).toEqual(["claimed", task.lease_id]);
  expect(why.ready).toBe(false);
});

test("who claims isn't told that there is nothing while another transaction has the only task in hand, however long (R15)", async () => {
  const { body: task } = await holder.post("/v1/tasks", { content: "in hand", labels: ["hand"] });
  const other = new pg.Client({ connectionString: nodes.database });
  await other.connect();
  await other.query("BEGIN");
  await other.query("SELECT 1 FROM tasks WHERE id = $1 FOR UPDATE", [task.id]);
  const claim = reader.post("/v1/tasks/claim", { labels: ["hand"] });
  await untilMs(Date.now() + 1_500);
  await other.query("ROLLBACK");
  await other.end();
  const { body } = await claim;
  expect(body.task?.id).toBe(task.id);
});
