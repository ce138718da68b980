import { existsSync, readFileSync, statSync } from "node:fs";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { CommandLine, type Ran } from "./support/dibs-command.js";
import { freshDatabase, query } from "./support/postgres.js";
import { RawHttp } from "./support/raw-http.js";
import { ScratchFolder } from "./support/scratch-folder.js";

const PASSWORD = "s3cr:t/p@ss#?&wörd";
const HIDDEN = [PASSWORD, encodeURIComponent(PASSWORD), "s3cr", "p%40ss", "p@ss"];
const ROLE = `dibs_app_${process.pid}`;
const ADMIN_KEY = "the-first-key-of-this-test-server";

let folder: ScratchFolder;
beforeAll(async () => {
  folder = new ScratchFolder();
  await query(inject("postgres"), `CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'`);
});
afterAll(async () => {
  await query(inject("postgres"), `DROP ROLE ${ROLE}`);
  folder.remove();
});

let places = 0;

/** An empty database that belongs to a role with a password, and a shell with that as its DIBS_STORE. */
async function place() {
  const { url: owner, drop } = await freshDatabase(inject("postgres"));
  onTestFinished(drop);
  const url = new URL(owner);
  await query(inject("postgres"), `ALTER DATABASE ${url.pathname.slice(1)} OWNER TO ${ROLE}`);
  url.username = ROLE;
  url.password = encodeURIComponent(PASSWORD);
  places += 1;
  const data = folder.file(`data-${places}`);
  const env = { DIBS_STORE: url.href, NO_COLOR: "1", XDG_DATA_HOME: data, DIBS_AGENT: "ann" };
  return { url, owner, data, shell: new CommandLine(folder.path, env) };
}

function keepsSecret(...ran: Pick<Ran, "stdout" | "stderr">[]): void {
  for (const { stdout, stderr } of ran) {
    for (const secret of HIDDEN) expect(stdout + stderr).not.toContain(secret);
  }
}

test("commands work on the store itself, without a server (R45)", async () => {
  const { shell } = await place();
  const { id } = await shell.json(["task", "add", "Fix the login test", "--label", "tests"]);
  const { task } = await shell.json(["task", "claim"]);
  expect(task).toMatchObject({ id, fence: 1, status: "claimed" });
  const taken = await shell.with({ DIBS_AGENT: "ben" }).run(["task", "complete", id]);
  expect(taken).toMatchObject({ exit: 5 });
  expect(await shell.json(["task", "complete", id, "--result", "green"])).toMatchObject({ status: "completed" });
  const added = await shell.run(["workspace", "add", "team-a"]);
  expect(added).toMatchObject({ exit: 0, stdout: expect.stringMatching(/key/) });
  const worked = await shell.run(["work", "--drain", "--", "true"]);
  expect(worked.exit).toBe(0);
  keepsSecret(taken, added, worked);
}, 120_000);

test("the server says where it keeps its tasks, and never with which password; its admin's key lies with the user", async () => {
  const { shell, url, data } = await place();
  for (const args of [
    ["up", "--port", "0"],
    ["up", "--port", "0", "--store", url.href],
  ]) {
    const up = shell.with({ DIBS_LOG: "debug", ...(args.length > 3 ? { DIBS_STORE: "" } : {}) }).start(args);
    await up.until("stdout", /Ctrl-C stops the server/);
    up.signal("SIGTERM");
    const ran = await up.finished;
    expect(ran.exit).toBe(0);
    expect(ran.stdout).toContain(`(store postgres://${ROLE}@${url.host}${url.pathname})`);
    keepsSecret(ran);
  }
  const file = `${data}/dibs/${url.host.replace(":", "_")}_${url.pathname.slice(1)}.admin-key`;
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).toMatch(/^\S{24,}\n$/);
}, 120_000);

test("what goes wrong with the store is told without its password", async () => {
  const { shell, url } = await place();
  const with_ = (change: (url: URL) => void) => {
    const other = new URL(url);
    change(other);
    return shell.with({ DIBS_STORE: other.href });
  };
  const wrong = with_((other) => {
    other.password = `${encodeURIComponent(PASSWORD)}x`;
  });
  const nowhere = with_((other) => {
    other.port = "1";
  });
  const absent = with_((other) => {
    other.pathname = "/absent";
  });
  const ran = [
    [7, await wrong.run(["task", "list"])],
    [7, await nowhere.run(["task", "list", "--json"])],
    [7, await absent.run(["up", "--port", "0"])],
    [2, await shell.with({ DIBS_STORE: `postgres://ann:${PASSWORD}@127.0.0.1/dibs` }).run(["task", "list"])],
    [2, await shell.with({ DIBS_STORE: `mysql://ann:${PASSWORD}@127.0.0.1/dibs` }).run(["up"])],
    [2, await shell.run(["up", `--stor=${url.href}`])],
    [2, await shell.run(["up", url.href])],
    [2, await shell.with({ DIBS_STORE_CONNECTIONS: "101" }).run(["task", "list"])],
  ] as const;
  expect(ran.map(([, { exit }]) => exit)).toEqual(ran.map(([exit]) => exit));
  for (const [, { stderr }] of ran) expect(stderr).toMatch(/^dibs: .+ \((store_unavailable|invalid_input)\)/);
  keepsSecret(...ran.map(([, each]) => each));
}, 120_000);

test("a server whose database turns it away answers 503, and neither answer nor log has the password (R57, R58)", async () => {
  const { shell, owner } = await place();
  const up = shell.with({ DIBS_LOG: "debug", DIBS_ADMIN_KEY: ADMIN_KEY }).start(["up", "--port", "0", "--json"]);
  const [line] = await up.until("stdout", /\{.*\}/);
  const http = new RawHttp(JSON.parse(line).url, ADMIN_KEY);
  expect(await http.get("/readyz")).toMatchObject({ status: 200 });
  const name = new URL(owner).pathname.slice(1);
  await query(inject("postgres"), `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  await query(inject("postgres"), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
  const refused = await http.get("/v1/tasks");
  expect(refused.status).toBe(503);
  expect(refused.headers["retry-after"]).toMatch(/^\d+$/);
  await query(inject("postgres"), `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  expect(await http.get("/v1/tasks")).toMatchObject({ status: 200 });
  http.close();
  up.signal("SIGTERM");
  keepsSecret({ stdout: JSON.stringify(refused), stderr: "" }, await up.finished);
}, 120_000);

test("migrations can be left to the operator: dibs migrate says from which version to which", async () => {
  const { shell, owner } = await place();
  const manual = shell.with({ DIBS_MIGRATE: "manual" });
  for (const args of [
    ["up", "--port", "0"],
    ["task", "list"],
  ]) {
    const refused = await manual.run(args);
    expect(refused).toMatchObject({
      exit: 7,
      stderr: expect.stringMatching(/version 0.* needs \d+: run dibs migrate/),
    });
  }
  const needed = await manual.run(["migrate", "--check", "--json"]);
  expect(needed.exit).toBe(4);
  expect(JSON.parse(needed.stdout)).toMatchObject({ version: 0, current: false });
  expect(await query(owner, "SELECT to_regclass('tasks') IS NULL AS untouched")).toEqual([{ untouched: true }]);
  const { from, to } = await manual.json(["migrate"]);
  expect({ from, to }).toEqual({ from: 0, to: JSON.parse(needed.stdout).needed });
  const again = await manual.run(["migrate"]);
  expect(again).toMatchObject({ exit: 0, stdout: expect.stringMatching(/was current already \(version \d+\)/) });
  expect(await manual.json(["migrate", "--check"])).toMatchObject({ version: to, needed: to, current: true });
  expect((await manual.run(["task", "list"])).exit).toBe(0);
  keepsSecret(needed, again);
}, 120_000);

test("a SQLite file is migrated by the same command, and only looked at by --check", async () => {
  const file = folder.file("shelf/dibs.db");
  const shell = new CommandLine(folder.path, { DIBS_STORE: `sqlite:${file}`, DIBS_MIGRATE: "manual", NO_COLOR: "1" });
  expect((await shell.run(["migrate", "--check"])).exit).toBe(4);
  expect(existsSync(folder.file("shelf"))).toBe(false);
  expect((await shell.run(["task", "list"])).exit).toBe(7);
  const { from, to } = await shell.json(["migrate"]);
  expect(from).toBe(0);
  expect(to).toBeGreaterThan(1);
  expect((await shell.run(["migrate", "--check"])).exit).toBe(0);
  await shell.json(["task", "add", "one"]);
  await shell.json(["task", "claim"]);
  const said = { leases_ended: 1, tasks_lifted: 1, fences_lifted_by: 1_000_000 };
  expect(await shell.json(["restored"])).toEqual(said);
  for (const args of [["restored"], ["migrate"], ["workspace", "add", "x"]])
    expect((await shell.with({ DIBS_URL: "http://127.0.0.1:1" }).run(args)).exit).toBe(2);
}, 120_000);

test("a server has no more connections than it was given, and one for each engine that listens", async () => {
  const { shell, owner } = await place();
  const given = { DIBS_STORE_CONNECTIONS: "1", DIBS_ADMIN_KEY: ADMIN_KEY };
  const up = shell.with(given).start(["up", "--port", "0", "--json"]);
  const [line] = await up.until("stdout", /\{.*\}/);
  const http = new RawHttp(JSON.parse(line).url, ADMIN_KEY);
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, nth) =>
      nth % 2 ? http.get("/v1/tasks") : http.post("/v1/tasks", { content: `task ${nth}` }),
    ),
  );
  expect(answers.filter(({ status }) => status >= 400)).toEqual([]);
  const sql =
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name ~ '^dibs/' AND datname = current_database()";
  const [{ n } = { n: 0 }] = (await query(owner, sql)) as { n: number }[];
  expect(n).toBeLessThanOrEqual(2 * (1 + 1));
  http.close();
  up.signal("SIGTERM");
  await up.finished;
}, 120_000);
