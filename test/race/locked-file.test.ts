import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { measured, spread } from "../support/campaign.js";
import { LockedFile } from "../support/locked-file.js";
import type { RawAnswer, RawHttp } from "../support/raw-http.js";
import { ScratchFolder } from "../support/scratch-folder.js";
import { ServerProcess } from "../support/server-process.js";
import { StallWatch } from "../support/stall-watch.js";
import { brokenIn, StoreFile } from "../support/store-file.js";

describe("a file that another process has locked (R56)", () => {
  let folder: ScratchFolder;
  let server: ServerProcess;
  let http: RawHttp;
  let session: string;
  let locked: LockedFile | undefined;

  beforeEach(async () => {
    folder = ScratchFolder.onDisk();
    server = await ServerProcess.start({ store: `sqlite:${folder.file("dibs.db")}` });
    http = server.client();
    session = (await http.post("/v1/sessions", { client: "reader", ttl_seconds: 30 })).body.id;
    const tasks = Array.from({ length: 5 }, (_, at) => ({ content: `task ${at}` }));
    await http.post("/v1/tasks/batch", { tasks });
  });
  afterEach(async () => {
    locked?.free();
    http.close();
    await server.stop();
    folder.remove();
  });

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

  test("never stops the event loop: health and reads go on, also reads that are a sign of life, and writes wait", async () => {
    const watch = new StallWatch();
    locked = new LockedFile(folder.file("dibs.db"));
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
    expect(brokenIn(new StoreFile(folder.file("dibs.db")))).toEqual([]);
  }, 120_000);

  test("a sign of life that comes when the session has ended revives neither it nor what it held (R1, R9)", async () => {
    const { task } = (await http.post("/v1/tasks/claim", {}, { session })).body;
    // Past the eighth of its time that needs no further sign.
    new StoreFile(folder.file("dibs.db")).moveClock(5_000);
    locked = new LockedFile(folder.file("dibs.db"));
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

  test("for longer than 30 s is 503 for everyone who waited, never an empty answer, and then all is well", async () => {
    locked = new LockedFile(folder.file("dibs.db"));
    const watch = new StallWatch();
    const startedAt = performance.now();
    const claims = Array.from({ length: 6 }, () => http.post("/v1/tasks/claim", {}, { timeoutMs: 100_000 }));
    // Nor does one that starts meanwhile wait for ever, or stay behind half started.
    const late = await ServerProcess.launch({ store: `sqlite:${folder.file("dibs.db")}` });
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
