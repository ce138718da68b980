import { describe, expect, test } from "vitest";
import { FreshStore } from "../support/fresh-store.js";

describe("a session is told what it must know (R54)", () => {
  async function lostOne() {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    const { lease_id } = await fresh.claim(id, ann, { lease_seconds: 30 });
    await fresh.claim(id, fresh.root, { takeover: true, reason: "ann is stuck" });
    return { fresh, ann, id, lease_id };
  }

  test("a lost lease is told in the answers of claims, heartbeats and of the session, until acknowledged by its id", async () => {
    const { fresh, ann, id, lease_id } = await lostOne();
    const { id: other } = await fresh.task();
    const answers = [
      await fresh.answer("claim_next_task", {}, ann),
      await fresh.answer("claim_task", { task_id: other }, ann),
      await fresh.answer("heartbeat_task", { task_id: other }, ann),
      await fresh.answer("heartbeat_session", { session_id: ann.sessionId }, ann),
      await fresh.answer("get_session", { session_id: ann.sessionId }, ann),
    ];
    for (const { body, notices } of answers) {
      expect(notices).toBe(1);
      const data = { reason: "revoked", lease_id, fence: 1 };
      expect(body.notices).toMatchObject([{ type: "lease.lost", task_id: id, data }]);
      expect(body.notices[0]?.message).toContain("ann is stuck");
    }
    // Elsewhere their number is told.
    expect((await fresh.answer("list_tasks", {}, ann)).notices).toBe(1);
    const ids = answers[0]?.body.notices.map((notice) => notice.id) ?? [];
    expect(await fresh.ask("ack_notices", { ids }, ann)).toEqual({ acknowledged: 1 });
    expect(await fresh.ask("ack_notices", { ids }, ann)).toEqual({ acknowledged: 0 });
    const after = await fresh.answer("heartbeat_session", { session_id: ann.sessionId }, ann);
    expect(after).toMatchObject({ notices: 0, body: { notices: [] } });
  });

  test("who takes a task over that is to be cancelled is told, too (R19)", async () => {
    const fresh = await FreshStore.open();
    const [ann, lead] = [await fresh.worker("ann"), await fresh.worker("lead", "coordinator")];
    const { id } = await fresh.task();
    await fresh.claim(id, ann);
    await fresh.ask("cancel_task", { task_id: id, reason: "not needed" }, lead);
    const taken = await fresh.ask("claim_task", { task_id: id, takeover: true, reason: "mine" }, fresh.root);
    const data = { reason: "not needed", lease_id: taken.task.lease_id };
    expect(taken.notices).toMatchObject([{ type: "cancel_requested", task_id: id, data }]);
    expect(taken.notices[0]?.message).toContain("lead asks you to stop");
  });

  test("the session's own answers have them also for a call of its agent that names no session (R9)", async () => {
    const { fresh, ann, id } = await lostOne();
    const bare = { identity: ann.caller.identity };
    const beat = await fresh.ask("heartbeat_session", { session_id: ann.sessionId }, bare);
    expect(beat.notices).toMatchObject([{ type: "lease.lost", task_id: id }]);
    expect(beat.items).toMatchObject([{ task_id: id, outcome: "lost", reason: "revoked" }]);
    expect((await fresh.ask("get_session", { session_id: ann.sessionId }, bare)).notices).toHaveLength(1);
  });

  test("they survive a restart, and are nobody else's to read or acknowledge", async () => {
    const { fresh, ann } = await lostOne();
    const twin = await fresh.session(ann);
    await fresh.restart();
    const { notices } = await fresh.ask("get_session", { session_id: ann.sessionId }, ann);
    expect(notices).toHaveLength(1);
    const ids = notices.map((notice) => notice.id);
    expect(await fresh.ask("ack_notices", { ids }, twin)).toEqual({ acknowledged: 0 });
    expect(await fresh.ask("get_session", { session_id: ann.sessionId }, fresh.root)).toMatchObject({ notices: [] });
    expect((await fresh.answer("list_tasks", {}, ann)).notices).toBe(1);
  });

  test("told by another process, they are known here at once", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const other = await fresh.another();
    const { id } = await fresh.task();
    await fresh.claim(id, ann);
    expect((await fresh.answer("list_tasks", {}, ann)).notices).toBe(0);
    await fresh.ask("force_release_task", { task_id: id, reason: "x" }, fresh.root, other);
    expect((await fresh.answer("list_tasks", {}, ann)).notices).toBe(1);
    await other.close();
  });

  test("a lapse is told to the session that let it lapse, with the time", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    const { lease_id, lease_expires_at } = await fresh.claim(id, ann, { lease_seconds: 30 });
    fresh.time.pass(31_000);
    const { notices } = await fresh.ask("claim_next_task", { labels: ["none"] }, ann);
    expect(notices).toMatchObject([{ type: "lease.lost", task_id: id, data: { reason: "expired", lease_id } }]);
    expect(notices[0]?.message).toContain(lease_expires_at);
  });

  test("a lease about to lapse is told while less than a third is left, and no more once it is renewed", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    const { lease_id } = await fresh.claim(id, ann, { lease_seconds: 60 });
    const told = async () => {
      const { notices } = await fresh.ask("get_session", { session_id: ann.sessionId }, ann);
      return notices.map((notice) => [notice.type, notice.data.lease_id]);
    };
    fresh.time.pass(40_000);
    expect(await told()).toEqual([]);
    fresh.time.pass(1);
    expect(await told()).toEqual([["lease.expiring", lease_id]]);
    await fresh.ask("heartbeat_task", { task_id: id }, ann);
    expect(await told()).toEqual([]);
  });

  test("an agent without a session of its own is told too", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.agent("ann");
    const { id } = await fresh.task();
    await fresh.claim(id, ann);
    await fresh.ask("force_release_task", { task_id: id, reason: "x" }, fresh.root);
    const { notices } = await fresh.ask("claim_next_task", {}, ann);
    expect(notices).toMatchObject([{ type: "lease.lost", task_id: id }]);
  });

  test("of a lease that is about to lapse as its session is, among other calls of that instant as well", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.session(await fresh.agent("ann"), { ttl_seconds: 30 });
    const [one, two] = [await fresh.task(), await fresh.task()];
    const claims = [one, two].map(({ id }) => fresh.ask("claim_task", { task_id: id, lease_seconds: 300 }, ann));
    const told = (await Promise.all(claims)).map(({ notices }) => notices.map(({ task_id }) => task_id));
    expect(told).toEqual([[one.id], [one.id, two.id]]);
  });
});
