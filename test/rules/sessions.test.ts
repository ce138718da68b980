import { describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** Field reports here: C18, C22, C23 (1, 3 to 5). */

/** A session that holds so many tasks, each for `seconds`. */
async function holding(fresh: FreshStore, who: Actor, count: number, seconds = 300): Promise<string[]> {
  for (let n = 0; n < count; n += 1) await fresh.task({ content: `T${n + 1}` });
  const { tasks = [] } = await fresh.ask("claim_next_task", { count, lease_seconds: seconds }, who);
  return tasks.map((task) => task.id);
}

describe("the end of a session", () => {
  test("C18: by call it frees all it held in one transaction, at once, and says how many (R10)", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const ids = await holding(fresh, ann, 50);
    const ended = await fresh.ask("end_session", { session_id: ann.sessionId }, ann);
    expect(ended).toEqual({
      session_id: ann.sessionId,
      children_ended: 0,
      tasks_released: 50,
      claims_released: 0,
    });
    const open = await fresh.ask("list_tasks", { status: "open" }, ben);
    expect(open.map((task) => task.id)).toEqual(ids);
    // Nothing of it counts, and nothing lapsed (R20).
    expect(open.every((task) => task.ready && !task.lapsed && task.attempts === 0)).toBe(true);
    const { tasks = [] } = await fresh.ask("claim_next_task", { count: 50 }, ben);
    expect(tasks).toHaveLength(50);
    expect(await fresh.ask("list_events", { types: ["lease.expired"] }, ben)).toEqual([]);
  });

  test("C18: the same call again changes nothing", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const [id = ""] = await holding(fresh, ann, 1);
    await fresh.ask("end_session", { session_id: ann.sessionId }, ann);
    const before = [await fresh.read(id), await fresh.ask("list_events", {}, ann)];
    const again = await fresh.ask("end_session", { session_id: ann.sessionId }, ann);
    expect(again.tasks_released).toBe(0);
    expect([await fresh.read(id), await fresh.ask("list_events", {}, ann)]).toEqual(before);
  });

  test("C18: by silence everything it held is free at that instant, whoever looks, and it is listed no more (R9)", async () => {
    for (const noticed of [false, true]) {
      const fresh = await FreshStore.open();
      const ann = await fresh.session(await fresh.agent("ann"), { ttl_seconds: 120 });
      const ben = await fresh.worker("ben");
      const ids = await holding(fresh, ann, 3, 900);
      fresh.time.pass(119_999);
      if (noticed) await fresh.sweep();
      expect((await fresh.ask("list_claims", {}, ben)).map((claim) => claim.remaining_ms)).toEqual([1, 1, 1]);
      fresh.time.pass(1);
      if (noticed) await fresh.sweep();
      expect(await fresh.ask("list_claims", {}, ben)).toEqual([]);
      const open = await fresh.ask("list_sessions", { agent_id: ann.id }, ben);
      expect(open).toEqual([]);
      const [expired] = await fresh.ask("list_sessions", { state: "expired" }, ben);
      expect(expired).toMatchObject({ id: ann.sessionId, state: "expired", ended_at: fresh.time.iso(), tasks_held: 0 });
      const { tasks = [] } = await fresh.ask("claim_next_task", { count: 10 }, ben);
      expect(tasks.map((task) => task.id)).toEqual(ids);
      // Silence counts as an attempt (R20).
      expect(tasks.map((task) => task.attempts)).toEqual([2, 2, 2]);
    }
  });

  test("a dead session can do nothing but end, with the same bytes whether or not anybody noticed (R10)", async () => {
    const bodies = [];
    for (const noticed of [false, true]) {
      const fresh = await FreshStore.open();
      const ann = await fresh.session(await fresh.agent("ann"), { ttl_seconds: 30 });
      const [id = ""] = await holding(fresh, ann, 1);
      // The session is known to the engine from its last call.
      await fresh.ask("heartbeat_task", { task_id: id }, ann);
      fresh.time.pass(30_000);
      if (noticed) await fresh.sweep();
      const refusals = [
        await fresh.refusal("claim_next_task", {}, ann),
        await fresh.refusal("claim_task", { task_id: id }, ann),
        await fresh.refusal("heartbeat_task", { task_id: id }, ann),
        await fresh.refusal("complete_task", { task_id: id }, ann),
        await fresh.refusal("create_task", { content: "x" }, ann),
        await fresh.refusal("heartbeat_session", { session_id: ann.sessionId }, { identity: ann.caller.identity }),
      ];
      for (const refused of refusals) expect(refused.code).toBe("session_ended");
      expect(refusals[0]?.next?.join()).toContain("open_session");
      bodies.push(JSON.stringify(refusals.map((refused) => refused.problem)).replaceAll(ann.sessionId, "ID"));
      // It still may read, and what ended is ended once.
      expect(await fresh.read(id, ann)).toMatchObject({ status: "open" });
      expect((await fresh.ask("end_session", { session_id: ann.sessionId }, ann)).tasks_released).toBe(0);
    }
    expect(bodies[1]).toBe(bodies[0]);
  });

  test("other agents can't end or beat it, and it is not found to them", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    for (const name of ["end_session", "heartbeat_session"] as const) {
      expect(await fresh.refusal(name, { session_id: ann.sessionId }, ben)).toMatchObject({ code: "not_found" });
    }
    const asAnn = { ...ben.caller, sessionId: ann.sessionId };
    expect(await fresh.refusal("claim_next_task", {}, asAnn)).toMatchObject({ code: "not_found" });
  });
});

describe("signs of life (R9)", () => {
  test("any call that names it is one, reads too; sparse callers get their exact end", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.session(await fresh.agent("ann"), { ttl_seconds: 80 });
    const { id } = await fresh.task();
    const endsIn = async () => (await fresh.ask("get_session", { session_id: ann.sessionId }, fresh.root)).remaining_ms;
    const signs = [
      () => fresh.read(id, ann),
      () => fresh.claim(id, ann),
      () => fresh.refusal("claim_task", { task_id: "0".repeat(32) }, ann),
      () => fresh.ask("list_tasks", {}, ann),
      () => fresh.ask("heartbeat_task", { task_id: id }, ann),
    ];
    for (const sign of signs) {
      fresh.time.pass(79_999);
      await sign();
      expect(await endsIn()).toBe(80_000);
    }
    fresh.time.pass(80_000);
    expect(await fresh.refusal("get_task", { task_id: "0".repeat(32) }, ann)).toMatchObject({ code: "not_found" });
    expect(await fresh.refusal("heartbeat_task", { task_id: id }, ann)).toMatchObject({ code: "session_ended" });
  });

  test("chatty callers are rounded in their favour, by an eighth at most, so that most calls write nothing", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.session(await fresh.agent("ann"), { ttl_seconds: 80 });
    const ends = new Set<number>();
    for (let second = 0; second < 60; second += 1) {
      fresh.time.pass(1_000);
      await fresh.ask("get_me", {}, ann);
      const { remaining_ms } = await fresh.ask("get_session", { session_id: ann.sessionId }, fresh.root);
      expect(remaining_ms).toBeGreaterThanOrEqual(80_000);
      expect(remaining_ms).toBeLessThanOrEqual(90_000);
      ends.add(fresh.time.wallMs() + (remaining_ms ?? 0));
    }
    // 60 calls, one write for each eighth of the length.
    expect(ends.size).toBeLessThanOrEqual(7);
  });

  test("a call that names no session is no sign of life of any", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.session(await fresh.agent("ann"), { ttl_seconds: 30 });
    fresh.time.pass(29_000);
    await fresh.ask("get_me", {}, { identity: ann.caller.identity });
    const { remaining_ms } = await fresh.ask("get_session", { session_id: ann.sessionId }, fresh.root);
    expect(remaining_ms).toBe(1_000);
  });
});

describe("one session, many tasks", () => {
  test("C22: its heartbeat renews all it holds, so that nothing lapses in 250 s", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const ids = await holding(fresh, ann, 5, 60);
    for (let at = 0; at < 250; at += 20) {
      fresh.time.pass(20_000);
      const { items } = await fresh.ask("heartbeat_session", { session_id: ann.sessionId }, ann);
      expect(items.map((item) => [item.task_id, item.outcome, item.lease_remaining_ms])).toEqual(
        ids.map((id) => [id, "renewed", 60_000]),
      );
    }
    expect(await fresh.ask("list_events", { types: ["lease.expired"] }, ann)).toEqual([]);
    const [first = "", , , , last = ""] = ids;
    await fresh.ask("complete_task", { task_id: first }, ann);
    expect(await fresh.ask("release_task", { task_id: last }, ann)).toMatchObject({ status: "open", ready: true });
  });

  test("C22: heartbeats for one renew one; the others are claimable exactly at their end", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const [first = "", ...others] = await holding(fresh, ann, 5, 60);
    for (const ms of [20_000, 20_000, 19_999]) {
      fresh.time.pass(ms);
      await fresh.ask("heartbeat_task", { task_id: first }, ann);
    }
    expect(await fresh.next(ben)).toBeNull();
    fresh.time.pass(1);
    const { tasks = [] } = await fresh.ask("claim_next_task", { count: 5 }, ben);
    expect(tasks.map((task) => task.id)).toEqual(others);
    for (const id of others) {
      const refused = await fresh.refusal("heartbeat_task", { task_id: id }, ann);
      expect(refused).toMatchObject({ code: "lease_lost", reason: "expired", holder: { agent_id: ben.id } });
    }
    await fresh.ask("complete_task", { task_id: first }, ann);
  });

  test("C22: of five, one taken over by an admin is reported lost with its reason, and never renewed", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const ids = await holding(fresh, ann, 5, 60);
    const third = ids[2] ?? "";
    const { lease_id } = await fresh.read(third);
    await fresh.claim(third, fresh.root, { takeover: true, reason: "urgent" });
    fresh.time.pass(20_000);
    const { items } = await fresh.ask("heartbeat_session", { session_id: ann.sessionId }, ann);
    const of = (outcome: string) => items.filter((item) => item.outcome === outcome);
    expect(of("renewed").map((item) => item.task_id)).toEqual(ids.filter((id) => id !== third));
    expect(of("lost")).toEqual([
      {
        task_id: third,
        lease_id,
        scope: null,
        outcome: "lost",
        reason: "revoked",
        lease_expires_at: null,
        lease_remaining_ms: null,
      },
    ]);
    expect(await fresh.read(third)).toMatchObject({ claimed_by_agent_id: fresh.root.id, lease_remaining_ms: 280_000 });
  });
});

describe("copies of one agent", () => {
  test("C23: three sessions race for one task; one gets it, two learn which session holds it", async () => {
    const fresh = await FreshStore.open();
    const writer = await fresh.agent("writer");
    const sessions = [await fresh.session(writer), await fresh.session(writer), await fresh.session(writer)];
    const { id } = await fresh.task({ assigned_to_agent_id: writer.id });
    const results = await Promise.allSettled(sessions.map((each) => fresh.claim(id, each)));
    expect(results.map((each) => each.status)).toEqual(["fulfilled", "rejected", "rejected"]);
    for (const each of results.slice(1)) {
      const { reason } = each as PromiseRejectedResult;
      expect(reason.code).toBe("task_claimed");
      expect(reason.details.holder).toMatchObject({ agent_name: "writer", session_id: sessions[0]?.sessionId });
    }
  });

  test("C23: another session of the agent takes over with a reason; strangers may not", async () => {
    const fresh = await FreshStore.open();
    const first = await fresh.worker("writer");
    const second = await fresh.session(first);
    const other = await fresh.worker("other");
    const cleo = await fresh.worker("cleo", "coordinator");
    const { id } = await fresh.task();
    const { lease_id } = await fresh.claim(id, first);
    for (const stranger of [other, cleo]) {
      const refused = await fresh.refusal("claim_task", { task_id: id, takeover: true, reason: "mine" }, stranger);
      expect(refused.code).toBe("forbidden");
    }
    const unreasoned = await fresh.refusal("claim_task", { task_id: id, takeover: true }, second);
    expect(unreasoned).toMatchObject({ code: "reason_required", fields: [{ field: "reason" }] });
    const taken = await fresh.claim(id, second, { takeover: true, reason: "s1 hung" });
    expect(taken).toMatchObject({ fence: 2, claimed_by_session_id: second.sessionId, attempts: 2 });
    const lost = await fresh.refusal("heartbeat_task", { task_id: id, lease_id: lease_id ?? "" }, first);
    expect(lost).toMatchObject({ code: "lease_lost", reason: "revoked", holder: { session_id: second.sessionId } });
    const released = (await fresh.ask("get_task_history", { task_id: id }, second)).find(
      (e) => e.type === "task.released",
    );
    expect(released).toMatchObject({
      actor: { session_id: second.sessionId },
      data: { session_id: first.sessionId, reason: "s1 hung", takeover: true },
    });
  });

  test("an agent that names no session has one implicit session, which never dies of silence (R13)", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.agent("ann");
    const { id } = await fresh.task();
    const held = await fresh.claim(id, ann, { lease_seconds: 3600 });
    const session_id = held.claimed_by_session_id ?? "";
    const [row] = await fresh.ask("list_claims", {}, ann);
    expect(row).toMatchObject({ implicit: true, session_id });
    fresh.time.pass(3_599_999);
    expect((await fresh.ask("heartbeat_task", { task_id: id }, ann)).claimed_by_session_id).toBe(session_id);
    fresh.time.pass(10 * 86_400_000);
    expect((await fresh.claim(id, ann)).claimed_by_session_id).toBe(session_id);
    expect(await fresh.ask("end_session", { session_id }, ann)).toMatchObject({ tasks_released: 1 });
    const anew = await fresh.claim(id, ann);
    expect(anew.claimed_by_session_id).not.toBe(session_id);
    const sessions = await fresh.ask("list_sessions", { agent_id: ann.id }, ann);
    expect(sessions).toMatchObject([
      { id: anew.claimed_by_session_id, implicit: true, ttl_seconds: null, expires_at: null },
    ]);
  });
});
