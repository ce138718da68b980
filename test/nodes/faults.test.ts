import { tmpdir } from "node:os";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFailed, test } from "vitest";
import { BadNetwork } from "../support/bad-network.js";
import { limit, measured, rounds, spread } from "../support/campaign.js";
import { Journal } from "../support/journal.js";
import { CLAIM_EVENTS, checkTruth, drain, TASK_RECORDS, type TaskRecord } from "../support/journaled-work.js";
import { Nodes, RoamingClient } from "../support/nodes.js";
import { brokenInDatabase, query, startPostgres, type TestServer } from "../support/postgres.js";
import type { RawAnswer } from "../support/raw-http.js";
import { ScratchFolder } from "../support/scratch-folder.js";

const CLIENTS = 12;
const TASKS = rounds(240, 1_000);
const FAULTS = rounds(3, 20);

describe("three nodes on one database, 12 clients with journals", () => {
  let folder: ScratchFolder;
  let postgres: TestServer;
  let nodes: Nodes;

  beforeAll(async () => {
    // On a disk, as an operator runs it: what it acknowledged must be there after its crash.
    postgres = await startPostgres({ durable: true, parent: tmpdir() });
  });
  afterAll(() => postgres.stop());
  beforeEach(() => {
    folder = new ScratchFolder();
  });
  afterEach(async () => {
    await nodes.stop();
    folder.remove();
  });

  test(
    "a node killed with -9 and started again costs no acknowledged answer and no second holder (R8, R55, R57)",
    async () => {
      nodes = await Nodes.start(postgres, 3);
      const startMs: number[] = [];
      const journal = await work(async (nth) => {
        const node = nodes.node(nth);
        await node.kill();
        startMs.push(await node.restart());
      });
      measured("three nodes, kill -9 of one", { kills: FAULTS, ...lostIn(journal), ...spread(startMs) });
    },
    limit(60_000),
  );

  test(
    "Postgres restarted at once (immediate): 503 with Retry-After meanwhile, and every node works again by itself (R57)",
    async () => {
      nodes = await Nodes.start(postgres, 3);
      const backMs: number[] = [];
      const pids = nodes.all.map(({ pid }) => pid);
      const journal = await work(async () => {
        await postgres.crash();
        for (const node of nodes.all) await expectUnavailable(node.client());
        await postgres.startAgain();
        const startedAt = performance.now();
        await Promise.all(nodes.all.map((node) => untilServes(node.client())));
        backMs.push(performance.now() - startedAt);
      });
      expect(nodes.all.map(({ pid }) => pid)).toEqual(pids);
      measured("Postgres restarted, until all nodes serve, ms", {
        restarts: FAULTS,
        ...lostIn(journal),
        ...spread(backMs),
      });
    },
    limit(60_000),
  );

  test(
    "all of Dibs's connections terminated, time after time: nothing is lost (R57)",
    async () => {
      nodes = await Nodes.start(postgres, 3);
      let ended = 0;
      const journal = await work(async () => {
        const terminated = await query(
          postgres.url,
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'dibs/%'",
        );
        ended += terminated.length;
      }, FAULTS * 4);
      expect(ended).toBeGreaterThan(FAULTS * 4);
      measured("connections terminated", { ended, ...lostIn(journal) });
    },
    limit(60_000),
  );

  test(
    "a network of latency and resets between the nodes and the database: nothing is lost (R57)",
    async () => {
      const networks: BadNetwork[] = [];
      nodes = await Nodes.start(postgres, 3, async (database) => {
        const network = await BadNetwork.before(database);
        networks.push(network);
        return network.url;
      });
      for (const network of networks) network.latencyMs = [1, 15];
      const journal = await work(async (nth) => {
        for (const [at, network] of networks.entries()) network.reset(at === nth % 3 ? 1 : 0.3);
      }, FAULTS * 4);
      const resets = networks.reduce((sum, network) => sum + network.resets, 0);
      expect(resets).toBeGreaterThan(FAULTS * 4);
      measured("network of 1..15 ms each way, with resets", { resets, ...lostIn(journal) });
      await Promise.all(networks.map((network) => network.close()));
    },
    limit(60_000),
  );

  /** All tasks are claimed and completed while faults happen at random instants; then what was told is compared. */
  async function work(fault: (nth: number) => Promise<void>, faults = FAULTS): Promise<Journal> {
    onTestFailed(() => {
      for (const node of nodes.all) console.error(node.log.slice(-3_000));
    });
    const journal = new Journal(folder.file("journal"));
    const http = nodes.node(0).client();
    const tasks = Array.from({ length: TASKS }, (_, at) => ({ content: `task ${at}` }));
    expect((await http.post("/v1/tasks/batch", { tasks })).status).toBe(201);
    http.close();
    let over = false;
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      const roaming = new RoamingClient(nodes, client);
      await drain({ client, journal, http: roaming.http, again: roaming.next });
      roaming.close();
    });
    const drained = Promise.all(clients).finally(() => {
      over = true;
    });
    for (let nth = 0; nth < faults && !over; nth++) {
      const answered = Math.floor(((nth + Math.random()) / faults) * TASKS * 1.8);
      while (!over && journal.answered < answered) await new Promise((resolve) => setTimeout(resolve, 1));
      await fault(nth);
    }
    await drained;
    // Else the faults met nobody and proved nothing.
    expect(lostIn(journal).lost).toBeGreaterThan(0);
    for (const answer of journal.unavailable) expectPolite(answer);
    expect(await brokenInDatabase(nodes.database)).toEqual([]);
    const [claims] = await nodes.rows<{ n: number }>(CLAIM_EVENTS);
    checkTruth(journal, await nodes.rows<TaskRecord>(TASK_RECORDS), claims?.n ?? 0);
    return journal;
  }
});

type Http = ReturnType<Nodes["all"][number]["client"]>;

/** Every kind of call says that the store is not there: no 500, nothing remembered, no empty list. */
async function expectUnavailable(http: Http): Promise<void> {
  const answers = await Promise.all([
    http.get("/v1/tasks"),
    http.get("/v1/claims"),
    http.get("/v1/events"),
    http.get("/v1/agent/me"),
    http.get("/readyz"),
    http.post("/v1/tasks/claim"),
    http.post("/v1/tasks/claim", { wait_seconds: 5 }),
    http.post("/v1/tasks", { content: "never" }),
    http.post("/v1/sessions"),
  ]);
  http.close();
  for (const answer of answers) expectPolite(answer);
}

function expectPolite({ status, body, headers }: RawAnswer): void {
  expect([status, body.code]).toEqual([503, "store_unavailable"]);
  expect(Number(headers["retry-after"])).toBeGreaterThan(0);
}

async function untilServes(http: Http): Promise<void> {
  for (;;) {
    const answers = await Promise.all([http.get("/v1/agent/me"), http.get("/readyz")]);
    if (answers.every(({ status }) => status === 200)) break;
    for (const answer of answers) if (answer.status !== 200) expectPolite(answer);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  http.close();
}

function lostIn(journal: Journal): { lost: number; unavailable: number } {
  const lost = journal.entries.reduce((sum, entry) => sum + entry.lost, 0);
  return { lost, unavailable: journal.unavailable.length };
}
