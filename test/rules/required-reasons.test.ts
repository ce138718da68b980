import { type OperationName, operationList } from "dibs/contract";
import { expect, test } from "vitest";
import { FreshStore, type Input } from "../support/fresh-store.js";

/** What is done to what others hold needs a reason, and is refused in one way without (R46). */

type Scene = Awaited<ReturnType<typeof scene>>;
type Without = { [N in OperationName]?: (at: Scene) => Input<N> };

/** For each operation that asks for a reason, a call that would do it but for the reason. */
const WITHOUT_REASON: Without = {
  place_hold: () => ({ scope: "path:src", ttl_seconds: 60 }),
  request_yield: (at) => ({ claim_id: at.claimId }),
  answer_yield: (at) => ({ yield_id: at.yieldId, answer: "hold" }),
  grant_wait: (at) => ({ ticket: at.ticket }),
  claim_task: (at) => ({ task_id: at.taskId, takeover: true }),
  fail_task: (at) => ({ task_id: at.taskId }),
  force_release_task: (at) => ({ task_id: at.taskId }),
  retry_task: (at) => ({ task_id: at.taskId }),
  prune_unlanded: () => ({ branches: [], force: true }),
};
const asking = operationList.filter(({ errors }) => (errors as readonly string[]).includes("reason_required"));

/** Ann holds a task and a scope that ben waits for and has asked her to yield. */
async function scene() {
  const fresh = await FreshStore.open();
  const [ann, ben] = [await fresh.worker("ann", "admin"), await fresh.worker("ben", "admin")];
  const task = await fresh.task();
  await fresh.claim(task.id, ann);
  const blocker = await fresh.task();
  await fresh.task({ depends_on: [blocker.id] });
  const { claims } = await fresh.ask("claim_scopes", { scopes: ["path:src"], intent: "a" }, ann);
  const claimId = claims?.[0]?.id ?? "";
  const queued = await fresh.ask("claim_scopes", { scopes: ["path:src"], intent: "b", wait: true }, ben);
  const asked = await fresh.ask("request_yield", { claim_id: claimId, reason: "mine is urgent" }, ben);
  const ticket = "ticket" in queued ? (queued.ticket ?? "") : "";
  return { fresh, ann, ben, taskId: task.id, blockerId: blocker.id, claimId, ticket, yieldId: asked.id };
}

test("every operation that asks for a reason is known here", () => {
  expect(asking.map(({ name }) => name).sort()).toEqual(Object.keys(WITHOUT_REASON).sort());
});

test.each(Object.keys(WITHOUT_REASON) as OperationName[])(
  "%s without a reason is refused with reason_required, which names the field, and changes nothing",
  async (name) => {
    const at = await scene();
    const before = await at.fresh.ask("list_events", { limit: 1000 }, at.fresh.root);
    const as = name === "fail_task" || name === "answer_yield" ? at.ann : at.ben;
    const input = (WITHOUT_REASON[name] as (at: Scene) => Input<typeof name>)(at);
    const refused = await at.fresh.refusal(name, input, as);
    const fields = [{ field: "reason", message: expect.stringContaining("required") }];
    expect(refused).toMatchObject({ code: "reason_required", fields });
    expect(refused.problem).toMatchObject({ status: 400 });
    expect(await at.fresh.ask("list_events", { limit: 1000 }, at.fresh.root)).toEqual(before);
  },
);

test("an agent deleted by force: its events, those of what it held and its sessions' notices say why (R46, R50, R54)", async () => {
  const { fresh, ann, ben } = await scene();
  await fresh.ask("delete_agent", { agent_id: ann.id, force: true, reason: "its machine is gone" }, fresh.root);
  const types = ["agent.deleted", "task.released", "scope.released"];
  const events = await fresh.ask("list_events", { types, limit: 1000 }, ben);
  expect(events.map(({ type, data }) => [type, data.reason])).toEqual([
    ["scope.released", "admin deleted the agent ann: its machine is gone"],
    ["task.released", "admin deleted the agent ann: its machine is gone"],
    ["agent.deleted", "its machine is gone"],
  ]);
});

test("a key revoked with all that its agent holds: the same (R46, R48)", async () => {
  const { fresh, ann, ben } = await scene();
  await fresh.ask("revoke_agent_key", { agent_id: ann.id, release: true, reason: "it leaked" }, fresh.root);
  const types = ["agent.key_rotated", "task.released", "scope.released"];
  const events = await fresh.ask("list_events", { types, limit: 1000 }, ben);
  expect(events.map(({ type, data }) => [type, data.reason])).toEqual([
    ["scope.released", "admin revoked the key of ann: it leaked"],
    ["task.released", "admin revoked the key of ann: it leaked"],
    ["agent.key_rotated", "it leaked"],
  ]);
  const notices = await fresh.kept.rows<{ message: string }>("SELECT message FROM notices WHERE type = 'lease.lost'");
  expect(notices.map(({ message }) => message)).toEqual(Array(2).fill(expect.stringContaining("it leaked")));
});

test("a task deleted by force: the event says why (R46)", async () => {
  const { fresh, blockerId, ben } = await scene();
  await fresh.ask("delete_task", { task_id: blockerId, force: true, reason: "the plan was changed" }, ben);
  const events = await fresh.ask("list_events", { types: ["task.updated"], limit: 1000 }, ben);
  expect(events.map(({ data }) => data)).toContainEqual(
    expect.objectContaining({ deleted: true, reason: "the plan was changed" }),
  );
});
