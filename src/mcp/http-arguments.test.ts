import { describe, expect, test } from "vitest";
import { McpSurface } from "../../test/support/mcp-surface.js";

const mcp = McpSurface.forEach();
const { connect, newTask } = mcp;

describe("what clients send (C66)", () => {
  test("lists, numbers and booleans as text mean the same as themselves", async () => {
    const { use } = await connect();
    await newTask("a", { labels: ["a", "b"] });
    await newTask("c", { labels: ["c"] });
    expect((await use("claim_task", { labels: '["a","b"]', lease_seconds: "60" })).data.task.content).toBe("a");
    const second = await use("claim_task", { labels: "c", lease_seconds: null, wait_seconds: "0" });
    expect(second.data.task.lease_remaining_ms).toBe(300_000);
    expect((await use("list_tasks", { claimed: "true", limit: "1" })).data.tasks).toHaveLength(1);
  });

  test.each([
    ["claim_task", { labels: '["a"' }, "labels", '["a","b"]'],
    ["claim_task", { labels: 5 }, "labels", '["a","b"]'],
    ["claim_task", { label: "a" }, "label", "allowed are project_id, labels"],
    ["claim_task", { lease_seconds: "3601" }, "lease_seconds", "30..3600"],
    ["claim_task", { lease_seconds: "1e12" }, "lease_seconds", "whole number"],
    ["claim_task", { task_id: "0".repeat(32), wait_seconds: 5 }, "wait_seconds", "without task_id"],
    ["claim_task", { session_id: "mine" }, "session_id", "32 hexadecimal"],
    ["create_tasks", { tasks: [{ content: "\u0001" }] }, "tasks.0.content", "visible"],
    ["create_tasks", { tasks: [{ content: "a\u0000b" }] }, "tasks.0.content", ""],
    ["create_tasks", { tasks: [{ content: "a\ud800b" }] }, "tasks.0.content", ""],
    ["complete_task", { task_id: "0".repeat(32), failure_reason: "" }, "failure_reason", "empty"],
    ["complete_task", { task_id: "0".repeat(32), retry: true }, "retry", "with failure_reason"],
    ["session", { action: "leave" }, "action", "open, heartbeat"],
    ["session", {}, "action", "open, heartbeat"],
    ["heartbeat_task", {}, "task_id", ""],
  ])("%s %j is refused naming %s", async (tool, args, field, says) => {
    const { use } = await connect();
    const refused = await use(tool, args);
    expect(refused.isError).toBe(true);
    expect(refused.data.code).toBe("invalid_input");
    expect(refused.data.fields[0].field).toBe(field);
    expect(refused.data.message).toContain(says);
    expect(refused.text).toContain(field);
  });

  test("an unknown task, and an unknown tool, are refused and not guessed", async () => {
    const { use } = await connect();
    expect((await use("heartbeat_task", { task_id: "0".repeat(32) })).data.code).toBe("not_found");
    await expect(use("claim_tasks")).rejects.toThrow(/claim_tasks/);
  });
});
