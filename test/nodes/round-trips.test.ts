import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { BadNetwork } from "../support/bad-network.js";
import { measured } from "../support/campaign.js";
import { Nodes } from "../support/nodes.js";
import type { RawHttp } from "../support/raw-http.js";

const EACH_WAY_MS = 50;
/** The quickest of a few: none waits for the network less often than it must, and some wait for this machine. */
const TRIES = 6;

let network: BadNetwork;
let nodes: Nodes;
let http: RawHttp;

beforeAll(async () => {
  nodes = await Nodes.start({ url: inject("postgres") }, 1, async (database) => {
    network = await BadNetwork.before(database);
    return network.url;
  });
  http = nodes.node(0).client();
});
afterAll(async () => {
  http.close();
  await nodes.stop();
  await network.close();
});

test("a claim, a heartbeat and a completion wait for the database twice each: to read, and to commit", async () => {
  const tasks = Array.from({ length: TRIES + 1 }, (_, at) => ({ content: `task ${at}`, labels: ["far"] }));
  await http.post("/v1/tasks/batch", { tasks });
  // The first knows neither caller nor session.
  await http.post("/v1/tasks/claim", { labels: ["far"] });
  network.latencyMs = [EACH_WAY_MS, EACH_WAY_MS];

  const waits: Record<string, number[]> = { claim: [], heartbeat: [], complete: [] };
  for (let nth = 0; nth < TRIES; nth++) {
    const waited = async (what: string, path: string, body: object) => {
      const startedAt = performance.now();
      const answer = await http.post(path, body);
      expect(answer.status).toBe(200);
      waits[what]?.push((performance.now() - startedAt) / (2 * EACH_WAY_MS));
      return answer.body;
    };
    const { task } = await waited("claim", "/v1/tasks/claim", { labels: ["far"] });
    const { lease_id } = task;
    await waited("heartbeat", `/v1/tasks/${task.id}/heartbeat`, { lease_id });
    await waited("complete", `/v1/tasks/${task.id}/complete`, { lease_id });
  }
  const least = Object.entries(waits).map(([what, each]) => [what, Math.floor(Math.min(...each))]);
  expect(least).toEqual([
    ["claim", 2],
    ["heartbeat", 2],
    ["complete", 2],
  ]);
  measured("round trips to the database", Object.fromEntries(least));
});
