import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportStore, importStore, open, operations } from "dibs";
import type { Caller, OperationName } from "dibs/contract";
import { expect, inject, onTestFinished, test } from "vitest";
import { NOT_EXPORTED, TABLES } from "../src/core/port/dump-verbs.js";
import { CommandLine } from "./support/dibs-command.js";
import { freshDatabase, query } from "./support/postgres.js";
import { QUICK_DISK } from "./support/quick-disk.js";

function folder(): string {
  const made = mkdtempSync(join(QUICK_DISK, "dibs-test-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}
const file = () => `sqlite:${join(folder(), "dibs.db")}`;
async function database(): Promise<string> {
  const { url, drop } = await freshDatabase(inject("postgres"));
  onTestFinished(drop);
  return url;
}

async function linesOf(store: string): Promise<string[]> {
  const lines: string[] = [];
  await exportStore(store, async (line) => void lines.push(line));
  return lines;
}
const given = (lines: readonly string[]) =>
  async function* () {
    yield* lines;
  };

const asked = (agent: string): Caller => ({ identity: { kind: "file", agent } });

/** Something of everything, from another hand than the one that reads it. */
async function used(store: string): Promise<void> {
  const opened = await open({ store });
  const ask = async (agent: string, name: OperationName, input: object) =>
    (await opened.call(operations[name], input as never, asked(agent))).body as unknown;
  await opened.createWorkspace("other");
  await ask("ann", "project_for_repository", { remote: "git@example.org:acme/shop.git", root_commit: "c".repeat(40) });
  const steps = [
    { key: "b", content: 'A "step" \u{1f600} ünïcode', labels: ["ä", "b", "A"] },
    { key: "a", content: "next", depends_on: ["b"], requires_verdict: true },
  ];
  await ask("ann", "create_plan", { slug: "release", steps });
  await ask("ann", "create_recurrence", { name: "nightly", cron: "0 2 * * *", content: "report", labels: ["night"] });
  await ask("ann", "create_task", { content: "login", priority: 4, scopes: ["path:src/auth", "port:3000"] });
  await ask("dan", "claim_next_task", { lease_seconds: 3600 });
  await ask("ann", "set_scope_capacity", { scope: "slot:gpu", capacity: 2 });
  await ask("ann", "claim_scopes", { scopes: ["path:Docs/*.md"], mode: "shared", intent: "read them" });
  await ask("ann", "place_hold", { scope: "path:frozen", reason: "moving house", ttl_seconds: 3600 });
  await ask("ann", "declare_unlanded", { branch: "feat/x", scopes: ["path:Docs", "port:3000"] });
  const mine = { scopes: ["path:Docs"], intent: "write", wait: true };
  await ask("ben", "claim_scopes", mine);
  const [claim] = (await ask("ben", "list_claims", { kind: "path" })) as { id: string }[];
  await ask("ben", "request_yield", { claim_id: claim?.id, reason: "two lines" });
  for (let nth = 0; nth < 450; nth += 1)
    await ask("ann", "create_task", { content: `task ${nth}`, priority: 1 + (nth % 4) });
  const { task } = (await ask("ben", "claim_next_task", { lease_seconds: 3600 })) as { task: { id: string } };
  await ask("ben", "heartbeat_task", { task_id: task.id, progress: { done: 1 } });
  await ask("ann", "add_comment", { task_id: task.id, body: "a comment\nof two lines" });
  await ask("ann", "add_link", { task_id: task.id, url: "https://example.org/1" });
  const { id: ann } = (await ask("ann", "get_me", {})) as { id: string };
  await ask("ben", "handoff_task", { task_id: task.id, to_agent_id: ann, offer_seconds: 3600 });
  await ask("ben", "change_task_context", { task_id: task.id, context: { a: 1 } });
  await ask("ben", "change_task_context", { task_id: task.id, context: { a: null } });
  await ask("ann", "report_head", { branch: "main", commit: "b".repeat(40) });
  const judged = { verdict: "pass", commit: "a".repeat(40), branch: "main", evidence: [{ kind: "check", ref: "ci" }] };
  await ask("ann", "judge_task", { task_id: task.id, ...judged });
  const late = (await ask("cat", "claim_next_task", {})) as { task: { id: string } };
  await opened.call(operations.complete_task, { task_id: late.task.id, result: { ok: [1, null] } } as never, {
    ...asked("cat"),
    idempotencyKey: "once",
  });
  const held = (await ask("cat", "claim_next_task", {})) as { task: { id: string } };
  await ask("ann", "force_release_task", { task_id: held.task.id, reason: "to leave a notice" });
  await opened.close();
}

test("every table of the schema is exported, or is known to stay behind", async () => {
  const url = await database();
  await (await open({ store: url })).close();
  const there = await query(
    url,
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()",
  );
  const known = [...TABLES.map(({ name }) => name), ...NOT_EXPORTED];
  expect(there.map(({ name }) => name as string).sort()).toEqual([...known].sort());
});

test("export, import, export: the same lines, from SQLite to Postgres and back", async () => {
  const first = file();
  await used(first);
  const lines = await linesOf(first);
  for (const { name } of TABLES)
    expect(
      lines.some((line) => line.startsWith(`{"table":"${name}"`)),
      name,
    ).toBe(true);
  const [second, third] = [await database(), file()];
  expect(await importStore(second, given(lines))).toEqual({ records: lines.length - 2 });
  expect(await linesOf(second)).toEqual(lines);
  await importStore(third, given(await linesOf(second)));
  expect(await linesOf(third)).toEqual(lines);
}, 60_000);

test.each(["sqlite", "postgres"])(
  "what was imported into %s goes on: leases, fences, numbers, keys, first answers",
  async (kind) => {
    const from = file();
    await used(from);
    const to = kind === "sqlite" ? file() : await database();
    await importStore(to, given(await linesOf(from)));
    const opened = await open({ store: to });
    onTestFinished(() => opened.close());
    const ask = async (agent: string, name: OperationName, input: object, idempotencyKey?: string) =>
      opened.call(operations[name], input as never, { ...asked(agent), ...(idempotencyKey && { idempotencyKey }) });
    const claims = (await ask("ann", "list_claims", {})).body as {
      task_id: string;
      lease_id: string;
      agent_name: string;
    }[];
    const claim = claims.find(({ agent_name }) => agent_name === "ben");
    const before = (await ask("ben", "get_task", { task_id: claim?.task_id })).body as { fence: number };
    const kept = (await ask("ben", "heartbeat_task", { task_id: claim?.task_id, lease_id: claim?.lease_id })).body;
    expect(kept).toMatchObject({ fence: before.fence, progress: { done: 1 } });
    const done = (await ask("ann", "list_tasks", { status: "completed" })).body as { id: string }[];
    const repeated = await ask("cat", "complete_task", { task_id: done[0]?.id, result: { ok: [1, null] } }, "once");
    expect(repeated).toMatchObject({ replayed: true, body: { id: done[0]?.id, status: "completed" } });
    const events = (await ask("ann", "list_events", { newest: true, limit: 1 })).body as { id: string }[];
    await ask("ann", "create_task", { content: "new" });
    const next = (await ask("ann", "list_events", { newest: true, limit: 1 })).body as { id: string }[];
    expect(Number(next[0]?.id)).toBe(Number(events[0]?.id) + 1);
  },
);

test("a broken export changes nothing, and is told by its line", async () => {
  const from = file();
  await used(from);
  const lines = await linesOf(from);
  const to = file();
  const refused = (broken: readonly string[]) => importStore(to, given(broken)).catch((fault) => fault.message);
  expect(await refused(lines.slice(0, -1))).toMatch(new RegExp(`^line ${lines.length - 1}: is the last, but no end`));
  expect(await refused(lines.filter((_, at) => at !== lines.length - 3))).toMatch(/something is missing/);
  const project = lines.filter((line) => !line.startsWith('{"table":"projects"'));
  expect(await refused(project)).toMatch(/^before line \d+: a record of repositories fits no other: /);
  expect(await refused([...lines.slice(0, 5), "{nonsense", ...lines.slice(5)])).toBe("line 6: isn't a JSON object");
  expect(await refused(lines.slice(1))).toMatch(/^line 1: must be \{"dibs_export":1\}/);
  const [head = "", workspace = ""] = lines;
  expect(await refused([head, workspace.replace('"name"', '"name\\") VALUES (1);--"')])).toMatch(
    /^line 2: has a field name"/,
  );
  expect(await refused([head, '{"table":"clock","row":{"id":1}}'])).toMatch(
    /^line 2: is no record that this Dibs knows/,
  );
  // A fault of the last row undoes the first.
  const doubled = [
    ...lines.slice(0, -1),
    lines.at(-2) as string,
    JSON.stringify({ end: true, records: lines.length - 1 }),
  ];
  expect(await refused(doubled)).toMatch(/a record of events fits no other/);
  expect(await importStore(to, given(lines))).toEqual({ records: lines.length - 2 });
});

test("a store that was used takes no export; one that was only opened does", async () => {
  const from = file();
  await used(from);
  const lines = await linesOf(from);
  await expect(importStore(from, given(lines))).rejects.toMatchObject({ code: "already_exists" });
  const opened = file();
  await (await open({ store: opened })).close();
  await importStore(opened, given(lines));
  expect(await linesOf(opened)).toEqual(lines);
});

const dibsCommand = (args: readonly string[]) => new CommandLine(folder(), {}).run(args);

test("on the command line: to a file that its owner alone can read, and from it", async () => {
  const [from, to, where] = [file(), file(), folder()];
  await used(from);
  const path = join(where, "dibs.jsonl");
  expect((await dibsCommand(["export", path, "--store", from])).exit).toBe(0);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, "utf8").trimEnd().split("\n")).toEqual(await linesOf(from));
  const whole = readFileSync(path, "utf8");
  for (const target of [path, join(where, "none", "dibs.jsonl")]) {
    const refused = await dibsCommand(["export", target, "--store", from]);
    expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining("FILE: can't be written")]);
  }
  expect(readFileSync(path, "utf8")).toBe(whole);
  const missing = await dibsCommand(["import", join(where, "none.jsonl"), "--store", to]);
  expect([missing.exit, missing.stderr]).toEqual([2, expect.stringContaining("FILE: can't be read")]);
  const imported = await dibsCommand(["import", path, "--store", to]);
  expect([imported.exit, imported.stdout]).toEqual([0, expect.stringContaining("must not go on")]);
  writeFileSync(path, "{}\n");
  expect((await dibsCommand(["import", path, "--store", file()])).stderr).toContain("line 1: must be");
}, 60_000);
