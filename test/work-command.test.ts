import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, type TestContext, test, vi } from "vitest";
import { CommandLine } from "./support/dibs-command.js";
import { ScratchFolder } from "./support/scratch-folder.js";
import { DIBS, ServerProcess } from "./support/server-process.js";
import { StoreFile } from "./support/store-file.js";

vi.setConfig({ testTimeout: 60_000 });

let folder: ScratchFolder;
let stores = 0;

beforeAll(() => {
  folder = new ScratchFolder();
});
afterAll(() => folder.remove());

/** A store of the test's own: a worker on its file, and a boss who looks. Leases may be as short as a second. */
async function freshStore() {
  const env = { DIBS_STORE: `sqlite:${folder.file(`store-${++stores}.db`)}`, NO_COLOR: "1" };
  const worker = new CommandLine(folder.path, { ...env, DIBS_AGENT: "worker" });
  const boss = worker.with({ DIBS_AGENT: "boss" });
  await boss.json(["workspace", "set", "--lease-seconds-min", "1"]);
  return { worker, boss };
}

/** A shell line that says so on stderr as soon as it runs, and goes on for long. */
const long = (more = "") => ["sh", "-c", `${more} echo running >&2; while :; do sleep 0.05; done`];

/** Whether a process with this text in its command line is left. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("dibs work", () => {
  test("runs the command once per task, which gets it on stdin and in its environment, and keeps its output", async () => {
    const { worker, boss } = await freshStore();
    const { id } = await boss.json(["task", "add", "first $(touch x) 'task'", "--label", "w"]);
    await boss.json(["task", "add", "not for us"]);
    const script = `cat > got.json; printf '%s\\n' "$DIBS_TASK_ID" "$DIBS_TASK_CONTENT" "$DIBS_FENCE" "$DIBS_LEASE_ID" "$DIBS_SESSION"`;
    const ran = await worker.run(["work", "--label", "w", "--drain", "--", "sh", "-c", script]);
    expect(ran.exit).toBe(0);
    const got = JSON.parse(readFileSync(folder.file("got.json"), "utf8"));
    expect(got).toMatchObject({ id, content: "first $(touch x) 'task'", status: "claimed" });
    const output = [id, got.content, "1", got.lease_id, got.claimed_by_session_id, ""].join("\n");
    expect(ran.stdout).toBe(output);
    expect(await boss.json(["task", "show", id])).toMatchObject({ status: "completed", result: { output } });
    expect(await boss.json(["task", "list", "--status", "open"])).toHaveLength(1);
    expect(await boss.json(["session", "list"])).toEqual([]);
  });

  test("a command that fails is an attempt; with none left the task fails and the status is 1 (R20)", async () => {
    const { worker, boss } = await freshStore();
    const { id } = await boss.json(["task", "add", "hopeless", "--max-attempts", "2"]);
    const ran = await worker.run(["work", "--drain", "--json", "--", "sh", "-c", "echo no; exit 7"]);
    expect(ran.exit).toBe(1);
    expect(JSON.parse(ran.stdout)).toMatchObject({ completed: 0, failed: 2, released: 0, lost: 0 });
    expect(ran.stderr).toContain("failed with exit status 7; attempt 1 of 2, it goes back to the queue");
    expect(ran.stderr).toContain("attempt 2 of 2, no attempt is left");
    expect(await boss.json(["task", "show", id])).toMatchObject({ status: "failed" });
  });

  test("several sessions share the work, each task is done once", async () => {
    const { worker, boss } = await freshStore();
    const tasks = Array.from({ length: 9 }, (_, at) => ({ content: `task ${at}` }));
    await boss.json(["task", "add-many", "--json-input", "-"], JSON.stringify({ tasks }));
    const ran = await worker.run(["work", "--count", "3", "--drain", "--", "sh", "-c", 'echo "$DIBS_SESSION"']);
    expect(ran.exit).toBe(0);
    const sessions = ran.stdout.trim().split("\n");
    expect(sessions).toHaveLength(9);
    expect(new Set(sessions).size).toBe(3);
    expect(await boss.json(["task", "list", "--status", "completed"])).toHaveLength(9);
  });

  test("--once takes one task; with --drain and none there it ends with 3", async () => {
    const { worker, boss } = await freshStore();
    await boss.json(["task", "add", "one"]);
    await boss.json(["task", "add", "two"]);
    expect((await worker.run(["work", "--once", "true"])).exit).toBe(0);
    expect(await boss.json(["task", "list", "--status", "open"])).toHaveLength(1);
    expect((await worker.run(["work", "--once", "--drain", "--label", "none", "true"])).exit).toBe(3);
  });

  test("a command that isn't there is refused before any task is touched", async () => {
    const { worker, boss } = await freshStore();
    await boss.json(["task", "add", "untouched"]);
    const ran = await worker.run(["work", "--", "no-such-program"]);
    expect(ran).toMatchObject({ exit: 2, stderr: expect.stringContaining("no-such-program") });
    expect(await boss.json(["task", "list"])).toMatchObject([{ status: "open", attempts: 0 }]);
  });

  test("what a command prints is stored as text, its last 64 KiB, whatever bytes it is (R60)", async () => {
    const { worker, boss } = await freshStore();
    const { id } = await boss.json(["task", "add", "noisy"]);
    const script = `const b = Buffer.alloc(200_001, "é"); process.stdout.write(b); process.stdout.write("\\0\\xff end")`;
    expect((await worker.run(["work", "--once", "--json", "--", process.execPath, "-e", script])).exit).toBe(0);
    const { result } = await boss.json(["task", "show", id]);
    expect(result.output_truncated).toBe(true);
    expect(result.output).toMatch(/^é+.*\uFFFDÿ end$/u);
    expect(Buffer.byteLength(result.output)).toBeLessThanOrEqual(65_536 + 8);
  });

  test("a command may settle its task itself", async () => {
    const { worker, boss } = await freshStore();
    const { id } = await boss.json(["task", "add", "self-made"]);
    const script = `"$0" "$1" task complete "$DIBS_TASK_ID" --result mine >/dev/null`;
    const main = [process.execPath, new URL("../dist/cli/main.js", import.meta.url).pathname];
    const ran = await worker.run(["work", "--once", "--", "sh", "-c", script, ...main]);
    expect(ran).toMatchObject({ exit: 0, stderr: expect.stringContaining("settled by the command itself") });
    expect(await boss.json(["task", "show", id])).toMatchObject({ status: "completed", result: "mine" });
  });

  test("a command may give its task to others itself: that is no lost lease, and the next one is taken", async () => {
    const { worker, boss } = await freshStore();
    const [first, second] = [await boss.json(["task", "add", "first"]), await boss.json(["task", "add", "second"])];
    const script = `[ "$DIBS_TASK_CONTENT" != first ] || "$0" "$1" task delegate "$DIBS_TASK_ID" part --not-before 2100-01-01T00:00:00Z >/dev/null`;
    const ran = await worker.run(["work", "--drain", "--json", "--", "sh", "-c", script, process.execPath, DIBS]);
    expect(ran.exit).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ completed: 1, settled_by_command: 1, lost: 0 });
    expect(await boss.json(["task", "show", first.id])).toMatchObject({ status: "delegated" });
    expect(await boss.json(["task", "show", second.id])).toMatchObject({ status: "completed" });
  });

  test("a program that can't be run is a mistake of the call: 2, its name, and no attempt is counted", async () => {
    const { worker, boss } = await freshStore();
    const { id } = await boss.json(["task", "add", "wait"]);
    const [closed, headless] = [folder.file("closed.sh"), folder.file("headless.sh")];
    writeFileSync(closed, "#!/bin/sh\n", { mode: 0o644 });
    writeFileSync(headless, "#!/no/such/interpreter\n", { mode: 0o755 });
    for (const program of [closed, headless, folder.path]) {
      const ran = await worker.run(["work", "--once", "--", program]);
      expect(ran).toMatchObject({ exit: 2, stderr: expect.stringContaining(`${program} can't be run`) });
      expect(ran.stderr).not.toContain("fault");
    }
    expect(await boss.json(["task", "show", id])).toMatchObject({ status: "open", attempts: 0 });
  });

  test("when nobody reads what it prints any more, it winds up as when it is interrupted", async () => {
    const { worker, boss } = await freshStore();
    const { id } = await boss.json(["task", "add", "talk"]);
    const command = worker.start(["work", "--once", "--", "sh", "-c", "while :; do echo more; sleep 0.05; done"]);
    await command.until("stdout", /more/);
    command.stopReading("stdout");
    expect(await command.finished).toMatchObject({ exit: 130 });
    expect(await boss.json(["task", "show", id])).toMatchObject({ status: "open", attempts: 0 });
  });

  test("what it says may go nowhere", async () => {
    const { worker, boss } = await freshStore();
    const { id } = await boss.json(["task", "add", "unheard"]);
    const command = worker.start(["work", "--once", "--", "sleep", "0.5"]);
    await command.until("stderr", /claimed/);
    command.stopReading("stderr");
    expect(await command.finished).toMatchObject({ exit: 0 });
    expect(await boss.json(["task", "show", id])).toMatchObject({ status: "completed" });
  });
});

// Side by side, as each waits seconds for its heartbeats.
describe.concurrent("dibs work stops the command", () => {
  test.each(["SIGINT", "SIGTERM"] as const)(
    "on %s: the whole group ends, the task is open again, 130",
    async (signal) => {
      const { worker, boss } = await freshStore();
      const { id } = await boss.json(["task", "add", "long"]);
      const work = worker.start(["work", "--", ...long(`sleep 600 & echo "pid $!" >&2;`)]);
      const [, pid] = await work.until("stderr", /pid (\d+)/);
      await work.until("stderr", /running/);
      work.signal(signal);
      expect((await work.finished).exit).toBe(130);
      expect(isAlive(Number(pid))).toBe(false);
      const task = await boss.json(["task", "show", id]);
      expect(task).toMatchObject({ status: "open", handoff_note: "The command was stopped: the worker stops." });
    },
  );

  test("when somebody took the task over: status 5, and the command's late result counts for nothing (R3)", async () => {
    const { worker, boss } = await freshStore();
    const { id } = await boss.json(["task", "add", "contested"]);
    const work = worker.start(["work", "--lease", "3", "--", ...long("trap 'echo late; exit 0' TERM;")]);
    await work.until("stderr", /running/);
    await boss.json(["task", "claim", id, "--takeover", "--reason", "urgent"]);
    const { exit, stderr } = await work.finished;
    expect(exit).toBe(5);
    expect(stderr).toContain("The lease is lost");
    expect(await boss.json(["task", "show", id])).toMatchObject({ status: "claimed", result: null, fence: 2 });
  });

  test("on a cancel request: the command ends, the task is released and so cancelled, the work goes on (R19)", async () => {
    const { worker, boss } = await freshStore();
    const { id } = await boss.json(["task", "add", "unwanted"]);
    const work = worker.start(["work", "--once", "--lease", "3", "--", ...long()]);
    await work.until("stderr", /running/);
    await boss.json(["task", "cancel", id, "--reason", "no longer needed"]);
    const { exit, stderr } = await work.finished;
    expect(exit).toBe(0);
    expect(stderr).toContain("released (cancelled)");
    expect(await boss.json(["task", "show", id])).toMatchObject({ status: "cancelled" });
  });

  test("kills what ignores SIGTERM, 5 s later", async () => {
    const { worker, boss } = await freshStore();
    await boss.json(["task", "add", "stubborn"]);
    const work = worker.start(["work", "--", ...long(`trap '' TERM; echo "pid $$" >&2;`)]);
    const [, pid] = await work.until("stderr", /pid (\d+)/);
    await work.until("stderr", /running/);
    work.signal("SIGTERM");
    expect((await work.finished).exit).toBe(130);
    expect(isAlive(Number(pid))).toBe(false);
  });

  test("when the server is gone and the lease can't be known to be held: before its end, with 5", async () => {
    const server = await ServerProcess.start({ store: `sqlite:${folder.file("served.db")}` });
    const worker = new CommandLine(folder.path, { DIBS_URL: server.url, DIBS_KEY: server.key, NO_COLOR: "1" });
    await worker.json(["workspace", "set", "--lease-seconds-min", "1"]);
    const { id } = await worker.json(["task", "add", "cut off"]);
    const script = `trap 'date +%s%3N > stopped; exit 0' TERM;`;
    const work = worker.start(["work", "--lease", "3", "--", ...long(script)]);
    await work.until("stderr", /running/);
    const held = await worker.json(["task", "show", id]);
    const readAtMs = Date.now();
    await server.kill();
    const { exit, stderr } = await work.finished;
    expect(exit).toBe(5);
    expect(stderr).toContain("can't be known to be held");
    expect(existsSync(folder.file("stopped"))).toBe(true);
    // One heartbeat may have come after the reading, not more: the server was gone.
    const latestEndMs = readAtMs + held.lease_remaining_ms + 1_000;
    expect(Number(readFileSync(folder.file("stopped"), "utf8"))).toBeLessThan(latestEndMs);
  });
});

describe.concurrent("dibs work on a laptop that sleeps for two hours (C46)", () => {
  /** At work on a server's task; `sleep` stops the worker, moves the time that decides, and lets things happen meanwhile. */
  async function asleep({ onTestFinished }: TestContext) {
    const name = `sleep-${++stores}`;
    const file = new StoreFile(folder.file(`${name}.db`));
    const server = await ServerProcess.start({ store: `sqlite:${file.path}` });
    onTestFinished(() => server.stop());
    const boss = new CommandLine(folder.path, { DIBS_URL: server.url, DIBS_KEY: server.key, NO_COLOR: "1" });
    const key = async (name: string) => (await boss.json(["agent", "add", name])).key as string;
    const ben = boss.with({ DIBS_KEY: await key("ben") });
    await boss.json(["workspace", "set", "--lease-seconds-min", "1"]);
    const { id } = await boss.json(["task", "add", "slept over"]);
    const ended = folder.file(`${name}-ended`);
    const script = `echo running >&2; until [ -e ${ended} ]; do sleep 0.05; done; echo "fence $DIBS_FENCE"`;
    const work = boss.with({ DIBS_KEY: await key("ann") }).start(["work", "--lease", "9", "--", "sh", "-c", script]);
    await work.until("stderr", /running/);
    const sleep = async (meanwhile: () => Promise<unknown>) => {
      work.signal("SIGSTOP");
      file.moveClock(2 * 3_600_000);
      await meanwhile();
      work.signal("SIGCONT");
    };
    return { work, boss, ben, id, sleep, end: () => writeFileSync(ended, "") };
  }

  test("goes on under a new lease and fence, says so in one line, and delivers", async (context) => {
    const { work, boss, id, sleep, end } = await asleep(context);
    await sleep(async () => undefined);
    const said =
      /slept over: lease \w+ \(fence 1\) ended by the clock; claimed again: lease \w+ \(fence 2\), the command goes on/;
    await work.until("stderr", said);
    end();
    await work.until("stderr", /slept over: completed/);
    work.signal("SIGTERM");
    const { stderr } = await work.finished;
    expect(stderr.match(/claimed again/g)).toHaveLength(1);
    // What the command was told can't be changed any more.
    const done = { status: "completed", fence: 2, result: { output: "fence 1\n" } };
    expect(await boss.json(["task", "show", id])).toMatchObject(done);
  });

  test("stops the command when somebody else has the task, says who, and ends with 5", async (context) => {
    const { work, boss, ben, id, sleep } = await asleep(context);
    await sleep(() => ben.json(["task", "claim", id]));
    const { exit, stderr } = await work.finished;
    expect(exit).toBe(5);
    expect(stderr).toMatch(/stopping the command: .*Task "slept over" is held by ben/);
    expect(stderr).not.toContain("claimed again");
    expect(await boss.json(["task", "show", id])).toMatchObject({ status: "claimed", fence: 2 });
  });
});
