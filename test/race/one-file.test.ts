import { open, operations } from "dibs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GatedProcess, startTogether } from "../support/barrier.js";
import { limit, measured, rounds, spread } from "../support/campaign.js";
import type { RawHttp } from "../support/raw-http.js";
import { ScratchFolder } from "../support/scratch-folder.js";
import { DIBS, ownEnvironment, ServerProcess } from "../support/server-process.js";
import { StallWatch } from "../support/stall-watch.js";
import { brokenIn, StoreFile } from "../support/store-file.js";

describe("several processes on one file (R56, C51)", () => {
  let folder: ScratchFolder;
  let servers: ServerProcess[];

  beforeEach(() => {
    folder = ScratchFolder.onDisk();
    servers = [];
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    folder.remove();
  });

  test(
    "20 that start at one instant where there is no file make one store, and each has its task in it",
    async () => {
      for (let round = 0; round < rounds(1, 20); round++) {
        const file = folder.file(`new-${round}/folder/dibs.db`);
        const starts = Array.from({ length: 20 }, (_, at) => {
          const env = ownEnvironment({ DIBS_STORE: `sqlite:${file}`, DIBS_AGENT: `agent-${at % 5}` });
          return new GatedProcess([DIBS, "task", "add", `task ${at}`, "--json"], env);
        });
        await startTogether(starts);
        const ends = await Promise.all(starts.map(({ finished }) => finished));
        expect(ends.filter(({ exit }) => exit !== 0)).toEqual([]);
        const store = new StoreFile(file);
        const titles = store.rows<{ content: string }>("SELECT content FROM task_texts").map(({ content }) => content);
        expect(titles.sort()).toEqual(starts.map((_, at) => `task ${at}`).sort());
        expect(store.rows("SELECT name FROM workspaces")).toEqual([{ name: "default" }]);
        expect(store.rows("SELECT name FROM agents WHERE name LIKE 'agent%'").length).toBe(5);
        expect(brokenIn(store)).toEqual([]);
        measured("20 first starts at one instant, ms", spread(ends.map(({ tookMs }) => tookMs)));
      }
    },
    limit(120_000),
  );

  test("what one server changes, the other goes by at once: keys, settings, sessions, claims (R48)", async () => {
    const file = folder.file("dibs.db");
    // The same file by another spelling: there is no lock of names to be fooled.
    const other = folder.file("../".concat(folder.path.split("/").at(-1) as string, "/./dibs.db"));
    servers = await Promise.all([
      ServerProcess.start({ store: `sqlite:${file}` }),
      ServerProcess.start({ store: `sqlite:${other}` }),
    ]);
    const [one, two] = servers.map((server) => server.client()) as [RawHttp, RawHttp];
    const agent = (await one.post("/v1/agents", { name: "bee" })).body;
    const bee = servers[1]?.client(agent.key) as RawHttp;
    await one.post("/v1/tasks", { content: "one" });
    const session = (await bee.post("/v1/sessions", {})).body.id;
    const { task } = (await bee.post("/v1/tasks/claim", {}, { session })).body;
    expect((await one.post(`/v1/tasks/${task.id}/claim`)).body).toMatchObject({
      code: "task_claimed",
      holder: { session_id: session },
    });
    await one.send("PATCH", "/v1/workspace", { lease_seconds_max: 400 });
    expect((await two.post("/v1/tasks/claim", { lease_seconds: 500 })).status).toBe(400);
    await one.post(`/v1/tasks/${task.id}/force-release`, { reason: "test" });
    const lost = await bee.post(`/v1/tasks/${task.id}/heartbeat`, { lease_id: task.lease_id }, { session });
    expect(lost.body).toMatchObject({ code: "lease_lost", reason: "revoked" });
    await one.post(`/v1/agents/${agent.id}/revoke-key`);
    for (const path of ["/v1/tasks", "/v1/claims", "/v1/agent/me"]) expect((await bee.get(path)).status).toBe(401);
    expect((await bee.post("/v1/tasks/claim")).status).toBe(401);
    for (const client of [one, two, bee]) client.close();
    expect(brokenIn(new StoreFile(file))).toEqual([]);
  }, 60_000);

  test(
    "a call that waits at a server is answered within 200 ms of what another process makes claimable (R21)",
    async () => {
      const file = folder.file("dibs.db");
      servers = [await ServerProcess.start({ store: `sqlite:${file}` })];
      const http = servers[0]?.client() as RawHttp;
      const elsewhere = await open({ store: `sqlite:${file}` });
      const caller = { identity: { kind: "file", agent: "elsewhere" } } as const;
      const create = () => elsewhere.call(operations.create_task, { content: "new" }, caller);
      const claim = async () => (await elsewhere.call(operations.claim_next_task, {}, caller)).body.task?.id as string;
      const release = (task_id: string) => elsewhere.call(operations.release_task, { task_id }, caller);
      const tookMs: number[] = [];
      for (let round = 0; round < rounds(10, 100); round++) {
        // Every second time the task is there and held by the other process, which gives it back.
        const held = round % 2 === 0 ? undefined : await create().then(claim);
        const waiting = http.post("/v1/tasks/claim", { wait_seconds: 30 });
        // Answered after the first has found nothing, as calls are served in turn.
        expect((await http.post("/v1/tasks/claim", { labels: ["none"] })).body.task).toBe(null);
        const watch = new StallWatch();
        const startedAt = performance.now();
        await (held === undefined ? create() : release(held));
        const { task } = (await waiting).body;
        tookMs.push(performance.now() - startedAt - watch.stop());
        await http.post(`/v1/tasks/${task.id}/complete`, { lease_id: task.lease_id });
      }
      await elsewhere.close();
      http.close();
      measured("a waiting call is woken by another process, ms", spread(tookMs));
      expect(spread(tookMs).p50).toBeLessThan(200);
    },
    limit(60_000),
  );
});
