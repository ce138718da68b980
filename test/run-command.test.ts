import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { CommandLine } from "./support/dibs-command.js";
import { FreshStore } from "./support/fresh-store.js";
import { ScratchFolder } from "./support/scratch-folder.js";
import { ServerProcess } from "./support/server-process.js";
import { StubHttp } from "./support/stub-http.js";

vi.setConfig({ testTimeout: 60_000 });

let folder: ScratchFolder;
let stores = 0;
beforeAll(() => {
  folder = new ScratchFolder();
  // A worktree, a folder in it, a link into it and one out of it.
  mkdirSync(folder.file("repo/.git"), { recursive: true });
  mkdirSync(folder.file("repo/src/auth"), { recursive: true });
  writeFileSync(folder.file("repo/src/auth/login.ts"), "");
  symlinkSync(folder.file("repo/src/auth"), folder.file("repo/linked"));
  symlinkSync(folder.path, folder.file("repo/outside"));
});
afterAll(() => folder.remove());

/** Two agents on a store of the test's own, in the worktree. */
async function freshStore() {
  const file = folder.file(`store-${++stores}.db`);
  const env = { DIBS_STORE: `sqlite:${file}`, NO_COLOR: "1" };
  const ann = new CommandLine(folder.file("repo"), { ...env, DIBS_AGENT: "ann" });
  const ben = ann.with({ DIBS_AGENT: "ben" });
  await ben.json(["workspace", "set", "--lease-seconds-min", "1"]);
  return { ann, ben, file };
}

const run = (scope: string, ...command: string[]) => ["run", "--scope", scope, "--intent", "mend it", "--", ...command];
/** A shell line that says so on stderr as soon as it runs, and goes on until it is stopped. */
const LONG = ["sh", "-c", "echo running $DIBS_SESSION >&2; while :; do sleep 0.05; done"];

// Side by side, as some wait seconds for a heartbeat or their turn.
describe.concurrent("dibs run", () => {
  test("holds scopes while its command runs, hands on the fence, and ends with the command's status", async () => {
    const { ann, ben } = await freshStore();
    const script = 'printf "%s|%s|%s\\n" "$DIBS_FENCE" "$DIBS_SCOPES" "$DIBS_FENCES"; exit 7';
    const ran = await ann.run(run("src/auth", "sh", "-c", script));
    expect(ran).toMatchObject({ exit: 7, stdout: '1|path:src/auth|{"path:src/auth":1}\n' });
    expect(ran.stderr).toContain("holding path:src/auth (fence 1)");
    expect(await ben.json(["who"])).toEqual([]);
    expect(await ben.json(["scope", "history", "src/auth"])).toMatchObject([
      { agent_name: "ann", ended_how: "released" },
    ]);
    expect((await ann.run(run("src", "sh", "-c", "kill -9 $$"))).exit).toBe(128 + 9);
    expect(await ben.json(["session", "list"])).toEqual([]);
  });

  test("makes one poller the writer of an external source, whatever project it is of; the next has a higher fence (R43)", async () => {
    const { ann, ben } = await freshStore();
    await ben.json(["project", "add", "other"]);
    const poller = ann.start(run("source:tracker", ...LONG));
    await poller.until("stderr", /running/);
    const second = await ben.run(["run", "--project", "other", ...run("source:tracker", "echo", "never").slice(1)]);
    expect(second).toMatchObject({ exit: 4, stdout: "" });
    poller.signal("SIGINT");
    expect((await poller.finished).exit).toBe(130);
    const next = await ben.run(run("source:tracker", "sh", "-c", "echo $DIBS_FENCE"));
    expect(next).toMatchObject({ exit: 0, stdout: "2\n" });
  });

  test("hands on the fence of its first scope, and each by its name, also of names that are counted apart", async () => {
    const { ann, ben } = await freshStore();
    await ben.run(run("lib", "true"));
    const both = ["run", "--scope", "src", "--scope", "port:3000", "--intent", "x", "--"];
    const ran = await ann.run([...both, "sh", "-c", 'echo "$DIBS_FENCE $DIBS_FENCES"']);
    expect(ran.stdout).toBe('2 {"path:src":2,"port:3000":1}\n');
  });

  test("waits in line with --wait, says its place, and has its turn; out of time it says who is in the way (exit 4)", async () => {
    const { ann, ben } = await freshStore();
    await ben.json(["scope", "claim", "src", "--intent", "move the login"]);
    const wanted = ["run", "--scope", "src/auth", "--intent", "mend it", "--wait"];
    const late = await ann.run([...wanted, "1", "--", "echo", "never"]);
    expect(late).toMatchObject({ exit: 4, stdout: "" });
    expect(late.stderr).toContain("number 1 in line");
    const waiting = ann.start([...wanted, "60", "--", "echo", "mine"]);
    await waiting.until("stderr", /number 1 in line/);
    await ben.json(["scope", "release", "src"]);
    expect(await waiting.finished).toMatchObject({ exit: 0, stdout: "mine\n" });
    const interrupted = ann.with({ DIBS_AGENT: "cat" });
    await ben.json(["scope", "claim", "src", "--intent", "again"]);
    const given = interrupted.start([...wanted, "60", "--", "echo", "never"]);
    await given.until("stderr", /number 1 in line/);
    given.signal("SIGINT");
    expect(await given.finished).toMatchObject({ exit: 130, stdout: "" });
    expect(await ben.json(["wait", "list"])).toEqual([]);
  });

  // Apart, as what it starts ends with the test at work.
  test.sequential("a signal that comes when the scopes are granted and no command runs yet: they are given back (exit 130)", async () => {
    const fresh = await FreshStore.open({ realTime: true });
    const { key } = await fresh.ask("create_agent", { name: "ann", role: "worker" }, fresh.root);
    const http = await StubHttp.forTest({
      async answer({ operation, input, caller }) {
        if (operation.name === "heartbeat_scopes") {
          started.signal("SIGINT");
          await sleep(200);
        }
        const answer = await fresh.store.callText(operation, input as never, caller);
        if (operation.name !== "claim_scopes") return answer;
        // A grant that took a third of its lease is known to live only after a heartbeat.
        await sleep(1100);
        return { ...answer, text: answer.text.replace(/"remaining_ms":\d+/, '"remaining_ms":3000') };
      },
    });
    const env = { DIBS_URL: `http://127.0.0.1:${http.port}`, DIBS_KEY: key, NO_COLOR: "1" };
    const started = new CommandLine(folder.file("repo"), env).start(run("src", "echo", "never"));
    const ran = await started.finished;
    expect(ran).toMatchObject({ exit: 130, stdout: "" });
    expect(ran.stderr).not.toContain("holding");
    expect(await fresh.ask("list_claims", {}, fresh.root)).toEqual([]);
  });

  test("runs nothing where somebody holds them, and names who and what for (exit 4)", async () => {
    const { ann, ben } = await freshStore();
    await ben.json(["scope", "claim", "src", "--intent", "move the login"]);
    const ran = await ann.run(run("src/auth/login.ts", "sh", "-c", "echo never"));
    expect(ran).toMatchObject({ exit: 4, stdout: "" });
    expect(ran.stderr).toContain('path:src (exclusive, ben, "move the login")');
  });

  test("stops its command when the scopes are lost, and says so (exit 5)", async () => {
    const { ann, ben } = await freshStore();
    const lease = ["run", "--scope", "src", "--intent", "x", "--lease", "7", "--json", "--", ...LONG];
    const running = ann.start(lease);
    const [, session = ""] = await running.until("stderr", /running (\w+)/);
    // As an admin would who deletes the agent, or the clock while the machine sleeps.
    await ann.json(["session", "end", session]);
    const ended = await running.finished;
    expect(ended.exit).toBe(5);
    expect(JSON.parse(ended.stdout)).toMatchObject({ exit: 5, lost: true });
    expect(ended.stderr).toContain("stopping the command");
    expect(ended.stderr).toContain("has ended; what it held is free");
    await ben.json(["scope", "claim", "src", "--intent", "next"]);
  });

  test("that was given to another meanwhile doesn't end as if it had been held (exit 5)", async () => {
    const { ann, ben, file } = await freshStore();
    const go = `${file}-go`;
    const script = `echo running >&2; until test -e ${go}; do sleep 0.05; done`;
    const running = ann.start(["--json", ...run("src", "sh", "-c", script)]);
    await running.until("stderr", /running/);
    const waiting = await ben.run(["--json", "scope", "claim", "src", "--intent", "mine", "--wait"]);
    await ben.json(["wait", "grant", JSON.parse(waiting.stdout).ticket, "--reason", "it is urgent"]);
    writeFileSync(go, "");
    const ended = await running.finished;
    expect(ended.exit).toBe(5);
    expect(JSON.parse(ended.stdout)).toMatchObject({ exit: 5, lost: true });
    expect(ended.stderr).toContain("path:src (revoked)");
    expect(await ben.json(["who"])).toMatchObject([{ agent_name: "ben", scope: "path:src" }]);
  });

  test("keeps them for longer than a lease, and gives them back on Ctrl-C (exit 130)", async () => {
    const { ann, ben } = await freshStore();
    const running = ann.start(["run", "--scope", "src", "--intent", "x", "--lease", "7", "--", ...LONG]);
    await running.until("stderr", /running/);
    const [first] = await ben.json(["who"]);
    await vi.waitFor(async () => {
      const [now] = await ben.json(["who"]);
      expect(Date.parse(now.expires_at)).toBeGreaterThan(Date.parse(first.expires_at));
    }, 20_000);
    running.signal("SIGINT");
    expect((await running.finished).exit).toBe(130);
    expect(await ben.json(["who"])).toEqual([]);
  });

  test("ends with its command also where the scopes can't be given back, and keeps them no longer", async ({
    onTestFinished,
  }) => {
    const server = await ServerProcess.start({ store: `sqlite:${folder.file("gone.db")}` });
    onTestFinished(() => server.stop());
    const ann = new CommandLine(folder.file("repo"), { DIBS_URL: server.url, DIBS_KEY: server.key, NO_COLOR: "1" });
    const go = folder.file("gone-go");
    const running = ann.start(
      run("src", "sh", "-c", `echo running >&2; until test -e ${go}; do sleep 0.05; done; exit 7`),
    );
    await running.until("stderr", /running/);
    await server.kill();
    writeFileSync(go, "");
    // Its lease had five minutes left; renewed by a server that comes back it would have no end.
    expect((await running.finished).exit).toBe(7);
    expect((await running.finished).stderr).toContain("they end by the clock: Can't reach Dibs");
  });

  test("goes on when its holder keeps a part, and gives that back (R38)", async () => {
    const { ann, ben } = await freshStore();
    const running = ann.start(["run", "--scope", "src", "--intent", "x", "--lease", "7", "--", ...LONG]);
    const [, session = ""] = await running.until("stderr", /running (\w+)/);
    const [held] = await ben.json(["who"]);
    const { id } = await ben.json(["yield", "ask", held.id, "--reason", "the docs"]);
    await ann.with({ DIBS_SESSION: session }).json(["yield", "answer", id, "narrow", "--scopes", "path:src/auth"]);
    await running.until("stderr", /narrowed: holding path:src\/auth from now on/);
    expect(await ben.json(["who"])).toMatchObject([{ scope: "path:src/auth", agent_name: "ann" }]);
    running.signal("SIGINT");
    expect((await running.finished).exit).toBe(130);
    expect(await ben.json(["who"])).toEqual([]);
  });

  test("says that there is no such program, and holds nothing", async () => {
    const { ann, ben } = await freshStore();
    expect(await ann.run(run("src", "no-such-program"))).toMatchObject({ exit: 2 });
    expect(await ben.json(["who"])).toEqual([]);
  });
});

describe("a file is named from its worktree's root (R64)", () => {
  test.each([
    ["", "src/auth", "path:src/auth"],
    ["src", "auth/login.ts", "path:src/auth/login.ts"],
    ["src/auth", "../auth/./login.ts", "path:src/auth/login.ts"],
    ["src", "not/yet/there.ts", "path:src/not/yet/there.ts"],
    ["", "linked/login.ts", "path:src/auth/login.ts"],
    ["src", "*.ts", "path:src/*.ts"],
    ["src", "..", "path:**"],
    ["src", "port:3000", "port:3000"],
    ["src", "path:src/auth", "path:src/auth"],
  ])("in /%s %s is %s", async (cwd, given, scope) => {
    const { ann } = await freshStore();
    const there = ann.in(folder.file(`repo/${cwd}`));
    expect((await there.json(["scope", "claim", given, "--intent", "x"])).claims).toMatchObject([{ scope }]);
    expect((await there.json(["who", given])).map((claim: { scope: string }) => claim.scope)).toEqual([scope]);
  });

  test("so is what a task will touch, and what a list is narrowed by, given by a flag", async () => {
    const { ann } = await freshStore();
    const there = ann.in(folder.file("repo/src"));
    const { id } = await there.json(["task", "add", "mend it", "--scope", "auth/login.ts", "--scope", "port:3000"]);
    expect(await there.json(["task", "show", id])).toMatchObject({
      scopes: [{ scope: "path:src/auth/login.ts" }, { scope: "port:3000" }],
    });
    const { scopes } = await there.json(["task", "update", id, "--scope", "auth"]);
    expect(scopes).toMatchObject([{ scope: "path:src/auth" }]);
    expect(await there.json(["wait", "list", "--scope", "auth"])).toEqual([]);
  });

  test("who holds a file is also told where its folder is held, and says that nobody does only where it is so", async () => {
    const { ann, ben } = await freshStore();
    await ann.json(["scope", "claim", "src/auth", "--intent", "x"]);
    expect(await ben.json(["who", "src/auth/login.ts"])).toMatchObject([{ scope: "path:src/auth", agent_name: "ann" }]);
    expect((await ben.run(["who", "docs"])).stdout).toBe("Nobody holds any of that.\n");
    await ann.json(["scope", "release", "--all"]);
    expect((await ben.run(["who"])).stdout).toBe("Nobody holds anything.\n");
  });

  test.each([
    ["scope", "claim", "", "--intent", "x"],
    ["run", "--scope", "", "--intent", "x", "--", "echo", "never"],
    ["hold", "place", "", "--reason", "x", "--ttl-seconds", "60"],
    ["unlanded", "declare", "topic", ""],
    ["scope", "check", ""],
    ["who", ""],
  ])("an empty name, as of an unset variable, is refused and not the whole worktree: %s %s", async (...command) => {
    const { ann } = await freshStore();
    const ran = await ann.run(command);
    expect(ran).toMatchObject({ exit: 2, stdout: "" });
    expect(ran.stderr).toContain("(invalid_scope)");
  });

  test.each(["../x", "/etc/passwd", "outside/x"])(
    "%s lies outside, and is refused, not silently allowed",
    async (given) => {
      const { ann } = await freshStore();
      const ran = await ann.run(["scope", "claim", given, "--intent", "x"]);
      expect(ran).toMatchObject({ exit: 2, stdout: "" });
      expect(ran.stderr).toContain("lies outside");
    },
  );
});
