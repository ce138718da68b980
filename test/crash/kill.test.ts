import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { limit, measured, rounds, spread } from "../support/campaign.js";
import { Journal } from "../support/journal.js";
import type { RawAnswer } from "../support/raw-http.js";
import { ScratchFolder } from "../support/scratch-folder.js";
import { ServerProcess } from "../support/server-process.js";
import { brokenIn, StoreFile } from "../support/store-file.js";

const CLIENTS = 8;
const TASKS = 500;

/** Both cores busy for a second. */
const CPU_LIMIT_MS = 2_000;

interface Start {
  readonly tookMs: number;
  readonly cpuMs: number | undefined;
}

describe("kill -9 of the server in the middle of 1,000 claims and completions by 8 clients", () => {
  let folder: ScratchFolder;
  let server: ServerProcess;
  let file: StoreFile;

  beforeEach(async () => {
    folder = new ScratchFolder();
    file = new StoreFile(folder.file("dibs.db"));
    server = await ServerProcess.start({ file: file.path });
  });
  afterEach(async () => {
    await server.kill();
    folder.remove();
  });

  test(
    "no acknowledged answer is lost, no task is held twice, and it serves again within a second (R8, R55, R59, C55)",
    async () => {
      const starts: Start[] = [];
      let lost = 0;
      for (let round = 0; round < rounds(3, 20); round++) {
        const journal = new Journal(folder.file(`journal-${round}`));
        await oneRound(journal, rounds(2, 5), starts);
        lost += journal.entries.reduce((sum, entry) => sum + entry.lost, 0);
        expect(brokenIn(file)).toEqual([]);
        checkTruth(journal);
      }
      // Else the kills met nobody and proved nothing.
      expect(lost).toBeGreaterThan(0);
      const wall = spread(starts.map(({ tookMs }) => tookMs));
      measured("kill -9, start until /livez, ms", { kills: starts.length, lost, ...wall });
      // CPU time, as a busy machine says nothing about the server; on two idle cores the wall time is below it.
      const cpu = spread(starts.map(({ cpuMs }) => cpuMs ?? 0));
      measured("kill -9, start until /livez, CPU ms", cpu);
      expect(cpu.p50).toBeLessThan(CPU_LIMIT_MS);
    },
    limit(180_000),
  );

  /** 500 tasks are claimed and completed by 8 clients while the server is killed at random instants. */
  async function oneRound(journal: Journal, kills: number, starts: Start[]): Promise<void> {
    const http = server.client();
    const tasks = Array.from({ length: TASKS }, (_, at) => ({ content: `task ${at}` }));
    expect((await http.post("/v1/tasks/batch", { tasks })).status).toBe(201);
    http.close();
    let down: Promise<void> | undefined;
    const again = async () => {
      await down;
      await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const clients = Array.from({ length: CLIENTS }, (_, at) => worker(at, journal, again));
    let over = false;
    const drained = Promise.all(clients).finally(() => {
      over = true;
    });
    for (let kill = 0; kill < kills; kill++) {
      // At a random place of this part of the work, and there at a random instant.
      const answered = Math.floor(((kill + Math.random()) / kills) * TASKS * 1.8);
      await until(() => over || journal.answered >= answered);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
      down = server
        .kill()
        .then(() => server.restart())
        .then((tookMs) => void starts.push({ tookMs, cpuMs: server.cpuMs }));
      await down;
    }
    await drained;
  }

  async function worker(client: number, journal: Journal, again: () => Promise<void>): Promise<void> {
    const http = server.client();
    const session = (await http.post("/v1/sessions", { client: `client ${client}` })).body?.id;
    expect(session).toBeTypeOf("string");
    const bound = {
      post: (path: string, body: object, options: object) => http.post(path, body, { ...options, session }),
    };
    const call = (path: string, body: object) => journal.call(client, bound as typeof http, path, body, again);
    for (;;) {
      const { status, body } = await call("/v1/tasks/claim", {});
      expect(status).toBe(200);
      if (body.task === null) break;
      const { id, lease_id, fence } = body.task;
      if (fence % 3 === 0) await call(`/v1/tasks/${id}/release`, { lease_id, fence });
      else {
        const done = await call(`/v1/tasks/${id}/complete`, { lease_id, fence, result: { client, lease_id } });
        expect([done.status, done.body.status]).toEqual([200, "completed"]);
      }
    }
    http.close();
  }

  /** Compares what the clients were told with what the store has now. */
  function checkTruth(journal: Journal): void {
    const rows = file.rows<{ id: string; status: string; fence: number; result: string | null }>(
      "SELECT t.id, t.status, t.fence, x.result FROM tasks t JOIN task_texts x ON x.seq = t.seq",
    );
    const tasks = new Map(rows.map((row) => [row.id, row]));
    const fencesSeen = new Map<string, Set<number>>();
    for (const { path, body, answer } of journal.entries) {
      const { status, body: said } = answer as RawAnswer;
      expect(status).toBe(200);
      const task = tasks.get(said.task?.id ?? said.id);
      if (path === "/v1/tasks/claim" && said.task !== null) {
        // One grant a fence: nobody else was told that it holds the task under the same one.
        const seen = fencesSeen.get(said.task.id) ?? new Set();
        expect(seen.has(said.task.fence)).toBe(false);
        fencesSeen.set(said.task.id, seen.add(said.task.fence));
        expect(task?.fence).toBeGreaterThanOrEqual(said.task.fence);
      }
      if (path.endsWith("/complete")) {
        expect(task?.status).toBe("completed");
        expect(JSON.parse(task?.result ?? "null")).toEqual((body as { result: unknown }).result);
      }
    }
    const claims = file.rows<{ n: number }>("SELECT count(*) AS n FROM events WHERE type = 'task.claimed'")[0]?.n;
    const grants = rows.reduce((sum, row) => sum + row.fence, 0);
    expect(claims).toBe(grants);
    // Every grant in the store was told to somebody: a call repeated with its key had one effect.
    const told = [...fencesSeen.values()].reduce((sum, seen) => sum + seen.size, 0);
    const ours = rows.filter((row) => fencesSeen.has(row.id)).reduce((sum, row) => sum + row.fence, 0);
    expect(told).toBe(ours);
    expect(rows.filter((row) => row.status !== "completed")).toEqual([]);
  }
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}
