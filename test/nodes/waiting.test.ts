import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { BadNetwork } from "../support/bad-network.js";
import { limit, measured, rounds, spread } from "../support/campaign.js";
import { Nodes } from "../support/nodes.js";
import type { RawHttp } from "../support/raw-http.js";

/** What a waiter is promised, with hints and without. */
const HANDED_OVER_MS = 1_000;

describe.each([
  ["with LISTEN and NOTIFY", ""],
  ["without, as behind a pooler of transactions", "?pooler=transaction"],
])("calls that wait at one node, %s", (how, parameters) => {
  let nodes: Nodes;
  let https: RawHttp[];

  beforeAll(async () => {
    nodes = await Nodes.start({ url: inject("postgres") }, 3, (database) => database + parameters);
    https = nodes.all.map((node) => node.client());
    await https[0]?.send("PATCH", "/v1/workspace", { lease_seconds_min: 1 });
  });
  afterEach(async () => {
    for (const task of (await http(0).get("/v1/tasks?status=open&limit=100")).body)
      await http(0).post(`/v1/tasks/${task.id}/cancel`, { reason: "left over" });
  });
  afterAll(async () => {
    for (const each of https) each.close();
    await nodes.stop();
  });

  const http = (node: number) => https[node] as RawHttp;

  test(
    "are handed within a second what another node makes claimable: new, released, lapsed (R21, R57)",
    async () => {
      const tookMs: number[] = [];
      for (let round = 0; round < rounds(6, 100); round++) {
        const waiter = waiterAt(1 + (round % 2));
        const taskId = (await http(0).post("/v1/tasks", { content: `new ${round}` })).body.id;
        const created = performance.now();
        const { task, atMs } = await waiter;
        expect(task?.id).toBe(taskId);
        tookMs.push(atMs - created);

        const next = waiterAt(0);
        const proof = { lease_id: task.lease_id, fence: task.fence };
        expect((await http(1).post(`/v1/tasks/${task.id}/release`, proof)).status).toBe(200);
        const released = performance.now();
        const again = await next;
        expect([again.task?.id, again.task?.fence]).toEqual([task.id, task.fence + 1]);
        tookMs.push(again.atMs - released);
        const held = { lease_id: again.task.lease_id, fence: again.task.fence };
        expect((await http(2).post(`/v1/tasks/${task.id}/complete`, held)).status).toBe(200);
      }
      measured(`a waiter on another node, ${how}, ms`, spread(tookMs));
      expect(Math.max(...tookMs)).toBeLessThan(HANDED_OVER_MS);
    },
    limit(60_000),
  );

  test("are handed what lapses by the clock under a holder of another node", async () => {
    await http(0).post("/v1/tasks", { content: "short lease" });
    const { task } = (await http(0).post("/v1/tasks/claim", { lease_seconds: 1 })).body;
    const { task: taken, tookMs } = await waiterAt(1);
    expect([taken?.id, taken?.fence]).toEqual([task.id, task.fence + 1]);
    expect(tookMs).toBeLessThan(1_000 + HANDED_OVER_MS);
  });

  test("get a task each and no task twice, however many wait at all nodes", async () => {
    const waiters = Array.from({ length: 24 }, (_, at) => waiterAt(at % 3));
    const tasks = Array.from({ length: 24 }, (_, at) => ({ content: `one of many ${at}` }));
    await http(2).post("/v1/tasks/batch", { tasks });
    const created = performance.now();
    const given = await Promise.all(waiters);
    expect(new Set(given.map(({ task }) => task?.id)).size).toBe(24);
    // Each alone has a second; all at once share this machine with three nodes and their database.
    expect(Math.max(...given.map(({ atMs }) => atMs - created))).toBeLessThan(3 * HANDED_OVER_MS);
  });

  test("see what a slow commit makes claimable, although its event had its number before (R21)", async () => {
    // The commit takes 0.3 s after the numbers were drawn: whoever looks at the numbers alone looks too early.
    await nodes.rows(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.type = 'task.created') EXECUTE FUNCTION slow()`);
    const waiter = waiterAt(1);
    const taskId = (await http(0).post("/v1/tasks", { content: "slow" })).body.id;
    const created = performance.now();
    const { task, atMs } = await waiter;
    await nodes.rows("DROP TRIGGER slow ON events");
    expect(task?.id).toBe(taskId);
    expect(atMs - created).toBeLessThan(HANDED_OVER_MS);
  });

  /** Resolves when the wait has ended; what makes the call's answer is done after it waits. */
  async function waiterAt(node: number) {
    const startedAt = performance.now();
    const { status, body } = await http(node).post("/v1/tasks/claim", { wait_seconds: 10 });
    const atMs = performance.now();
    expect(status).toBe(200);
    return { task: body.task, atMs, tookMs: atMs - startedAt };
  }
});

describe("a call that waits at a node with 0.15 s to its database", () => {
  let network: BadNetwork;
  let nodes: Nodes;

  beforeAll(async () => {
    nodes = await Nodes.start({ url: inject("postgres") }, 1, async (database) => {
      network = await BadNetwork.before(database);
      return `${network.url}?pooler=transaction`;
    });
    network.latencyMs = [150, 150];
  });
  afterAll(async () => {
    await nodes.stop();
    await network.close();
  });

  test("takes no connection from the others: what it asks the database doesn't queue up", async () => {
    const http = nodes.node(0).client();
    let waits = true;
    const waiting = http.post("/v1/tasks/claim", { wait_seconds: 8, labels: ["none"] }).finally(() => {
      waits = false;
    });
    const tookMs: number[] = [];
    while (waits) {
      const startedAt = performance.now();
      const { status } = await http.post("/v1/tasks", { content: "another" });
      // With its questions in line before it, it waited 5 s for a connection and got none.
      expect(status).toBe(201);
      tookMs.push(performance.now() - startedAt);
    }
    expect((await waiting).body.task).toBe(null);
    measured("a task's creation over 0.15 s each way, beside a waiter, ms", spread(tookMs));
    http.close();
  }, 60_000);
});
