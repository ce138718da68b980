import { describe, expect, test as plainTest } from "vitest";
import { measured, spread } from "../support/campaign.js";
import { LockedFile } from "../support/locked-file.js";
import type { RawAnswer, RawHttp } from "../support/raw-http.js";
import { ScratchFolder } from "../support/scratch-folder.js";
import { ServerProcess } from "../support/server-process.js";
import { StallWatch } from "../support/stall-watch.js";
import { brokenIn, StoreFile } from "../support/store-file.js";

/** A server of the test's own on a file, somebody who asks it, and five tasks. */
interface Scene {
  readonly file: string;
  readonly server: ServerProcess;
  readonly http: RawHttp;
  readonly session: string;
  /** Locks the file, at the latest until the test is over. */
  readonly lock: () => LockedFile;
}

const test = plainTest.extend<{ scene: Scene }>({
  // biome-ignore lint/correctness/noEmptyPattern: it stands on no other fixture.
  scene: async ({}, use) => {
    const folder = ScratchFolder.onDisk();
    const file = folder.file("dibs.db");
    const server = await ServerProcess.start({ store: `sqlite:${file}` });
    const http = server.client();
    const session = (await http.post("/v1/sessions", { client: "reader", ttl_seconds: 30 })).body.id;
    const tasks = Array.from({ length: 5 }, (_, at) => ({ content: `task ${at}` }));
    await http.post("/v1/tasks/batch", { tasks });
    const locks: LockedFile[] = [];
    const lock = () => {
      const locked = new LockedFile(file);
      locks.push(locked);
      return locked;
    };
    await use({ file, server, http, session, lock });
    for (const locked of locks) locked.free();
    http.close();
    await server.stop();
    folder.remove();
  },
});

// Side by side, as one of them waits for half a minute.
describe.concurrent("a file that another process has locked (R56)", () => {
  /** Asks again and again while `busy` runs; gives how long each answer took, ms. */
  async function latencies(ask: () => Promise<RawAnswer>, busy: Promise<unknown>): Promise<number[]> {
    const tookMs: number[] = [];
    let over = false;
    void busy.finally(() => {
      over = true;
    });
    while (!over) {
      const startedAt = performance.now();
      expect((await ask()).status).toBe(200);
      tookMs.push(performance.now() - startedAt);
      await pause(5);
    }
    return tookMs;
  }

  test("never stops the event loop: health and reads go on, also reads that are a sign of life, and writes wait", async ({
    scene: { file, server, http, session, lock },
  }) => {
    const watch = new StallWatch();
    const locked = lock();
    const claims = Promise.all(Array.from({ length: 5 }, () => http.post("/v1/tasks/claim")));
    const lockMs = 3_000;
    const busy = pause(lockMs);
    const live = await Promise.all([
      latencies(() => server.client().get("/livez"), busy),
      latencies(() => http.get("/v1/tasks"), busy),
      latencies(() => http.get("/v1/tasks", { session }), busy),
    ]);
    locked.free();
    const lostMs = watch.stop();
    const answers = await claims;
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(new Set(answers.map(({ body }) => body.task.id)).size).toBe(5);
    const [livez, reads, signs] = live.map((tookMs) => spread(tookMs));
    for (const [what, figures] of Object.entries({ livez, reads, signs })) {
      measured(`latency while the file is locked, ms: ${what}`, figures ?? {});
      // An answer that waited for the lock would have taken the whole time.
      expect([what, (figures?.max ?? 0) < lockMs / 2 + lostMs]).toEqual([what, true]);
    }
    expect(brokenIn(new StoreFile(file))).toEqual([]);
  }, 120_000);

  test("a sign of life that comes when the session has ended revives neither it nor what it held (R1, R9)", async ({
    scene: { file, http, session, lock },
  }) => {
    const { task } = (await http.post("/v1/tasks/claim", {}, { session })).body;
    // Past the eighth of its time that needs no further sign.
    new StoreFile(file).moveClock(5_000);
    const locked = lock();
    const read = http.get(`/v1/tasks/${task.id}`, { session });
    for (let look = 0; look < 20; look++) await http.get("/livez");
    // Where the sign waits for the lock, it finds that its time is over.
    locked.free("UPDATE clock SET offset_ms = 60000");
    expect((await read).status).toBe(200);
    expect((await http.get(`/v1/tasks/${task.id}`)).body).toMatchObject({ status: "open", lapsed: true });
    const again = (await http.post("/v1/tasks/claim")).body.task;
    expect([again.id, again.fence]).toEqual([task.id, task.fence + 1]);
    expect((await http.get(`/v1/sessions/${session}`)).body.state).toBe("expired");
  }, 60_000);

  test("for longer than 30 s is 503 for everyone who waited, never an empty answer, and then all is well", async ({
    scene: { file, http, lock },
  }) => {
    const locked = lock();
    const watch = new StallWatch();
    const startedAt = performance.now();
    const claims = Array.from({ length: 6 }, () => http.post("/v1/tasks/claim", {}, { timeoutMs: 100_000 }));
    // Nor does one that starts meanwhile wait for ever, or stay behind half started.
    const late = await ServerProcess.launch({ store: `sqlite:${file}` });
    const refused = expect(late.untilLive(90_000)).rejects.toThrow(/locked by another process/);
    const answers = await Promise.all(claims);
    const tookMs = performance.now() - startedAt - watch.stop();
    await refused;
    expect(late.exitCode).toBe(7);
    locked.free();
    for (const { status, body, headers } of answers) {
      expect([status, body.code]).toEqual([503, "store_unavailable"]);
      expect(body.detail).toContain("locked by another process");
      expect(headers["retry-after"]).toBeDefined();
    }
    // Each has waited its 30 s, not its neighbours' as well.
    expect(tookMs).toBeGreaterThan(25_000);
    expect(tookMs).toBeLessThan(45_000);
    expect((await http.post("/v1/tasks/claim")).body.task.content).toBe("task 0");
    measured("six claims refused by a lock held for ever", { seconds: Math.round(tookMs / 1000) });
  }, 120_000);
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
