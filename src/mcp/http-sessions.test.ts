import { describe, expect, test } from "vitest";
import { McpSurface, MODERN, rival, tester } from "../../test/support/mcp-surface.js";
import { operations } from "../contract/operations.js";

const mcp = McpSurface.forEach();
const { connect, newTask, readTask } = mcp;

describe("notices (R54)", () => {
  test("a lost lease is told in the next answer of any tool, until acknowledged", async () => {
    const id = await newTask("Fix the login");
    const { use } = await connect();
    const session = (await use("session", { action: "open", client: "agent" })).data.session.id;
    const { lease_id } = (await use("claim_task", { session_id: session })).data.task;
    const other = (await use("session", { action: "open" })).data.session.id;
    const taken = await use("claim_task", { task_id: id, takeover: "true", reason: "it hangs", session_id: other });
    expect(taken.data.task.id).toBe(id);
    const refused = await use("complete_task", { task_id: id, lease_id, session_id: session });
    expect(refused.data).toMatchObject({ code: "lease_lost", reason: "revoked" });
    expect(refused.data.notices).toHaveLength(1);
    const told = await use("list_tasks", { session_id: session });
    expect(told.data.notices).toEqual([expect.objectContaining({ type: "lease.lost", task_id: id })]);
    expect(told.text).toContain("lease.lost");
    await use("session", { action: "ack", ids: [told.data.notices[0].id], session_id: session });
    expect((await use("list_tasks", { session_id: session })).data.notices).toBeUndefined();
  });

  test("a request to cancel reaches the holder that names no session", async () => {
    const id = await newTask("Fix the login");
    const { use } = await connect(MODERN, rival);
    const { lease_id } = (await use("claim_task")).data.task;
    await mcp.store.call(operations.cancel_task, { task_id: id, reason: "not needed" }, { identity: tester });
    const kept = await use("heartbeat_task", { task_id: id, lease_id });
    expect(kept.data.task.cancel_requested).toBe(true);
    expect(kept.text).toContain('"not needed"');
    expect((await use("events")).data.notices[0].type).toBe("cancel_requested");
  });
});

describe("sessions (R13)", () => {
  test("a key without a session named has one of its own, which can be shown and ended", async () => {
    const id = await newTask("Fix the login");
    const { use } = await connect();
    expect((await use("session", { action: "show" })).data.code).toBe("not_found");
    await use("claim_task");
    expect((await use("session", { action: "show" })).data.session).toMatchObject({ implicit: true, tasks_held: 1 });
    expect((await use("session", { action: "heartbeat" })).data.items).toEqual([
      expect.objectContaining({ task_id: id, outcome: "renewed" }),
    ]);
    expect((await use("session", { action: "end" })).data.ended.tasks_released).toBe(1);
    expect((await readTask(id)).status).toBe("open");
  });

  test("sessions of one key are strangers to each other", async () => {
    const id = await newTask("Fix the login");
    const { use } = await connect();
    const one = (await use("session", { action: "open" })).data.session.id;
    const two = (await use("session", { action: "open" })).data.session.id;
    await use("claim_task", { session_id: one });
    expect((await use("release_task", { task_id: id, session_id: two })).data.code).toBe("lease_lost");
    expect((await use("release_task", { task_id: id, session_id: one })).data.task.status).toBe("open");
  });

  test("the header X-Dibs-Session names the session of calls that name none", async () => {
    await newTask("Fix the login");
    const session = (await (await connect()).use("session", { action: "open" })).data.session.id;
    const { use } = await connect(MODERN, tester, { "x-dibs-session": session });
    await use("claim_task");
    expect((await use("who_holds")).data.claims[0].session_id).toBe(session);
  });

  test("an ended session is refused with what to do", async () => {
    const { use } = await connect();
    const session = (await use("session", { action: "open" })).data.session.id;
    await use("session", { action: "end", session_id: session });
    const refused = await use("claim_task", { session_id: session });
    expect(refused.data.code).toBe("session_ended");
    expect(refused.data.next[0]).toContain("session");
  });
});
