import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { GitRepository } from "./support/git-repository.js";
import {
  eachInItsScene,
  end,
  isRunning,
  KEY,
  look,
  MAIN,
  MODERN,
  overStdio,
  scene,
  until,
  up,
} from "./support/mcp-programs.js";

eachInItsScene();

describe("the stdio bridge", () => {
  test("stdout carries nothing but the protocol", async () => {
    const child = spawn(process.execPath, [MAIN, "mcp"], {
      env: { ...process.env, ...scene.env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    scene.clean.push(() => end(child, "SIGKILL"));
    const ask = (id: number, method: string, params: object = {}) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    ask(1, "tools/list");
    ask(2, "no/such/method");
    ask(3, "tools/call", { name: "claim_task", arguments: { labels: 5 } });
    ask(4, "tools/call", { name: "create_tasks", arguments: { tasks: [{ content: "a" }] } });
    child.stdin.write("this is no message\n");
    ask(5, "tools/call", { name: "claim_task", arguments: {} });
    const answered: unknown[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      const message = JSON.parse(line) as { jsonrpc: string; id: number };
      expect(message.jsonrpc).toBe("2.0");
      answered.push(message.id);
      if (answered.length === 5) child.stdin.end();
    }
    expect(answered.sort()).toEqual([1, 2, 3, 4, 5]);
    expect(child.exitCode ?? (await new Promise((resolve) => child.once("exit", resolve)))).toBe(0);
  });

  test("works in the project of the repository it was started in, with a session and without (R64)", async () => {
    const first = GitRepository.withCommit(join(scene.dir, "first"));
    const web = GitRepository.withCommit(join(scene.dir, "web"));
    for (const { path } of [first, web]) {
      const { use, client } = await overStdio(MODERN, {}, [], path);
      expect((await use("who_holds", { scope: "path:src" })).data.claims).toEqual([]);
      await use("create_tasks", { tasks: [{ content: path }] });
      expect(await use("claim_scopes", { scopes: ["path:src"], intent: "x" })).toMatchObject({ isError: false });
      expect((await use("who_holds", { scope: "path:src" })).data.claims).toHaveLength(1);
      expect((await use("list_tasks", { project_id: path === web.path ? "web" : "default" })).data.tasks).toHaveLength(
        1,
      );
      await client.close();
    }
    // Where the agent says another one, its session stays there.
    const { use } = await overStdio(MODERN, {}, [], web.path);
    const opened = (await use("session", { action: "open", project_id: "default" })).data.session;
    const claimed = await use("claim_scopes", { scopes: ["path:lib"], intent: "y", session_id: opened.id });
    expect(claimed.isError).toBe(false);
    expect((await use("who_holds", { scope: "path:lib", project_id: "default" })).data.claims).toHaveLength(1);
  });

  test("has a session of its own from the first call that needs one to its end, which frees all (R13, R10)", async () => {
    const store = await look();
    const id = await store.newTask("Fix the login");
    const { use, client } = await overStdio();
    await client.listTools();
    await use("list_tasks");
    expect(await store.sessions("open")).toEqual([]);
    await use("claim_task");
    expect(await store.sessions("open")).toEqual([
      expect.objectContaining({ client: "mcp", implicit: false, tasks_held: 1 }),
    ]);
    await client.close();
    await until("the task is free", 5, async () => (await store.task(id)).status === "open");
    expect(await store.sessions("open")).toEqual([]);
    expect((await store.task(id)).attempts).toBe(0);
  });

  test("opens another session after its own has ended, and says that the first is gone", async () => {
    const store = await look();
    const id = await store.newTask("Fix the login");
    const { use } = await overStdio();
    const first = (await use("claim_task")).data.task;
    await use("session", { action: "end" });
    expect((await use("heartbeat_task", { task_id: id })).data.code).toBe("lease_lost");
    const second = (await use("claim_task")).data.task;
    expect(second.id).toBe(id);
    expect(second.lease_id).not.toBe(first.lease_id);
  });

  test("a session that it is given is used and not ended", async () => {
    const store = await look();
    const id = await store.newTask("Fix the login");
    const session = await store.openSession();
    const { use, client } = await overStdio(MODERN, { DIBS_SESSION: session });
    await use("claim_task");
    await client.close();
    expect(await store.task(id)).toMatchObject({ status: "claimed", claimed_by_session_id: session });
  });

  test("sends the lease of what it claimed, when its agent forgets to (R3)", async () => {
    const store = await look();
    const id = await store.newTask("Fix the login");
    const session = await store.openSession();
    const { use } = await overStdio(MODERN, { DIBS_SESSION: session });
    await use("claim_task", { lease_seconds: 30 });
    const other = await overStdio(MODERN, { DIBS_SESSION: session });
    await other.use("release_task", { task_id: id });
    await other.use("claim_task");
    expect((await use("complete_task", { task_id: id })).data).toMatchObject({ code: "lease_lost" });
    expect((await other.use("complete_task", { task_id: id })).data.task.status).toBe("completed");
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s ends it in order: what it held is free", async (signal) => {
    const store = await look();
    const id = await store.newTask("Fix the login");
    const { use, transport } = await overStdio();
    await use("claim_task");
    const pid = transport.pid as number;
    process.kill(pid, signal);
    await until("the bridge is gone", 5, () => !isRunning(pid));
    expect((await store.task(id)).status).toBe("open");
  });

  test("is gone within 5 s of its parent, though its stdin stays open", async () => {
    const store = await look();
    const id = await store.newTask("Fix the login");
    // A pipe by name, of which the bridge itself keeps both ends open: no death of others closes it.
    const pipe = join(scene.dir, "stdin");
    const script = `mkfifo "$2"; exec 3<>"$2"; "$0" "$1" mcp <&3 & echo "{\\"pid\\":$!}"; wait`;
    const parent = spawn("sh", ["-c", script, process.execPath, MAIN, pipe], {
      env: { ...process.env, ...scene.env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    scene.clean.push(() => end(parent, "SIGKILL"));
    const lines = createInterface({ input: parent.stdout })[Symbol.asyncIterator]();
    const { pid } = JSON.parse((await lines.next()).value as string) as { pid: number };
    scene.clean.push(() => isRunning(pid) && process.kill(pid, "SIGKILL"));
    const claim = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "claim_task" } };
    appendFileSync(pipe, `${JSON.stringify(claim)}\n`);
    expect((await lines.next()).value).toContain(id);
    expect((await store.task(id)).status).toBe("claimed");
    parent.kill("SIGKILL");
    await until("the bridge is gone", 5, () => !isRunning(pid));
    expect((await store.task(id)).status).toBe("open");
  });

  test("doesn't stay for a waiting call when its agent has gone, and takes nothing (R21)", async () => {
    const store = await look();
    const { use, transport, client } = await overStdio();
    const waiting = use("claim_task", { wait_seconds: 60 });
    waiting.catch(() => undefined);
    await until("it waits", 30, async () => (await store.sessions("open")).length === 1);
    const pid = transport.pid as number;
    await client.close();
    await until("the bridge is gone", 5, () => !isRunning(pid));
    await expect(waiting).rejects.toThrow();
    const id = await store.newTask("Fix the login");
    expect(await store.task(id)).toMatchObject({ status: "open", attempts: 0 });
    expect(await store.sessions("open")).toEqual([]);
  });

  test("outlives its server: calls meanwhile are refused as retryable, later ones work, the tools stay (C64)", async () => {
    const first = await up();
    const { use, client } = await overStdio(MODERN, { DIBS_URL: first.url, DIBS_KEY: KEY });
    const tools = (await client.listTools()).tools;
    await use("create_tasks", { tasks: [{ content: "Fix the login" }] });
    const { id, lease_id } = (await use("claim_task")).data.task;
    await end(first.process, "SIGKILL");
    const refused = await use("heartbeat_task", { task_id: id, lease_id });
    expect(refused).toMatchObject({ isError: true, data: { code: "store_unavailable", retryable: true } });
    expect((await client.listTools()).tools).toEqual(tools);
    await up(first.port);
    expect((await use("heartbeat_task", { task_id: id, lease_id })).data.task.lease_id).toBe(lease_id);
  }, 60_000);
});
