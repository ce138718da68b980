import { existsSync, mkdirSync, statSync } from "node:fs";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { CommandLine } from "./support/dibs-command.js";
import { GitRepository } from "./support/git-repository.js";
import { ScratchFolder } from "./support/scratch-folder.js";
import { ServerProcess } from "./support/server-process.js";

/** Field reports here: C30 (what its hooks do is not here yet). The rules of the binding are in test/rules/repositories.test.ts. */

vi.setConfig({ testTimeout: 120_000 });

let folder: ScratchFolder;
/** The commands on a bare file of the test's own, outside any repository. */
let line: CommandLine;
beforeEach(() => {
  folder = new ScratchFolder();
  onTestFinished(() => folder.remove());
  line = new CommandLine(folder.path, {
    DIBS_STORE: `sqlite:${folder.file("dibs.db")}`,
    DIBS_AGENT: "ann",
    NO_COLOR: "1",
  });
});

const CLAIM = ["scope", "claim", "src/a.ts", "--intent", "mend it"];
/** Somebody else's commands in the repository. */
const by = (agent: string, { path }: GitRepository) => line.with({ DIBS_AGENT: agent }).in(path);
const projectAt = async ({ path }: GitRepository) => (await line.in(path).json(["project", "here"])).key as string;

/** On the bare file, or as clients of a server that has it. */
async function agentsOf(
  way: "the bare file" | "HTTP",
): Promise<(agent: string, at: GitRepository) => Promise<CommandLine>> {
  if (way === "the bare file") return async (agent, at) => by(agent, at);
  const server = await ServerProcess.start({ store: line.env.DIBS_STORE as string });
  onTestFinished(() => server.stop());
  const http = server.client();
  onTestFinished(() => http.close());
  return async (agent, { path }) => {
    const { key } = (await http.post("/v1/agents", { name: agent })).body;
    return new CommandLine(path, { DIBS_URL: server.url, DIBS_KEY: key, NO_COLOR: "1" });
  };
}

describe.each(["the bare file", "HTTP"] as const)("over %s", (way) => {
  test("worktrees and clones of a repository are one project, another of the same folder name is its own (R64, C30)", async () => {
    const remote = GitRepository.withCommit(folder.file("remote/R"));
    const main = remote.clone(folder.file("w/main"));
    const feat = main.worktree(folder.file("w/feat"));
    expect(statSync(`${feat.path}/.git`).isFile()).toBe(true);
    const clone = remote.clone(folder.file("c/R"));
    const unrelated = GitRepository.withCommit(folder.file("other/R"));
    const agent = await agentsOf(way);
    const [a, b, d, stranger] = [
      await agent("a", main),
      await agent("b", feat),
      await agent("d", clone),
      await agent("stranger", unrelated),
    ];
    const { claims } = await a.json(CLAIM);
    expect(claims).toMatchObject([{ scope: "path:src/a.ts" }]);
    for (const other of [b, d]) {
      const refused = await other.run(CLAIM);
      expect(refused.exit).toBe(4);
      expect(refused.stderr).toContain("path:src/a.ts (exclusive, a,");
    }
    const own = await stranger.json(CLAIM);
    expect(own.claims).toMatchObject([{ scope: "path:src/a.ts" }]);
    expect(own.claims[0].project_id).not.toBe(claims[0].project_id);
    // Each sees its own project's, from any folder of it.
    expect(await d.in(`${clone.path}/src`).json(["who", "a.ts"])).toMatchObject([{ agent_name: "a" }]);
    expect(await stranger.json(["scope", "history", "src"])).toMatchObject([{ agent_name: "stranger" }]);
    expect(await b.json(["scope", "check", "src"])).toMatchObject({ free: false, conflicts: [{ agent_name: "a" }] });
    const projects = await b.json(["project", "list"]);
    expect(projects).toMatchObject([{ key: "default" }, { key: "R" }]);
    expect(projects[0].repositories).toContain(`file:${remote.path}`);
  });
});

describe("which repository it is", () => {
  const shop = (name: string, url: string) => {
    const made = GitRepository.init(folder.file(name));
    made.git("remote", "add", "origin", url);
    return made;
  };

  test("is what its remote is called, whichever way it is written, before there is any commit and without git", async () => {
    const first = shop("first", "https://example.org/acme/first");
    const noGit = line.with({ PATH: "/nowhere" });
    expect(await noGit.in(first.path).json(["project", "here"])).toMatchObject({ key: "default" });
    const web = shop("one", "https://ann:s3cret@example.org/acme/shop.git");
    const ssh = shop("two", "git@EXAMPLE.org:acme/shop");
    expect(await noGit.in(web.path).json(["project", "here"])).toMatchObject({
      key: "shop",
      repositories: ["example.org/acme/shop"],
    });
    expect(await projectAt(ssh)).toBe("shop");
  });

  test("is origin, else the only remote; of several without origin none says it", async () => {
    await projectAt(shop("first", "https://example.org/acme/first"));
    const forked = shop("forked", "git@example.org:ben/shop.git");
    forked.git("remote", "add", "upstream", "git@example.org:acme/shop.git");
    expect(await projectAt(forked)).toBe("shop");
    forked.git("remote", "rename", "origin", "mine");
    forked.commit("a", "a");
    expect((await line.in(forked.path).json(["project", "here"])).repositories).toEqual([
      `root:${forked.git("rev-parse", "HEAD")}`,
    ]);
    forked.git("remote", "remove", "mine");
    expect(await projectAt(forked)).toBe("forked");
  });

  test("without a remote is its first commit, and it stays where it was when it gets one", async () => {
    await projectAt(shop("first", "https://example.org/acme/first"));
    const alone = GitRepository.withCommit(folder.file("alone"));
    alone.commit("b", "b");
    expect(await projectAt(alone)).toBe("alone");
    const { id } = await line.in(alone.path).json(["task", "add", "in it"]);
    alone.git("remote", "add", "origin", "git@example.org:acme/renamed.git");
    expect(await projectAt(alone)).toBe("alone");
    const { project_id } = await line.in(alone.path).json(["task", "show", id]);
    expect(await line.json(["project", "show", "alone"])).toMatchObject({
      id: project_id,
      repositories: [expect.stringMatching(/^root:/), "example.org/acme/renamed"],
    });
    // A clone that never was anywhere else is it, too; one that is shallow knows only the remote.
    expect(await projectAt(alone.clone(folder.file("clone")))).toBe("alone");
    const shallow = new GitRepository(folder.file("shallow"));
    alone.git("clone", "-q", "--depth", "1", `file://${alone.path}`, shallow.path);
    shallow.git("remote", "set-url", "origin", "https://example.org/acme/elsewhere");
    expect((await line.in(shallow.path).json(["project", "here"])).repositories).toEqual([
      "example.org/acme/elsewhere",
    ]);
  });

  test("is told for a worktree from inside a git hook, whose variables name another, and for a submodule", async () => {
    await projectAt(shop("first", "https://example.org/acme/first"));
    const one = GitRepository.withCommit(folder.file("one"));
    const two = GitRepository.withCommit(folder.file("two"));
    const hooked = line.in(one.path).with({ GIT_DIR: `${two.path}/.git`, GIT_WORK_TREE: two.path });
    expect(await hooked.json(["project", "here"])).toMatchObject({ key: "one" });
    one.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", two.path, "lib/two");
    expect(await projectAt(new GitRepository(`${one.path}/lib/two`))).toBe("two");
  });

  test("is not known without a remote or a commit: then it is as outside any", async () => {
    await projectAt(shop("first", "https://example.org/acme/first"));
    const empty = GitRepository.init(folder.file("empty"));
    for (const place of [line, line.in(empty.path)]) {
      const { project_id } = await place.json(["task", "add", "somewhere"]);
      expect(await line.json(["project", "show", "default"])).toMatchObject({ id: project_id });
    }
    const refused = await line.in(empty.path).run(["project", "here", "--json"]);
    expect(JSON.parse(refused.stdout)).toMatchObject({ code: "invalid_input" });
  });
});

describe("dibs.json", () => {
  test("names the project, also of worktrees that don't have it yet, and it is made", async () => {
    const main = GitRepository.withCommit(folder.file("main"));
    main.git("remote", "add", "origin", "git@example.org:acme/shop.git");
    const feat = main.worktree(folder.file("feat"));
    const first = await line.in(feat.path).json(CLAIM);
    main.write("dibs.json", '{"project": "store"}\n');
    expect(await projectAt(main)).toBe("store");
    expect(await projectAt(feat)).toBe("store");
    const [session] = await line.json(["session", "list"]);
    expect(session.project_id).toBe(first.claims[0].project_id);
    // The next command takes the place's session along.
    await line.in(feat.path).json(["scope", "claim", "src/b.ts", "--intent", "more"]);
    const { id } = await line.json(["project", "show", "store"]);
    expect(await line.json(["session", "list"])).toMatchObject([{ id: session.id, project_id: id }]);
    const refused = await by("ben", main).run(["scope", "claim", "src/b.ts", "--intent", "mine"]);
    expect(refused.exit).toBe(4);
  });

  test.each([
    ["{", /dibs\.json is no JSON/],
    ["[]", /dibs\.json must be \{"project": "KEY"\}/],
    ["{}", /dibs\.json must be .*project/],
    ['{"project": "shop", "hooks": true}', /dibs\.json must be .*hooks/],
    ['{"project": "a b"}', /dibs\.json must be .*letters, digits/],
  ])("that says %s is refused by its name, and nothing is made", async (text, why) => {
    const main = GitRepository.withCommit(folder.file("main"));
    main.write("dibs.json", text);
    const refused = await line.in(main.path).run(["task", "add", "lost"]);
    expect(refused).toMatchObject({ exit: 2, stdout: "" });
    expect(refused.stderr).toMatch(why);
    expect(await line.json(["task", "list"])).toEqual([]);
  });
});

describe("what is done in a repository's project", () => {
  /** Two repositories; the second one's project is not the default one. */
  async function second() {
    const first = GitRepository.withCommit(folder.file("first"));
    const web = GitRepository.withCommit(folder.file("web"));
    await projectAt(first);
    expect(await projectAt(web)).toBe("web");
    const { id } = await line.json(["project", "show", "web"]);
    return { first: line.in(first.path), web: line.in(web.path), repository: web, id };
  }

  test("is what commands make there, and the plans they mean; lists and claims are of all projects", async () => {
    const { first, web, repository, id } = await second();
    expect(await web.json(["task", "add", "one"])).toMatchObject({ project_id: id });
    const many = { tasks: [{ content: "two" }, { content: "three", project_id: "default" }] };
    expect((await web.json(["task", "add-many", "--json-input", "-"], JSON.stringify(many)))[0].project_id).toBe(id);
    repository.write("plan.yaml", "slug: release\nsteps: [{key: a, content: build}]\n");
    expect(await web.json(["plan", "apply", "plan.yaml"])).toMatchObject({ project_id: id });
    expect(await web.json(["plan", "show", "release"])).toMatchObject({ project_id: id });
    expect((await first.run(["plan", "show", "release"])).exit).toBe(1);
    repository.write("todo.md", "- [ ] buy milk\n");
    await web.json(["import", "todo.md", "--plan", "todo"]);
    expect(await web.json(["plan", "show", "todo"])).toMatchObject({ project_id: id });
    expect(await web.json(["recur", "add", "nightly", "report", "--cron", "0 2 * * *"])).toMatchObject({
      project_id: id,
    });
    expect(await web.json(["head", "report"])).toMatchObject({ project_id: id });
    expect(await web.json(["session", "open"])).toMatchObject({ project_id: id });
    expect(await first.json(["task", "list"])).toHaveLength(5);
    expect(await first.json(["task", "list", "--project-id", "web"])).toHaveLength(4);
    expect((await first.json(["task", "claim"])).task).toMatchObject({ content: "one", project_id: id });
    expect((await web.json(["task", "claim", "--plan", "release"])).task).toMatchObject({ content: "build" });
  });

  test("is what dibs run and dibs work hold in, and what their commands do", async () => {
    const { first, web, id } = await second();
    await web.json(["task", "add", "one"]);
    const more = 'exec "$0" "$@"';
    const script = ["sh", "-c", more, process.execPath, new URL("../dist/cli/main.js", import.meta.url).pathname];
    const ran = await web.run(["run", "--scope", "src", "--intent", "x", "--", ...script, "who", "src", "--json"]);
    expect(JSON.parse(ran.stdout)).toMatchObject([{ scope: "path:src", project_id: id }]);
    const worked = await web.run(["work", "--once", "--", ...script, "session", "list", "--json"]);
    expect(JSON.parse(worked.stdout.slice(0, worked.stdout.lastIndexOf("]") + 1))).toMatchObject([{ project_id: id }]);
    expect(await first.json(["scope", "history", "src", "--project-id", "web"])).toHaveLength(1);
  });

  test("is another where one is named: by a flag, by DIBS_PROJECT, by the session that is named", async () => {
    const { first, web, id } = await second();
    const { id: defaultId } = await line.json(["project", "show", "default"]);
    expect(await web.json(["task", "add", "x", "--project-id", "default"])).toMatchObject({ project_id: defaultId });
    const named = first.with({ DIBS_PROJECT: "web" });
    expect(await named.json(["task", "add", "x"])).toMatchObject({ project_id: id });
    expect((await named.json(CLAIM)).claims).toMatchObject([{ project_id: id }]);
    expect(await line.with({ DIBS_PROJECT: "web" }).json(["task", "add", "x"])).toMatchObject({ project_id: id });
    const lost = await first.with({ DIBS_PROJECT: "nowhere" }).run(["task", "add", "x", "--json"]);
    expect(JSON.parse(lost.stdout)).toMatchObject({ code: "not_found" });
    const session = await first.json(["session", "open", "--project-id", "web"]);
    expect(await first.with({ DIBS_SESSION: session.id }).json(["task", "add", "x"])).toMatchObject({ project_id: id });
    // A session that was opened elsewhere, without any, says nothing.
    const silent = await line.json(["session", "open"]);
    expect(silent.project_id).toBeNull();
    expect(await web.with({ DIBS_SESSION: silent.id }).json(["task", "add", "x"])).toMatchObject({ project_id: id });
  });

  test("stays a part's own where a task is part of another", async () => {
    const { first, web } = await second();
    const whole = await first.json(["task", "add", "whole"]);
    const part = await web.json(["task", "add", "part", "--parent-task-id", whole.id]);
    expect(part.project_id).toBe(whole.project_id);
    const many = { tasks: [{ content: "part", parent_task_id: whole.id }] };
    const [second_] = await web.json(["task", "add-many", "--json-input", "-"], JSON.stringify(many));
    expect(second_.project_id).toBe(whole.project_id);
  });
});

test("commands that start at one instant in two new repositories find one project each (R57)", async () => {
  const places = ["one", "two"].map((name) => GitRepository.withCommit(folder.file(name)));
  mkdirSync(folder.file("w"));
  const all = places.flatMap((place, at) => [place, place, place.worktree(folder.file(`w/feat-${at}`))]);
  const add = (at: number) => ["task", "add", `task ${at}`, "--json"];
  const ran = await Promise.all(all.map((place, at) => by(`agent-${at}`, place).start(add(at)).finished));
  const tasks = ran.map(({ stdout }) => JSON.parse(stdout));
  expect(new Set(tasks.slice(0, 3).map(({ project_id }) => project_id)).size).toBe(1);
  expect(new Set(tasks.slice(3).map(({ project_id }) => project_id)).size).toBe(1);
  expect(await line.json(["project", "list"])).toHaveLength(2);
  expect(existsSync(`${places[0]?.path}/.dibs`)).toBe(false);
});
