import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { CommandLine } from "./support/dibs-command.js";
import { DIBS } from "./support/server-process.js";
import { worktreeScene } from "./support/worktree-scene.js";

vi.setConfig({ testTimeout: 60_000 });

const freshStore = worktreeScene();

const NODE = `"${process.execPath}" "${DIBS}"`;
const run = (scope: string, script: string, ...more: string[]) => [
  ...["run", ...more, "--scope", scope, "--intent", "mend it", "--", "sh", "-c", script],
];

describe.concurrent("dibs run in a session that is there (R33)", () => {
  test.each([
    ["--session", (ann: CommandLine, _id: string) => ann],
    ["DIBS_SESSION", (ann: CommandLine, id: string) => ann.with({ DIBS_SESSION: id })],
  ])("named by %s: it holds, counted with what it holds already, and goes on", async (how, inSession) => {
    const { ann, ben } = freshStore();
    const { id } = await ann.json(["session", "open"]);
    const within = ann.with({ DIBS_SESSION: id });
    await within.json(["scope", "claim", "src", "--intent", "before"]);
    const named = how === "--session" ? ["--session", id] : [];
    for (const scope of ["src", "docs"]) {
      const ran = await inSession(ann, id).run(run(scope, "echo $DIBS_SESSION; echo $DIBS_SCOPES", ...named));
      expect(ran).toMatchObject({ exit: 0, stdout: `${id}\npath:${scope}\n` });
    }
    expect(await ben.json(["who"])).toMatchObject([{ scope: "path:src", session_id: id }]);
    expect(await ben.json(["session", "show", id])).toMatchObject({ state: "open" });
  });

  test("that waited in vain it leaves the line, which the session's end would not do for it", async () => {
    const { ann, ben } = freshStore();
    await ben.json(["scope", "claim", "src", "--intent", "first"]);
    const { id } = await ann.json(["session", "open"]);
    const ran = await ann.run(run("src", "echo never", "--session", id, "--wait", "1"));
    expect(ran).toMatchObject({ exit: 4, stdout: "" });
    expect(await ben.json(["wait", "list"])).toEqual([]);
    const waiting = ann.start(run("src", "echo never", "--session", id, "--wait", "60"));
    await waiting.until("stderr", /number 1 in line/);
    waiting.signal("SIGINT");
    expect(await waiting.finished).toMatchObject({ exit: 130, stdout: "" });
    expect(await ben.json(["wait", "list"])).toEqual([]);
  });
});

describe.concurrent("dibs run inside another (R65)", () => {
  test("is not kept out by what that one holds, and frees none of it", async () => {
    const { ann, ben } = freshStore();
    const inner = (scope: string) => `${NODE} run --scope ${scope} --intent inner -- echo mine`;
    const script = `${inner("src")} && ${inner("src/a")} && ${NODE} who src --json`;
    const ran = await ann.run(run("src", script));
    expect(ran.exit).toBe(0);
    expect(ran.stdout).toMatch(/^mine\nmine\n\[/);
    expect(JSON.parse(ran.stdout.split("\n")[2] ?? "")).toMatchObject([{ scope: "path:src", client: "dibs-run" }]);
    expect(await ben.json(["session", "list"])).toEqual([]);
  });

  test("nor by what any run around that one holds", async () => {
    const { ann } = freshStore();
    const innermost = `${NODE} run --scope src/a --intent innermost -- echo mine`;
    const ran = await ann.run(run("src", `${NODE} run --scope docs --intent between -- ${innermost}`));
    expect(ran).toMatchObject({ exit: 0, stdout: "mine\n" });
  });

  test("keeps out the others in it, as of make -j", async () => {
    const { ann } = freshStore();
    const go = join(ann.cwd, "go");
    const first = `${NODE} run --scope port:1 --intent one -- sh -c 'echo up >&2; until test -e ${go}; do sleep 0.05; done'`;
    const running = ann.start(run("src", `${first} & wait`));
    await running.until("stderr", /up/);
    const [{ session_id: outer }] = await ann.json(["who", "src"]);
    const second = await ann.with({ DIBS_SESSION: outer }).run(run("port:1", "echo never"));
    writeFileSync(go, "");
    expect(second).toMatchObject({ exit: 4, stdout: "" });
    expect((await running.finished).exit).toBe(0);
  });

  test("or inside dibs work is not kept out by the scopes of the task", async () => {
    const { ann } = freshStore();
    await ann.json(["task", "add", "mend it", "--scope", "path:src"]);
    const script = `${NODE} run --scope src/a --intent inner -- echo mine`;
    const worked = await ann.run(["work", "--drain", "--", "sh", "-c", script]);
    expect(worked).toMatchObject({ exit: 0, stdout: expect.stringContaining("mine") });
  });
});
