import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { limit, measured, rounds, spread } from "../support/campaign.js";
import { type Claimed, Crowd, type CrowdSize } from "../support/claim-waves.js";
import { ScratchFolder } from "../support/scratch-folder.js";
import { ServerProcess } from "../support/server-process.js";
import { brokenIn, StoreFile } from "../support/store-file.js";

// A command line costs half a second of CPU to start; the campaign has 64 of them and 200 tasks, the suite fewer.
const cli = rounds(12, 64);
const few = rounds(18, 200);
const crowds: [name: string, size: CrowdSize, tasks: number][] = [
  ["over HTTP", { http: 64, cli: 0 }, 200],
  ["on the bare file through the command line", { http: 0, cli }, few],
  ["half over HTTP and half on the bare file", { http: cli / 2, cli: cli / 2 }, few],
];

describe("separate processes claim at one instant (R15, R56, C02)", () => {
  let folder: ScratchFolder;
  let server: ServerProcess;

  beforeEach(async () => {
    folder = ScratchFolder.onDisk();
    server = await ServerProcess.start({ store: `sqlite:${folder.file("dibs.db")}` });
  });
  afterEach(async () => {
    await server.stop();
    folder.remove();
  });

  test.each(crowds)(
    "%s: every task goes to exactly one, the rest get null, nobody gets an error",
    async (name, size, tasks) => {
      const crowd = new Crowd(size, server);
      try {
        // A round drains the tasks in waves, each an instant of its own: 200 tasks in four. So this is 20 instants at least.
        const long = size.cli === 0 ? 20 : 5;
        for (let round = 0; round < rounds(2, long); round++) await drain(name, round, crowd, tasks);
      } finally {
        crowd.end();
      }
    },
    limit(180_000),
  );

  async function drain(name: string, round: number, crowd: Crowd, tasks: number): Promise<void> {
    const http = server.client();
    const startedAt = performance.now();
    const wanted = Array.from({ length: tasks }, (_, at) => ({ content: `task ${at}` }));
    const made = await http.post("/v1/tasks/batch", { tasks: wanted });
    const ids = made.body.map((task: { id: string }) => task.id);
    const granted: Claimed[] = [];
    const tookMs: number[] = [];
    while (granted.length < tasks) {
      const wave = await crowd.wave();
      expect(wave.filter(({ fault }) => fault !== null)).toEqual([]);
      const grants = wave.filter(({ taskId }) => taskId !== null);
      // Null only where the queue was empty: a wave that could be served in full was.
      expect(grants.length).toBe(Math.min(wave.length, tasks - granted.length));
      granted.push(...grants);
      tookMs.push(...wave.map((one) => one.tookMs));
    }
    expect(granted.map(({ taskId }) => taskId).sort()).toEqual([...ids].sort());
    expect(new Set(granted.map(({ leaseId }) => leaseId)).size).toBe(tasks);
    expect((await http.post("/v1/tasks/claim")).body.task).toBe(null);
    expect(brokenIn(new StoreFile(folder.file("dibs.db")))).toEqual([]);
    const { p50, p99, max } = spread(tookMs);
    const roundMs = Math.round(performance.now() - startedAt);
    measured(`claims at one instant, ${name}`, { round, claims: tookMs.length, p50, p99, max, roundMs });
    http.close();
  }
});
