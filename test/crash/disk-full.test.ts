import { open, operations } from "dibs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CommandLine } from "../support/dibs-command.js";
import type { RawHttp } from "../support/raw-http.js";
import { ScratchFolder } from "../support/scratch-folder.js";
import { ServerProcess } from "../support/server-process.js";
import { SmallDisk } from "../support/small-disk.js";
import { brokenIn, StoreFile } from "../support/store-file.js";

const why = SmallDisk.impossible;

describe.skipIf(why !== undefined)(`a full disk${why === undefined ? "" : ` (skipped: ${why})`}`, () => {
  let folder: ScratchFolder;
  let disk: SmallDisk;
  let server: ServerProcess;
  let http: RawHttp;
  let session: string;

  beforeEach(async () => {
    folder = new ScratchFolder();
    disk = new SmallDisk(folder.file("disk"), 8);
    server = await ServerProcess.start({ store: `sqlite:${folder.file("disk/dibs.db")}` });
    http = server.client();
    session = (await http.post("/v1/sessions", { client: "test", ttl_seconds: 30 })).body.id;
  });
  afterEach(async () => {
    http.close();
    await server.kill();
    disk.unmount();
    folder.remove();
  });

  /** Fills the disk, and what the log still has in reserve; gives the first refusal. */
  async function fillUp() {
    disk.fill();
    for (;;) {
      const answer = await http.post("/v1/tasks", {
        content: "filler",
        description: "x".repeat(100_000),
        labels: ["filler"],
      });
      if (answer.status !== 201) return answer;
    }
  }

  test("refuses writes with 507, half writes nothing, lets reads go on, and needs no restart (R58, A6)", async () => {
    await http.post("/v1/tasks/batch", {
      tasks: [
        { content: "one", labels: ["real"] },
        { content: "two", labels: ["real"] },
      ],
    });
    const { task } = (await http.post("/v1/tasks/claim", { labels: ["real"] }, { session })).body;
    const proof = { lease_id: task.lease_id, fence: task.fence };

    const full = await fillUp();
    expect([full.status, full.body.code]).toEqual([507, "storage_full"]);
    const path = `/v1/tasks/${task.id}`;
    const before = (await http.get(path)).body;
    const events = (await http.get("/v1/events?limit=1000")).body.length;
    const writes = await Promise.all([
      http.post("/v1/tasks/claim", { labels: ["real"] }),
      http.post(`${path}/complete`, { ...proof, result: "x".repeat(50_000) }, { session }),
      http.post("/v1/tasks/batch", { tasks: Array.from({ length: 500 }, (_, at) => ({ content: `batch ${at}` })) }),
    ]);
    for (const { status, body } of writes) expect([status, body.code]).toEqual([507, "storage_full"]);
    // Every kind of reader is served: with a session, too, whose sign of life can't be kept.
    const reads = await Promise.all([
      http.get(path),
      http.get(path, { session }),
      http.get("/v1/claims", { session }),
      http.get("/livez"),
    ]);
    expect(reads.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect({ ...reads[0]?.body, lease_remaining_ms: 0 }).toEqual({ ...before, lease_remaining_ms: 0 });
    expect((await http.get("/v1/events?limit=1000")).body.length).toBe(events);
    expect((await http.get("/readyz")).status).toBe(507);

    disk.empty();
    const done = await http.post(`${path}/complete`, { ...proof, result: "r" }, { session });
    expect([done.status, done.body.status]).toEqual([200, "completed"]);
    expect((await http.post("/v1/tasks/claim", { labels: ["real"] })).body.task.content).toBe("two");
    expect((await http.get("/readyz")).status).toBe(200);
    expect(brokenIn(new StoreFile(folder.file("disk/dibs.db")))).toEqual([]);
  }, 60_000);

  test("what is too large for the space left fails alone, not its neighbours in the same commit (R55)", async () => {
    const tasks = Array.from({ length: 8 }, (_, at) => ({ content: `task ${at}`, labels: ["real"] }));
    await http.post("/v1/tasks/batch", { tasks });
    await server.stop();
    const store = await open({ store: server.settings.store });
    const caller = { identity: { kind: "file", agent: "tester" } } as const;
    await store.call(operations.claim_next_task, { labels: ["none"] }, caller);
    disk.fill(700_000);
    // Asked for in one turn of the event loop, so that they come into one transaction.
    const large = store.call(operations.create_task, { content: "large", description: "x".repeat(900_000) }, caller);
    const claims = tasks.map(() => store.call(operations.claim_next_task, { labels: ["real"] }, caller));
    await expect(large).rejects.toMatchObject({ code: "storage_full" });
    const granted = await Promise.all(claims);
    expect(new Set(granted.map(({ body }) => body.task?.id)).size).toBe(8);
    await store.close();
    disk.empty();
    expect(brokenIn(new StoreFile(folder.file("disk/dibs.db")))).toEqual([]);
  }, 60_000);

  test("is no empty queue to a command on the bare file either, with or without a log beside it (R58)", async () => {
    await http.post("/v1/tasks", { content: "one" });
    const env = { DIBS_STORE: server.settings.store };
    const command = new CommandLine(folder.path, env);
    for (const end of ["SIGKILL", "SIGTERM"] as const) {
      // Killed, it leaves its log behind; stopped, it leaves the file alone.
      await (end === "SIGKILL" ? server.kill() : server.stop());
      disk.fill();
      const claim = await command.run(["task", "claim", "--json"]);
      expect([end, JSON.parse(claim.stdout).code, claim.exit]).toEqual([end, "storage_full", 1]);
      disk.empty();
      await server.restart();
    }
    expect(JSON.parse((await command.run(["task", "claim", "--json"])).stdout).task.content).toBe("one");
  }, 60_000);
});
