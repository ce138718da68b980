import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { limit, measured, rounds } from "../support/campaign.js";
import type { RawHttp } from "../support/raw-http.js";
import { ScratchFolder } from "../support/scratch-folder.js";
import { DIBS, ownEnvironment, ServerProcess } from "../support/server-process.js";
import { brokenIn, StoreFile } from "../support/store-file.js";

const child = (name: string) => fileURLToPath(new URL(`../support/children/${name}`, import.meta.url));

// biome-ignore lint/suspicious/noExplicitAny: answers of every kind.
type Answers = Record<string, { status: number; body: any }>;

describe("a process that stands still (SIGSTOP)", () => {
  let folder: ScratchFolder;
  let server: ServerProcess;
  let http: RawHttp;
  let file: StoreFile;

  beforeEach(async () => {
    folder = ScratchFolder.onDisk();
    file = new StoreFile(folder.file("dibs.db"));
    server = await ServerProcess.start({ store: `sqlite:${file.path}` });
    http = server.client();
    await http.send("PATCH", "/v1/workspace", { lease_seconds_min: 1 });
  });
  afterEach(async () => {
    http.close();
    await server.stop();
    folder.remove();
  });

  test(
    "a holder that slept past its lease changes nothing, and is told who holds the task now and why (R3, R7, R11)",
    async () => {
      for (let round = 0; round < rounds(1, 20); round++) {
        await http.post("/v1/tasks", { content: `long job ${round}` });
        const holder = fork(child("holder.mjs"), [server.url, server.key], { env: ownEnvironment({}) });
        const [{ task: lost }] = await once(holder, "message");
        holder.kill("SIGSTOP");
        // The next one waits for the lease to end by the clock; nothing else wakes it.
        const taker = await http.post("/v1/sessions", { client: "taker" });
        const options = { session: taker.body.id };
        const { task } = (await http.post("/v1/tasks/claim", { wait_seconds: 20 }, options)).body;
        expect([task?.id, task?.fence]).toEqual([lost.id, lost.fence + 1]);

        holder.send("go on");
        holder.kill("SIGCONT");
        const [answers] = (await once(holder, "message")) as [Answers];
        for (const [action, { status, body }] of Object.entries(answers)) {
          expect([action, status, body.code, body.reason]).toEqual([action, 409, "lease_lost", "expired"]);
          expect(body.holder).toMatchObject({ session_id: taker.body.id, lease_id: task.lease_id, fence: task.fence });
        }
        expect(Object.keys(answers).length).toBe(11);
        const now = (await http.get(`/v1/tasks/${task.id}`)).body;
        // Untouched: not even the version moved.
        expect({ ...now, lease_remaining_ms: 0 }).toEqual({ ...task, lease_remaining_ms: 0 });
        const done = await http.post(
          `/v1/tasks/${task.id}/complete`,
          { lease_id: task.lease_id, result: "r" },
          options,
        );
        expect([done.status, done.body.result]).toEqual([200, "r"]);
        const comments = (await http.get(`/v1/tasks/${task.id}/comments`)).body;
        expect(comments.map((comment: { body: string }) => comment.body)).toEqual(['"late"']);
        expect(brokenIn(file)).toEqual([]);
      }
    },
    limit(120_000),
  );

  test("`dibs work` that slept past its lease stops its command and says that it lost (exit 5)", async () => {
    await http.send("PATCH", "/v1/workspace", { lease_seconds_default: 8 });
    await http.post("/v1/tasks", { content: "a long job" });
    const args = [DIBS, "work", "--once", "--", "sh", "-c", "echo started; exec sleep 100"];
    const env = ownEnvironment({ DIBS_URL: server.url, DIBS_KEY: server.key });
    const worker = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    worker.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    const gone = once(worker, "close");
    // Stopped before it has the answer it would have nothing to lose, and go on to wait for the next task.
    await once(worker.stdout, "data");
    worker.kill("SIGSTOP");
    const { task } = (await http.post("/v1/tasks/claim", { wait_seconds: 30, lease_seconds: 300 })).body;
    expect(task.content).toBe("a long job");
    worker.kill("SIGCONT");
    expect((await gone)[0]).toBe(5);
    expect(said).toContain("lost: its lease is over");
    expect((await http.get(`/v1/tasks/${task.id}`)).body).toMatchObject({ status: "claimed", lease_id: task.lease_id });
  }, 120_000);

  /** A `dibs task claim` on the bare file that stops itself before COMMIT, with the write lock held. */
  async function claimStoppedInside() {
    const args = ["--import", child("stop-in-claim.mjs"), DIBS, "task", "claim", "--json"];
    const env = ownEnvironment({ DIBS_STORE: `sqlite:${file.path}`, DIBS_AGENT: "sleeper" });
    const claim = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    claim.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    const gone = once(claim, "close").then(([exit]) => ({ exit, stdout }));
    while (stateOf(claim.pid ?? 0) !== "T") await new Promise((resolve) => setTimeout(resolve, 5));
    return { claim, gone };
  }

  test("a command stopped inside its transaction delays others, who then get other tasks (R55, R56)", async () => {
    await http.post("/v1/tasks/batch", { tasks: [{ content: "one" }, { content: "two" }] });
    const { claim, gone } = await claimStoppedInside();
    const second = http.post("/v1/tasks/claim");
    // Reads see the state before, and don't wait.
    const readAt = performance.now();
    expect((await http.get("/v1/tasks?status=claimed")).body).toEqual([]);
    const readMs = performance.now() - readAt;
    expect(await Promise.race([second, http.get("/livez").then(() => "still waiting")])).toBe("still waiting");
    claim.kill("SIGCONT");
    const first = JSON.parse((await gone).stdout).task;
    const { task } = (await second).body;
    expect([first.content, task.content]).toEqual(["one", "two"]);
    expect(brokenIn(file)).toEqual([]);
    measured("read while a stopped process holds the write lock", { ms: Math.round(readMs) });
  }, 120_000);

  test("a command killed inside its transaction leaves nothing half written (R55, C55)", async () => {
    await http.post("/v1/tasks", { content: "one" });
    const before = file.rows("SELECT * FROM tasks");
    const { claim, gone } = await claimStoppedInside();
    const waiting = http.post("/v1/tasks/claim");
    claim.kill("SIGKILL");
    expect((await gone).stdout).toBe("");
    const { task } = (await waiting).body;
    // The same row as ever: the first grant it has seen is this one.
    expect([task.content, task.fence, task.attempts, task.version]).toEqual([
      "one",
      1,
      1,
      (before[0]?.version as number) + 1,
    ]);
    expect(brokenIn(file)).toEqual([]);
  }, 120_000);
});

/** A process's state as Linux tells it: `T` is stopped. */
function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
}
