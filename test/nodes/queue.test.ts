import { tmpdir } from "node:os";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { limit, measured, rounds, spread } from "../support/campaign.js";
import { Injected, told } from "../support/linearizability/broken-histories.js";
import { check } from "../support/linearizability/check.js";
import { type Histories, recordTasks } from "../support/linearizability/record.js";
import { taskModel } from "../support/linearizability/task-model.js";
import { Nodes } from "../support/nodes.js";
import { brokenInDatabase, startPostgres, type TestServer } from "../support/postgres.js";
import { type QueuedTask, QueueWorker } from "../support/queue-worker.js";

const CLIENTS = 48;
const TASKS = rounds(1_000, 10_000);
const AGENTS = 6;
const LABELS = ["gpu", "web", "db"];
/** Long enough that none ends by itself. */
const TTL_MS = 3_600_000;

describe("three nodes on one Postgres", () => {
  let postgres: TestServer;
  let nodes: Nodes;

  beforeAll(async () => {
    postgres = await startPostgres({ durable: true, parent: tmpdir() });
  });
  afterAll(() => postgres.stop());
  beforeEach(async () => {
    nodes = await Nodes.start(postgres, 3);
    const http = nodes.node(0).client();
    await http.send("PATCH", "/v1/workspace", { lease_seconds_min: 1, lease_seconds_max: TTL_MS / 1_000 });
    http.close();
  });
  afterEach(() => nodes.stop());

  test(
    "give 48 clients every task once, with labels, priorities and assignments, in a history that one client could have made (R1, R15, R57)",
    async () => {
      const agents = await addAgents();
      const tasks = await addTasks(agents.map(({ id }) => id));
      const histories: Histories = new Map(tasks.map(({ id }) => [id, []]));
      const queue = { labels: LABELS, tasks, histories, completedMs: new Map<string, number>(), ttlMs: TTL_MS };
      const startedAt = performance.now();
      const workers = Array.from({ length: CLIENTS }, (_, at) => {
        const agent = agents[at % AGENTS] as Agent;
        return new QueueWorker(at, nodes.node(at).client(agent.key), agent.id, queue);
      });
      await Promise.all(workers.map((worker) => worker.run()));
      const seconds = (performance.now() - startedAt) / 1_000;

      const [met] = await nodes.rows<{ undone: number; deadlocks: number }>(
        "SELECT xact_rollback AS undone, xact_commit AS done, deadlocks FROM pg_stat_database WHERE datname = current_database()",
      );
      const completed = workers.flatMap((worker) => worker.completed);
      expect(completed.length).toBe(TASKS);
      expect(new Set(completed).size).toBe(TASKS);
      expect(workers.flatMap((worker) => worker.wronglyGiven)).toEqual([]);
      expect(await brokenInDatabase(nodes.database)).toEqual([]);
      const rows = await nodes.rows<{ status: string; n: number }>(
        "SELECT status, count(*) AS n FROM tasks GROUP BY 1",
      );
      expect(rows).toEqual([{ status: "completed", n: TASKS }]);
      const events = await nodes.rows<{ n: number }>("SELECT count(*) AS n FROM events WHERE type = 'task.completed'");
      expect(events).toEqual([{ n: TASKS }]);

      for (const history of histories.values()) expect(told(check(history, taskModel))).toBe("linearizable");
      const injected = new Injected(TTL_MS);
      injected.breakAll(histories);
      injected.expectAllFound("of 48 clients on three nodes", ["second grant"]);
      const calls = workers.reduce((sum, worker) => sum + worker.calls, 0);
      measured("three nodes, 48 clients", { tasks: TASKS, calls, seconds: Math.round(seconds), ...met });
    },
    limit(180_000),
  );

  test(
    "record histories of a few tasks fought over that one client could have made, and a broken one is found (R1, R3, R4, R7)",
    async () => {
      const load = { clients: 12, operations: rounds(100, 200), tasks: 6, ttlMs: 1_000 };
      const injected = new Injected(load.ttlMs);
      const checkMs: number[] = [];
      for (let round = 0; round < rounds(1, 50); round++) {
        const histories = await recordTasks(nodes.all, load);
        for (const history of histories.values()) {
          const startedAt = performance.now();
          expect(told(check(history, taskModel))).toBe("linearizable");
          checkMs.push(performance.now() - startedAt);
        }
        injected.breakAll(histories);
      }
      measured("linearizability of a task's history on three nodes, check ms", {
        histories: checkMs.length,
        ...spread(checkMs),
      });
      injected.expectAllFound("on three nodes");
      expect(await brokenInDatabase(nodes.database)).toEqual([]);
    },
    limit(180_000),
  );

  interface Agent {
    readonly id: string;
    readonly key: string;
  }

  async function addAgents(): Promise<Agent[]> {
    const http = nodes.node(0).client();
    const agents: Agent[] = [];
    for (let at = 0; at < AGENTS; at++) agents.push((await http.post("/v1/agents", { name: `agent-${at}` })).body);
    http.close();
    return agents;
  }

  /** A tenth is assigned to somebody, half has labels; of every priority. */
  async function addTasks(agentIds: readonly string[]): Promise<QueuedTask[]> {
    const http = nodes.node(0).client();
    const tasks: QueuedTask[] = [];
    while (tasks.length < TASKS) {
      const batch = Array.from({ length: Math.min(500, TASKS - tasks.length) }, (_, nth) => {
        const at = tasks.length + nth;
        return {
          content: `task ${at}`,
          priority: 1 + (at % 4),
          labels: LABELS.filter((_, label) => at % 2 === 0 && ((at >> 1) >> label) % 2 === 1),
          ...(at % 10 === 3 ? { assigned_to_agent_id: agentIds[at % AGENTS] } : {}),
        };
      });
      const made = await http.post("/v1/tasks/batch", { tasks: batch });
      expect(made.status).toBe(201);
      tasks.push(...batch.map((task, nth) => ({ ...task, id: made.body[nth].id as string })));
    }
    http.close();
    return tasks;
  }
});
