import { describe, expect, test } from "vitest";
import { LEGACY, McpSurface, MODERN, rival, tester } from "../../test/support/mcp-surface.js";
import type { Call, Caller } from "../contract/operation.js";
import { type OperationName, operations } from "../contract/operations.js";
import { INSTRUCTIONS } from "./instructions.js";

const mcp = McpSurface.forEach();
const { connect, newTask, readTask } = mcp;

describe.each([
  ["the 2026-07-28 protocol", MODERN],
  ["clients that initialize", LEGACY],
])("%s", (_name, options) => {
  test("lists twelve tools in one order, each with types, an output schema and hints, under 3,000 tokens", async () => {
    const { client } = await connect(options);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual([
      "claim_task",
      "heartbeat_task",
      "release_task",
      "complete_task",
      "create_tasks",
      "list_tasks",
      "claim_scopes",
      "release_scopes",
      "request_yield",
      "who_holds",
      "session",
      "events",
    ]);

    expect(Math.ceil(JSON.stringify({ tools }).length / 3.5)).toBeLessThan(3000);
    for (const tool of tools) {
      expect(tool.outputSchema?.type).toBe("object");
      expect(tool.annotations?.openWorldHint).toBe(false);
      expect(tool.annotations?.readOnlyHint ?? tool.annotations?.destructiveHint).toBeDefined();
      for (const [name, schema] of Object.entries(tool.inputSchema.properties ?? {})) {
        expect(schema, `${tool.name}.${name}`).toHaveProperty("type", expect.any(String));
        if ((schema as { type: string }).type === "array") expect(schema).toHaveProperty("items.type");
      }
    }
    expect(tools.filter((tool) => tool.annotations?.readOnlyHint).map((tool) => tool.name)).toEqual([
      "list_tasks",
      "who_holds",
      "events",
    ]);
  });

  test("the loop of create, claim, heartbeat and complete works with the handles each answer gives", async () => {
    const { use } = await connect(options);
    const created = await use("create_tasks", { tasks: [{ content: "Fix the login", labels: ["web"], priority: 3 }] });
    const claimed = await use("claim_task", { labels: ["web"], lease_seconds: 60 });
    expect(claimed.data.task).toMatchObject({
      id: created.data.tasks[0].id,
      content: "Fix the login",
      labels: ["web"],
    });
    const { id, lease_id, fence } = claimed.data.task;
    expect(claimed.text).toContain(id);
    expect(claimed.text).toContain(lease_id);
    const kept = await use("heartbeat_task", {
      task_id: id,
      lease_id,
      fence,
      progress: { done: 1 },
      checkpoint: "half",
    });
    expect(kept.data.task).toMatchObject({ id, lease_id, status: "claimed" });
    const done = await use("complete_task", { task_id: id, lease_id, result: '{"commit":"abc"}' });
    expect(done.data.task).toEqual(expect.objectContaining({ id, status: "completed" }));
    expect(await readTask(id)).toMatchObject({ status: "completed", result: { commit: "abc" }, checkpoint: "half" });
    expect((await use("claim_task")).data).toEqual({ task: null });
  });

  test("a refusal is a result with the code, the holder and what to do next", async () => {
    const id = await newTask("Fix the login");
    const mine = await connect(options);
    const theirs = await connect(options, rival);
    await theirs.use("claim_task", { task_id: id });
    const refused = await mine.use("claim_task", { task_id: id });
    expect(refused.isError).toBe(true);
    expect(refused.data).toMatchObject({ code: "task_claimed", retryable: true });
    expect(refused.data.holder).toMatchObject({ agent_name: "rival", task_id: id, intent: "Fix the login" });
    expect(refused.data.next[0]).toContain("claim_task");
    expect(refused.text).toContain("rival");
    expect(refused.tokens).toBeLessThan(400);
  });
});

test("the instructions teach the loop, with the words clients search for, in under 1.5 KB", async () => {
  const { client } = await connect();
  expect(client.getInstructions()).toBe(INSTRUCTIONS);
  expect(Buffer.byteLength(INSTRUCTIONS)).toBeLessThan(1500);
  for (const word of [
    "claim",
    "task",
    "lock",
    "reserve",
    "wait",
    "coordinate",
    "heartbeat",
    "complete",
    "lease_lost",
  ]) {
    expect(INSTRUCTIONS.toLowerCase()).toContain(word);
  }
  expect(client.getServerVersion()).toMatchObject({ name: "dibs", version: "1.2.3" });
});

describe("the transport holds nothing (C64)", () => {
  test.each([
    ["modern", MODERN],
    ["older", LEGACY],
  ])("a restart breaks no %s client: it goes on with the lease it had", async (_name, options) => {
    await newTask("Fix the login");
    const { client, use } = await connect(options);
    const { id, lease_id } = (await use("claim_task")).data.task;
    const before = (await client.listTools()).tools;
    mcp.restart();
    expect((await use("heartbeat_task", { task_id: id, lease_id })).data.task.lease_id).toBe(lease_id);
    expect((await client.listTools()).tools).toEqual(before);
  });

  test("an older client's unknown transport session, or none at all, is no obstacle", async () => {
    for (const session of [undefined, "m1"]) {
      const headers = { "content-type": "application/json", ...(session ? { "mcp-session-id": session } : {}) };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_tasks" } });
      const response = await mcp.answer(new Request("http://mcp.test/mcp", { method: "POST", headers, body }), tester);
      expect(response.status).toBe(200);
      expect(response.headers.get("mcp-session-id")).toBeNull();
      expect(await response.text()).toContain('"tasks":[]');
    }
  });

  test("methods other than POST answer 405", async () => {
    for (const method of ["GET", "DELETE"]) {
      expect((await mcp.answer(new Request("http://mcp.test/mcp", { method }), tester)).status).toBe(405);
    }
  });

  test("a waiting claim whose client went away takes nothing (R21)", async () => {
    const { use } = await connect();
    const gone = new AbortController();
    const waiting = use("claim_task", { wait_seconds: 30 }, gone.signal);
    gone.abort();
    await expect(waiting).rejects.toThrow();
    const id = await newTask("Fix the login");
    expect((await (await connect(MODERN, rival)).use("claim_task", { wait_seconds: 10 })).data.task.id).toBe(id);
  });

  test("what is offered to an agent it hears of, and takes by the call that the notice names (R39)", async () => {
    const task_id = await newTask("Fix the login");
    const ask = async (name: OperationName, input: object, identity: Caller["identity"]) =>
      (await mcp.store.call(operations[name], input as never, { identity })).body as { id: string };
    const [mine, theirs] = await Promise.all([connect(), connect(MODERN, rival)]);
    await mine.use("claim_task", { task_id });
    await theirs.use("session", { action: "open" });
    const { id: to_agent_id } = await ask("get_me", {}, rival);
    const { id: handoff_id } = await ask("handoff_task", { task_id, to_agent_id, note: "yours?" }, tester);
    const { session } = (await theirs.use("session", { action: "open" })).data;
    const told = await theirs.use("list_tasks", { session_id: session.id });
    expect(told.text).toContain(`claim_task with handoff_id ${handoff_id}`);
    const taken = await theirs.use("claim_task", { session_id: session.id, handoff_id });
    expect(taken.data.task).toMatchObject({ id: task_id, fence: 2, handoff_note: "yours?" });
    expect((await theirs.use("complete_task", { task_id, session_id: session.id })).data.task.status).toBe("completed");
    expect((await mine.use("heartbeat_task", { task_id })).data).toMatchObject({ reason: "transferred" });
  });

  test("any call renews what its session holds once that is due (R61)", async () => {
    await newTask("Fix the login");
    const { use } = await connect();
    const session = (await use("session", { action: "open" })).data.session.id;
    const { id, lease_expires_at } = (await use("claim_task", { session_id: session, lease_seconds: 30 })).data.task;
    mcp.restart();
    await use("who_holds", { session_id: session });
    const later = (await readTask(id)).lease_expires_at;
    expect(Date.parse(later ?? "")).toBeGreaterThan(Date.parse(lease_expires_at));
  });
});

test("a fault is told to the operator and not to the agent", async () => {
  const broken = (async () => {
    throw new Error("secret path /home/x");
  }) as Call;
  mcp.restart(broken);
  const { use } = await connect();
  const refused = await use("list_tasks");
  expect(refused.data.code).toBe("internal");
  expect(JSON.stringify(refused)).not.toContain("secret");
  expect(mcp.faults).toHaveLength(1);
});
