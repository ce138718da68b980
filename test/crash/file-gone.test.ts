import { renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { type OpenStore, open, operations } from "dibs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ScratchFolder } from "../support/scratch-folder.js";
import { ServerProcess } from "../support/server-process.js";

describe("a store's file that goes away while it is open (C53, R58)", () => {
  const caller = { identity: { kind: "file", agent: "tester" } } as const;
  let folder: ScratchFolder;
  let store: OpenStore;
  let file: string;

  beforeEach(async () => {
    folder = new ScratchFolder();
    file = folder.file("dibs.db");
    // With threads, as a server has it.
    store = await open({ store: `sqlite:${file}`, thread: true });
    await store.call(operations.create_task, { content: "one" }, caller);
  });
  afterEach(async () => {
    await store.close();
    folder.remove();
  });

  const garbage = Buffer.alloc(100_000, "garbage ");
  const accidents: [what: string, happens: () => void][] = [
    ["removed with its log", () => ["", "-wal", "-shm"].map((part) => rmSync(file + part))],
    ["removed alone", () => rmSync(file)],
    ["left without its log", () => rmSync(`${file}-wal`)],
    ["cut off", () => truncateSync(file)],
    [
      "replaced by garbage",
      () => {
        writeFileSync(folder.file("garbage"), garbage);
        renameSync(folder.file("garbage"), file);
      },
    ],
  ];

  test.each(accidents)("%s: every call says so; nothing is acknowledged that would be lost", async (_what, happens) => {
    const later = { labels: ["later"], wait_seconds: 30 };
    const waiting = store.call(operations.claim_next_task, later, caller);
    await store.call(operations.list_tasks, {}, caller);
    happens();
    const calls = [
      store.call(operations.claim_next_task, {}, caller),
      store.call(operations.create_task, { content: "two" }, caller),
      store.call(operations.list_tasks, {}, caller),
      store.ping(),
      // Told at once, not at the end of its time that there was nothing.
      waiting,
    ];
    const reason = {
      code: "store_unavailable",
      message: expect.stringMatching(/(removed|replaced) while Dibs had it open/),
    };
    for (const told of await Promise.allSettled(calls)) expect(told).toMatchObject({ status: "rejected", reason });
  });

  test("a server whose file is gone lives, is not ready, and has no empty queue (503)", async () => {
    const server = await ServerProcess.start({ store: `sqlite:${file}` });
    const http = server.client();
    rmSync(file);
    const paths = ["/livez", "/readyz", "/v1/tasks"];
    const answers = await Promise.all(paths.map((path) => http.get(path)));
    expect(answers.map(({ status }) => status)).toEqual([200, 503, 503]);
    http.close();
    await server.kill();
  }, 60_000);

  test("a server doesn't start on garbage, and says what is wrong (exit 7)", async () => {
    writeFileSync(folder.file("garbage.db"), garbage);
    const server = await ServerProcess.launch({ store: `sqlite:${folder.file("garbage.db")}` });
    await expect(server.untilLive()).rejects.toThrow(/damaged or no Dibs store/);
    expect(server.exitCode).toBe(7);
  }, 60_000);
});
