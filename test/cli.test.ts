import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { CommandLine } from "./support/dibs-command.js";
import { ScratchFolder } from "./support/scratch-folder.js";
import { StoreFile } from "./support/store-file.js";

const NOBODY = "00000000000000000000000000000000";

let folder: ScratchFolder;
let stores = 0;

beforeAll(() => {
  folder = new ScratchFolder();
});
afterAll(() => folder.remove());

// A command costs a second where others use the machine, too.
vi.setConfig({ testTimeout: 60_000 });

/** A store of the test's own with two agents on its file, outside any worktree. */
function freshStore() {
  const path = folder.file(`store-${++stores}.db`);
  const env = { DIBS_STORE: `sqlite:${path}`, NO_COLOR: "1", XDG_CONFIG_HOME: folder.file("config") };
  const alice = new CommandLine(folder.path, { ...env, DIBS_AGENT: "alice" }, { asProcesses: true });
  return { alice, bob: alice.with({ DIBS_AGENT: "bob" }), file: new StoreFile(path) };
}

describe("on the bare file (R45)", () => {
  test("a task is added, claimed, kept and completed by commands that share this place's session", async () => {
    const { alice } = freshStore();
    const { id } = await alice.json(["task", "add", "Fix the login test", "--label", "tests", "--priority", "3"]);
    const { task } = await alice.json(["task", "claim", "--label", "tests", "--lease-seconds", "600"]);
    expect(task).toMatchObject({ id, status: "claimed", priority: 3, fence: 1, lease_remaining_ms: 600_000 });
    const kept = await alice.json(["task", "heartbeat", id, "--progress", '{"done":1}', "--detail", "half way"]);
    expect(kept).toMatchObject({ lease_id: task.lease_id, progress: { done: 1 }, state_detail: "half way" });
    const done = await alice.json(["task", "complete", id, "--result", "all green"]);
    expect(done).toMatchObject({ status: "completed", result: "all green" });
    const sessions = await alice.json(["session", "list"]);
    expect(sessions).toMatchObject([{ agent_name: "alice", client: "dibs-cli", tasks_held: 0 }]);
  });

  test("another worktree, agent or session is another holder, who is refused with what was lost (exit 5)", async () => {
    const { alice, bob } = freshStore();
    const { id } = await alice.json(["task", "add", "mine"]);
    await alice.json(["task", "claim", id]);
    const worktree = folder.file("repo");
    mkdirSync(`${worktree}/.git`, { recursive: true });
    mkdirSync(`${worktree}/src`);
    writeFileSync(`${worktree}/.git/HEAD`, "ref: refs/heads/feat/pay\n");
    const { id: elsewhere } = await alice.json(["session", "open", "--client", "elsewhere"]);
    for (const other of [bob, alice.in(`${worktree}/src`), alice.with({ DIBS_SESSION: elsewhere })]) {
      const ran = await other.run(["task", "complete", id]);
      expect(ran).toMatchObject({ exit: 5, stdout: "" });
      expect(ran.stderr).toMatch(/\(lease_lost\)/);
      expect(ran.stderr).toMatch(/held by alice \(session [0-9a-f]{32} · dibs-cli\) for “mine”/);
    }
    const sessions = await alice.json(["session", "list"]);
    expect(sessions.map((one: { branch: string }) => one.branch)).toContain("feat/pay");
    expect((await alice.run(["task", "complete", id])).exit).toBe(0);
  });

  test("any number of commands at once in one place share one session, and each gets a task of its own", async () => {
    const { alice } = freshStore();
    const tasks = Array.from({ length: 6 }, (_, at) => ({ content: `task ${at}` }));
    await alice.json(["task", "add-many", "--json-input", "-"], JSON.stringify({ tasks }));
    const claims = await Promise.all(tasks.map(() => alice.run(["task", "claim", "--json"])));
    expect(new Set(claims.map(({ stdout }) => JSON.parse(stdout).task.id)).size).toBe(6);
    expect(await alice.json(["session", "list"])).toMatchObject([{ tasks_held: 6 }]);
  });

  test("a session that died is followed by a new one, however often", async () => {
    const { alice, file } = freshStore();
    const ids: string[] = [];
    for (let day = 0; day < 3; day++) {
      await alice.json(["task", "add", "daily"]);
      file.moveClock(day * 8 * 3_600_000);
      const { task } = await alice.json(["task", "claim"]);
      ids.push(task.claimed_by_session_id);
      await alice.json(["session", "end", task.claimed_by_session_id]);
    }
    expect(new Set(ids).size).toBe(3);
  });

  test("a workspace is added on the file only, and its key is printed once", async () => {
    const { alice } = freshStore();
    const made = await alice.json(["workspace", "add", "team-a"]);
    expect(made).toMatchObject({ name: "team-a", key: expect.stringMatching(/\S{24,}/) });
    const refused = await alice.with({ DIBS_URL: "http://127.0.0.1:9" }).run(["workspace", "add", "team-b"]);
    expect(refused.exit).toBe(2);
    expect(refused.stderr).toContain("unset DIBS_URL");
  });

  test("a file that can't be opened is an error, never an empty list (R58)", async () => {
    const { alice } = freshStore();
    const ran = await alice.with({ DIBS_STORE: `sqlite:${folder.path}` }).run(["task", "list", "--json"]);
    expect(ran.exit).toBe(7);
    expect(JSON.parse(ran.stdout)).toMatchObject({ code: "store_unavailable", status: 503 });
  });
});

describe("what a command says", () => {
  test("with nothing to claim: null, a message, exit 3", async () => {
    const { alice } = freshStore();
    const ran = await alice.run(["task", "claim", "--json"]);
    expect(ran).toMatchObject({ exit: 3, stderr: "Nothing to claim.\n" });
    expect(JSON.parse(ran.stdout)).toEqual({ task: null, skipped: [], skipped_count: 0, notices: [] });
    expect(await alice.run(["task", "claim", "--count", "2"])).toMatchObject({ exit: 3, stdout: "No tasks.\n" });
  });

  test("of a refusal: who holds it, since and until when, and the next moves as commands (exit 4)", async () => {
    const { alice, bob } = freshStore();
    const { id } = await alice.json(["task", "add", "wanted by two"]);
    await alice.json(["task", "claim", id]);
    const ran = await bob.run(["task", "claim", id]);
    expect(ran).toMatchObject({ exit: 4, stdout: "" });
    expect(ran.stderr).toMatch(/^dibs: Task "wanted by two" is held by alice/);
    expect(ran.stderr).toMatch(
      /for “wanted by two” · since .* · until (?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d \S+ \(in \d+ min/,
    );
    expect(ran.stderr).toMatch(/next: .*dibs task claim/);
    const json = await bob.run(["task", "claim", id, "--json"]);
    expect(json.exit).toBe(4);
    expect(JSON.parse(json.stdout)).toMatchObject({
      code: "task_claimed",
      holder: { agent_name: "alice", task_id: id },
    });
  });

  test("of bad input names the field and what is allowed (exit 2), before anything is written (R6)", async () => {
    const { alice } = freshStore();
    await alice.json(["task", "add", "untouched"]);
    for (const length of ["29", "3601", "soon", "1e12", "1.5"]) {
      const ran = await alice.run(["task", "claim", "--lease-seconds", length]);
      expect(ran).toMatchObject({ exit: 2, stdout: "" });
      expect(ran.stderr).toMatch(/lease_seconds: .*\(invalid_input\)/);
    }
    const unknown = await alice.run(["task", "add", "x", "--json-input", '{"colour":"red"}']);
    expect(unknown).toMatchObject({ exit: 2, stderr: expect.stringContaining("colour") });
    const malformed = await alice.run(["task", "add", "x", "--json-input", "{", "--json"]);
    expect(JSON.parse(malformed.stdout)).toMatchObject({ code: "invalid_input" });
    expect(await alice.json(["task", "list"])).toMatchObject([{ status: "open", attempts: 0 }]);
  });

  test("of a command line that can't be understood: the nearest word, exit 2, with --json still one value", async () => {
    const { alice } = freshStore();
    const ran = await alice.run(["task", "clam"]);
    expect(ran).toMatchObject({ exit: 2, stdout: "" });
    expect(ran.stderr).toContain("Did you mean claim?");
    const json = await alice.run(["task", "show", "--json"]);
    expect(json.exit).toBe(2);
    expect(JSON.parse(json.stdout)).toMatchObject({ code: "invalid_input", status: 400 });
    const astray = await alice.run(["task", "claim", "--takeover"]);
    expect(astray).toMatchObject({ exit: 2, stderr: expect.stringContaining("name the task's ID") });
    const configured = await alice.with({ DIBS_PORT: "many" }).run(["task", "list", "--json"]);
    expect(configured.exit).toBe(2);
    expect(JSON.parse(configured.stdout)).toMatchObject({ detail: expect.stringContaining("DIBS_PORT") });
  });

  test("of what isn't there, of a wrong key and of no server have a status each: 1, 6, 7 (R58)", async () => {
    const { alice } = freshStore();
    expect((await alice.run(["task", "show", NOBODY])).exit).toBe(1);
    const away = alice.with({ DIBS_URL: "http://127.0.0.1:9", DIBS_KEY: "dibs_secret_key" });
    const unreachable = await away.run(["task", "list", "--json"]);
    expect(unreachable.exit).toBe(7);
    expect(JSON.parse(unreachable.stdout)).toMatchObject({ code: "store_unavailable" });
    expect(unreachable.stderr).toContain("dibs up");
    expect(unreachable.stdout + unreachable.stderr).not.toContain("dibs_secret_key");
    const keyless = await alice.with({ DIBS_URL: "http://127.0.0.1:9" }).run(["task", "list"]);
    expect(keyless).toMatchObject({ exit: 6, stderr: expect.stringContaining("DIBS_KEY") });
  });

  test("about texts of others shows what would act on the terminal, one task a line (C82)", async () => {
    const { alice } = freshStore();
    const evil = "ok \u001b[2J\u001b]0;x\u0007 \u202Eright\u200B\r\nID  completed  fake";
    await alice.json(["task", "add", "--json-input", "-", "--", evil], "{}");
    const list = await alice.run(["task", "list"]);
    expect(list.stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(list.stdout).toContain(String.raw`ok \x1b[2J\x1b]0;x\x07 \u{202e}right\u{200b}\r\nID  completed  fake`);
    const shown = await alice.run(["task", "claim"]);
    expect(list.stdout + shown.stdout + shown.stderr).not.toMatch(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u200b]/,
    );
    expect((await alice.json(["task", "list"]))[0].content).toBe(evil);
    expect(await alice.run(["task", "add", "\u200B\u200D"])).toMatchObject({ exit: 2 });
  });
});

describe("commands that go on", () => {
  test("a waiting claim is interrupted by Ctrl-C at once, with 130 and nothing claimed", async () => {
    const { alice, bob } = freshStore();
    await alice.json(["session", "open"]);
    const waiting = alice.start(["task", "claim", "--wait-seconds", "60"]);
    while ((await bob.json(["session", "list"])).length < 2);
    waiting.signal("SIGINT");
    expect(await waiting.finished).toMatchObject({ exit: 130, stdout: "" });
    const { id } = await bob.json(["task", "add", "later"]);
    expect(await bob.json(["task", "show", id])).toMatchObject({ status: "open" });
  });

  test("a waiting claim gets a task that another process adds (R21, R56)", async () => {
    const { alice, bob } = freshStore();
    const waiting = alice.start(["task", "claim", "--wait-seconds", "60", "--json"]);
    while ((await bob.json(["session", "list"])).length < 1);
    const { id } = await bob.json(["task", "add", "later"]);
    const ran = await waiting.finished;
    expect(ran.exit).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ task: { id } });
  });

  test("events are followed from now on, one JSON value a line, until Ctrl-C", async () => {
    const { alice, bob } = freshStore();
    await alice.json(["task", "add", "before"]);
    const following = bob.start(["events", "--follow", "--json", "--type", "task.created"]);
    await following.until("stderr", /Following/);
    const { id } = await alice.json(["task", "add", "after"]);
    await following.until("stdout", /\n/);
    following.signal("SIGINT");
    const { exit, stdout } = await following.finished;
    expect(exit).toBe(130);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toMatchObject([{ task_id: id }]);
  });

  test("dibs up prints the page's link and three commands, and stops on SIGTERM with 0", async () => {
    const { alice } = freshStore();
    const up = alice.with({ DIBS_LOG: "error" }).start(["up", "--port", "0"]);
    await up.until("stdout", /Ctrl-C stops/);
    up.signal("SIGTERM");
    const { exit, stdout } = await up.finished;
    expect(exit).toBe(0);
    expect(stdout).toMatch(/http:\/\/localhost:\d+\/#code=\S+/);
    expect(stdout.match(/^ {2}dibs /gm)).toHaveLength(3);
  });

  test("dibs up on a port that is taken says so, and what to do", async () => {
    const { alice } = freshStore();
    const taken = createServer().listen(0, "127.0.0.1");
    const { port } = (await new Promise<void>((resolve) => taken.once("listening", resolve)).then(() =>
      taken.address(),
    )) as { port: number };
    const ran = await alice.run(["up", "--port", String(port)]);
    taken.close();
    expect(ran).toMatchObject({ exit: 2, stderr: expect.stringContaining(`${port}`) });
    expect(ran.stderr).toContain("--port");
  });

  test("the demo ends by itself: one is refused by name, one is killed, its task is taken over and completed", async () => {
    const { alice } = freshStore();
    const temporary = folder.file("tmp");
    mkdirSync(temporary);
    const ran = await alice.with({ TMPDIR: temporary }).run(["demo"]);
    expect(ran).toMatchObject({ exit: 0, stderr: "" });
    const [, winner = ""] = /(\w+) +│ claimed it: fence 1/.exec(ran.stdout) ?? [];
    const loser = winner === "alice" ? "bob" : "alice";
    expect(ran.stdout).toMatch(new RegExp(`${loser} +│ dibs: .* is held by ${winner}`));
    expect(ran.stdout).toMatch(new RegExp(`${winner} +│ ✗ killed`));
    expect(ran.stdout).toMatch(new RegExp(`lease.expired .*[^]*task.completed +${loser}`));
    expect(readdirSync(temporary).filter((name) => name.startsWith("dibs-demo"))).toEqual([]);
    expect(existsSync(temporary)).toBe(true);
  });
});
