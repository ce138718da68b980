import { expect, test, vi } from "vitest";
import { worktreeScene } from "./support/worktree-scene.js";

vi.setConfig({ testTimeout: 60_000 });

const freshStore = worktreeScene();

test("a claim that finds only what is taken says how many it passed over, and whose the first are", async () => {
  const { ann, ben } = freshStore();
  await ann.json(["scope", "claim", "src", "--intent", "move the login"]);
  for (const title of ["one", "two", "three", "four"]) await ann.json(["task", "add", title, "--scope", "src/a"]);
  const ran = await ben.run(["task", "claim"]);
  expect(ran).toMatchObject({ exit: 3, stdout: "" });
  const [nothing, passed, first, , , more] = ran.stderr.split("\n");
  expect([nothing, passed]).toEqual(["Nothing to claim.", "Passed over 4 tasks, which can't be had now:"]);
  expect(first).toMatch(/^ {2}“one”: path:src is held by ann for “move the login” until .*\(in /);
  expect(more).toBe("  and 1 more: dibs task list --ready");
});

test("who only waits is not said to hold, and a check says what freezes", async () => {
  const { ann, ben } = freshStore();
  const boss = ann.with({ DIBS_AGENT: "admin" });
  await ann.json(["scope", "claim", "lib", "--intent", "move"]);
  await ben.run(["scope", "claim", "lib", "--intent", "mend", "--wait"]);
  await ann.json(["scope", "release", "lib"]);
  await boss.json(["task", "add", "one", "--scope", "lib"]);
  const { stderr } = await ann.run(["task", "claim"]);
  expect(stderr).toMatch(/^ {2}“one”: path:lib is waited for by ben for “mend”$/m);
  await boss.json(["hold", "place", "docs", "--reason", "release day", "--ttl-seconds", "600"]);
  const { stdout } = await ann.run(["scope", "check", "docs/a"]);
  expect(stdout).toMatch(/^not free {2}path:docs\/a {2}exclusive\nFrozen\n.*\n.*path:docs .*release day/);
});

test("what can be done about a refusal can be typed as it stands", async () => {
  const { ann, ben } = freshStore();
  await ann.json(["scope", "claim", "src", "--intent", "move the login"]);
  const { stderr } = await ben.run(["scope", "claim", "src", "--intent", "mend it"]);
  expect(stderr).toContain("the same command with --wait");
  expect((await ben.run(["events"])).stdout).toMatch(/scope\.refused .* scopes=path:src holders=path:src \(ann\)/);
  const [, id = ""] = /next: Ask ann to yield: dibs yield ask (\w+) --reason "…"\.$/m.exec(stderr) ?? [];
  await ben.json(["yield", "ask", id, "--reason", "a short fix"]);
  const told = await ann.run(["--json", "scope", "heartbeat", "--all"]);
  const [, session = ""] = /dibs session show (\w+)/.exec(told.stderr) ?? [];
  const shown = await ann.run(["session", "show", session]);
  const [, asked = ""] = /dibs yield answer (\w+) yield/.exec(shown.stderr) ?? [];
  await ann.json(["yield", "answer", asked, "yield"]);
  expect(await ann.json(["who"])).toEqual([]);
});

test.each([
  ["scope release", "SCOPE, --claim-id or --all must be given"],
  ["hold place --reason x --ttl-seconds 60", "SCOPE or --project must be given"],
  ["hold place src --reason x", "--expires-at or --ttl-seconds must be given"],
])("of several fields the missing one is asked for as a command line takes it: %s", async (words, said) => {
  const { ann } = freshStore();
  const refused = await ann.with({ DIBS_AGENT: "admin" }).run(words.split(" "));
  expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining(`dibs: ${said}`) });
});

test("of two that hold the same it is said that they share it", async () => {
  const { ann, ben } = freshStore();
  for (const each of [ann, ben]) await each.json(["scope", "claim", "slot:gpu", "--mode", "shared", "--intent", "x"]);
  await ann.json(["scope", "claim", "src", "--intent", "x"]);
  expect((await ann.run(["who"])).stdout).toMatch(
    /ann +slot:gpu \(shared\) .*\nben +slot:gpu \(shared\) .*\nann +path:src +x/,
  );
});

test("names of several projects are listed with whose they are, those of one alone without", async () => {
  const { ann } = freshStore();
  await ann.json(["project", "add", "shop"]);
  await ann.json(["scope", "claim", "src", "--intent", "x"]);
  expect((await ann.run(["who"])).stdout).not.toContain("PROJECT");
  await ann.json(["scope", "claim", "lib", "--intent", "x", "--project-id", "shop"]);
  expect((await ann.run(["who"])).stdout).toMatch(/PROJECT.*\n.*path:src +default .*\n.*path:lib +shop /);
  expect((await ann.run(["presence"])).stdout).toContain("path:src (default), path:lib (shop)");
});
