import { describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/**
 * Field reports of kind "expiry" where they speak of several things at once: C11, C16, C18, C22. What they say of one thing
 * stands with its rule, and C13 all of it in lease-boundary.test.ts; C20 is about landing, C21 about holds.
 */

const claimScopes = (fresh: FreshStore, as: Actor, scopes: string[], more: object = {}) =>
  fresh.ask("claim_scopes", { scopes, intent: "mend it", ...more }, as);

test("C11: a late result frees nothing that waited, twice: its dependents are ready once, by who delivered", async () => {
  const fresh = await FreshStore.open();
  const [ann, ben, cat] = [await fresh.worker("ann"), await fresh.worker("ben"), await fresh.worker("cat")];
  const { id } = await fresh.task({ content: "T1" });
  const { id: after } = await fresh.task({ content: "then", depends_on: [id] });
  const lost = await fresh.claim(id, ann, { lease_seconds: 30 });
  fresh.time.pass(31_000);
  await fresh.claim(id, ben);
  fresh.time.pass(9_000);
  await fresh.ask("complete_task", { task_id: id, result: "R2" }, ben);
  expect((await fresh.next(cat))?.id).toBe(after);
  const now = async () => [await fresh.read(id), { ...(await fresh.read(after)), lease_remaining_ms: "counts down" }];
  const before = await now();
  fresh.time.pass(10_000);
  const late = { task_id: id, lease_id: lost.lease_id ?? "" };
  for (const call of ["complete_task", "heartbeat_task", "release_task"] as const) {
    const refused = await fresh.refusal(call, call === "complete_task" ? { ...late, result: "R1" } : late, ann);
    expect(refused, call).toMatchObject({ code: "lease_lost" });
  }
  expect(await fresh.refusal("claim_task", { task_id: id }, ann)).toMatchObject({
    code: "task_closed",
    status: "completed",
    by: ben.id,
    at: (await fresh.read(id)).completed_at,
  });
  expect(await now()).toEqual(before);
  expect((await fresh.history(after)).filter((type) => type === "task.ready")).toHaveLength(1);
});

test("C16: what waits for a task that killed all its workers reads stalled at that instant, and is ready after a retry", async () => {
  const fresh = await FreshStore.open();
  const { id } = await fresh.task({ content: "poison", max_attempts: 3 });
  const { id: after } = await fresh.task({ content: "then", depends_on: [id] });
  for (const attempt of [1, 2, 3]) {
    expect(await fresh.next(await fresh.worker(`w${attempt}`), { lease_seconds: 30 })).toMatchObject({
      id,
      attempts: attempt,
    });
    expect(await fresh.read(after)).toMatchObject({ stalled: false });
    fresh.time.pass(30_000);
  }
  expect(await fresh.read(id)).toMatchObject({ status: "failed", failure_reason: "attempts_exhausted" });
  expect(await fresh.read(after)).toMatchObject({ status: "open", ready: false, stalled: true, blocked_by: [id] });
  const fourth = await fresh.worker("w4");
  expect(await fresh.next(fourth)).toBeNull();
  await fresh.ask("retry_task", { task_id: id, reason: "mended" }, fresh.root);
  expect(await fresh.read(after)).toMatchObject({ stalled: false });
  expect(await fresh.next(fourth)).toMatchObject({ id, attempts: 1 });
});

describe("C18: an agent that ends", () => {
  test("by call frees tasks and names at one instant, under one number of each, and again does nothing", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    for (const content of ["T1", "T2", "T3"]) await fresh.task({ content });
    await fresh.ask("claim_next_task", { count: 3, lease_seconds: 900 }, ann);
    await claimScopes(fresh, ann, ["path:src/x"]);
    const end = () => fresh.ask("end_session", { session_id: ann.sessionId }, ann);
    expect(await end()).toMatchObject({ tasks_released: 3, claims_released: 1 });
    const events = await fresh.ask("list_events", { types: ["task.released", "scope.released", "session.ended"] }, ben);
    expect(events.map(({ type }) => type).sort()).toEqual([
      "scope.released",
      "session.ended",
      "task.released",
      "task.released",
      "task.released",
    ]);
    expect(new Set(events.map(({ at }) => at)).size).toBe(1);
    await claimScopes(fresh, ben, ["path:src/x"]);
    const before = await fresh.ask("list_events", {}, ben);
    expect(await end()).toMatchObject({ tasks_released: 0, claims_released: 0 });
    expect(await fresh.ask("list_events", {}, ben)).toEqual(before);
  });

  test.each([false, true])("by silence frees both at that very instant, noticed by somebody: %s", async (noticed) => {
    const fresh = await FreshStore.open();
    const ann = await fresh.session(await fresh.agent("ann"), { ttl_seconds: 120 });
    const ben = await fresh.worker("ben");
    const { id } = await fresh.task();
    await fresh.claim(id, ann, { lease_seconds: 900 });
    await claimScopes(fresh, ann, ["path:src/x"], { ttl_seconds: 900 });
    fresh.time.pass(119_999);
    if (noticed) await fresh.sweep();
    expect(await fresh.refusal("claim_scopes", { scopes: ["path:src"], intent: "x" }, ben)).toMatchObject({
      code: "scope_conflict",
      conflicts: [{ holder: { session_id: ann.sessionId, remaining_ms: 1 } }],
    });
    fresh.time.pass(1);
    if (noticed) await fresh.sweep();
    expect(await fresh.ask("list_sessions", { agent_id: ann.id }, ben)).toEqual([]);
    expect(await fresh.claim(id, ben)).toMatchObject({ claimed_by_agent_id: ben.id });
    await claimScopes(fresh, ben, ["path:src"]);
    const past = await fresh.ask("list_sessions", { state: "expired", agent_id: ann.id }, ben);
    expect(past).toMatchObject([{ id: ann.sessionId, state: "expired" }]);
  });
});

test("C22: a session's heartbeat keeps its tasks and its names for 250 s; what is given back meanwhile is free at once", async () => {
  const fresh = await FreshStore.open();
  const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
  for (const content of ["T1", "T2", "T3", "T4", "T5"]) await fresh.task({ content });
  const { tasks = [] } = await fresh.ask("claim_next_task", { count: 5, lease_seconds: 60 }, ann);
  await claimScopes(fresh, ann, ["path:src", "path:docs"], { ttl_seconds: 60 });
  const ids = tasks.map(({ id }) => id);
  const beat = () => fresh.ask("heartbeat_session", { session_id: ann.sessionId }, ann);
  let held: (string | null)[] = [...ids, "path:src", "path:docs"];
  for (let at = 20; at <= 250; at += 20) {
    fresh.time.pass(20_000);
    const { items } = await beat();
    expect(items.map((item) => [item.task_id ?? item.scope, item.outcome, item.lease_remaining_ms])).toEqual(
      held.map((what) => [what, "renewed", 60_000]),
    );
    if (at !== 100) continue;
    await fresh.ask("complete_task", { task_id: ids[0] ?? "" }, ann);
    await fresh.ask("release_task", { task_id: ids[4] ?? "" }, ann);
    expect(await fresh.next(ben)).toMatchObject({ id: ids[4] });
    held = held.filter((what) => what !== ids[0] && what !== ids[4]);
  }
  expect(await fresh.ask("list_events", { types: ["lease.expired"] }, ann)).toEqual([]);
  // Without it all of them are free at exactly the same instant.
  await fresh.ask("heartbeat_task", { task_id: ids[4] ?? "" }, ben);
  fresh.time.pass(59_999);
  expect(await fresh.next(ben)).toBeNull();
  fresh.time.pass(1);
  const rest = await fresh.ask("claim_next_task", { count: 9 }, ben);
  expect(rest.tasks?.map(({ id }) => id)).toEqual(ids.slice(1, 4));
  await claimScopes(fresh, ben, ["path:**"]);
});
