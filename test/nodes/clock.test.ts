import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { Journal } from "../support/journal.js";
import { CLAIM_EVENTS, checkTruth, drain, TASK_RECORDS, type TaskRecord } from "../support/journaled-work.js";
import { Nodes } from "../support/nodes.js";
import { brokenInDatabase } from "../support/postgres.js";
import type { RawAnswer, RawHttp } from "../support/raw-http.js";
import { ScratchFolder } from "../support/scratch-folder.js";

const AHEAD = fileURLToPath(new URL("../support/children/two-hours-ahead.mjs", import.meta.url));
/** The third node's wall clock is two hours ahead, in each of its threads. */
const WRONG = 2;

describe("a node whose clock is two hours ahead, beside two that are right", () => {
  let folder: ScratchFolder;
  let nodes: Nodes;
  let https: RawHttp[];

  beforeEach(async () => {
    folder = new ScratchFolder();
    const envOf = (node: number): Record<string, string> =>
      node === WRONG ? { NODE_OPTIONS: `--import=${AHEAD}` } : {};
    nodes = await Nodes.start({ url: inject("postgres") }, 3, undefined, envOf);
    https = nodes.all.map((node) => node.client());
    await http(0).send("PATCH", "/v1/workspace", { lease_seconds_min: 1 });
  });
  afterEach(async () => {
    for (const each of https) each.close();
    await nodes.stop();
    folder.remove();
  });

  const http = (node: number) => https[node] as RawHttp;

  test("decides by the database's clock as they do: no lease or session ends early, none lives longer (R2)", async () => {
    expect(nodes.node(WRONG).log).toMatch(/thread 0 is two hours ahead/);
    // The engine runs in threads of its own.
    expect(nodes.node(WRONG).log).toMatch(/thread [1-9] is two hours ahead/);
    const session = (await http(0).post("/v1/sessions", { ttl_seconds: 600 })).body.id;
    await http(0).post("/v1/tasks", { content: "of a node that is right" });
    const { task } = (await http(0).post("/v1/tasks/claim", { lease_seconds: 300 }, { session })).body;

    expect((await http(WRONG).post("/v1/tasks/claim")).body.task).toBe(null);
    const stolen = await http(WRONG).post(`/v1/tasks/${task.id}/claim`);
    expect([stolen.status, stolen.body.code, stolen.body.holder?.session_id]).toEqual([409, "task_claimed", session]);
    const proof = { lease_id: task.lease_id, fence: task.fence };
    const renewed = await http(WRONG).post(`/v1/tasks/${task.id}/heartbeat`, proof, { session });
    expect(renewed.status).toBe(200);
    const now = (await http(1).get(`/v1/tasks/${task.id}`)).body;
    expect(now.status).toBe("claimed");
    expect(now.lease_remaining_ms).toBeGreaterThan(290_000);
    expect(now.lease_remaining_ms).toBeLessThanOrEqual(300_000);
    const answers = await Promise.all(https.map((each) => each.get("/v1/agent/me")));
    const times = answers.map((answer) => serverNowMs(answer));
    expect(Math.max(...times) - Math.min(...times)).toBeLessThan(5_000);

    // What it grants ends when it should, for everybody.
    await http(0).post("/v1/tasks", { content: "of the node that is wrong" });
    const short = (await http(WRONG).post("/v1/tasks/claim", { lease_seconds: 1 })).body.task;
    const next = (await http(1).post("/v1/tasks/claim", { wait_seconds: 10 })).body.task;
    expect([next?.id, next?.fence]).toEqual([short.id, short.fence + 1]);
    const late = await http(WRONG).post(`/v1/tasks/${short.id}/complete`, { lease_id: short.lease_id });
    expect([late.status, late.body.code]).toEqual([409, "lease_lost"]);
    expect(await brokenInDatabase(nodes.database)).toEqual([]);
  });

  test("shares the work of 12 clients with them: nothing lapses, nothing is held twice (R1, R2)", async () => {
    const tasks = Array.from({ length: 120 }, (_, at) => ({ content: `task ${at}` }));
    await http(0).post("/v1/tasks/batch", { tasks });
    const journal = new Journal(folder.file("journal"));
    const clients = Array.from({ length: 12 }, async (_, client) => {
      const own = nodes.node(client).client();
      await drain({ client, journal, http: () => own, again: async () => {} });
      own.close();
    });
    await Promise.all(clients);
    const [claims] = await nodes.rows<{ n: number }>(CLAIM_EVENTS);
    checkTruth(journal, await nodes.rows<TaskRecord>(TASK_RECORDS), claims?.n ?? 0);
    expect(await brokenInDatabase(nodes.database)).toEqual([]);
    expect(await nodes.rows("SELECT * FROM events WHERE type IN ('lease.expired', 'session.expired')")).toEqual([]);
    // The log's times are of one clock.
    const [spread] = await nodes.rows<{ ms: number }>("SELECT max(at) - min(at) AS ms FROM events");
    expect(spread?.ms).toBeLessThan(600_000);
  });
});

function serverNowMs({ headers }: RawAnswer): number {
  const text = String(headers["server-now"]);
  return /^\d+$/.test(text) ? Number(text) : Date.parse(text);
}
