import { expect, test } from "vitest";
import { isHeartbeatCall } from "./heartbeats.js";

const call = (name: unknown, given?: unknown) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, arguments: given },
});

test.each([
  ["a task's", call("heartbeat_task", { task_id: "0".repeat(32) })],
  ["a session's", call("session", { action: "heartbeat" })],
  ["one that will be refused", call("heartbeat_task")],
])("a heartbeat is known by the operation it means: %s", (_what, message) => {
  expect(isHeartbeatCall(message)).toBe(true);
});

test.each([
  ["another action of the session", call("session", { action: "show" })],
  ["no action", call("session")],
  ["another tool", call("claim_task", { action: "heartbeat" })],
  ["no tool of ours", call("toString", {})],
  ["a tool that is no name", call(["heartbeat_task"])],
  ["another method", { ...call("heartbeat_task"), method: "tools/list" }],
  ["a list, which may hold anything beside", [call("heartbeat_task")]],
  ["arguments in a list", call("session", [{ action: "heartbeat" }])],
  ["what is no message", "heartbeat_task"],
  ["nothing", undefined],
  ["null", null],
])("nothing else is one: %s", (_what, message) => {
  expect(isHeartbeatCall(message)).toBe(false);
});
