import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
let cat: Actor;
let id: string;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
  cat = await fresh.worker("cat");
  ({ id } = await fresh.task({ content: "login" }));
});

type Offer = Partial<Input<"handoff_task">>;
const offer = (to: Actor, more: Offer = {}, as = ann) =>
  fresh.ask("handoff_task", { task_id: id, to_agent_id: to.id, ...more }, as);
const accept = (handoff: { id: string }, as: Actor, more: object = {}) =>
  fresh.ask("accept_handoff", { handoff_id: handoff.id, ...more }, as);
const refused = (handoff: { id: string }, as: Actor) => fresh.refusal("accept_handoff", { handoff_id: handoff.id }, as);
const noticesOf = async (as: Actor) =>
  (await fresh.ask("get_session", { session_id: as.sessionId }, as)).notices.map(({ type }) => type);

describe("a task that is handed over (R39)", () => {
  test("isn't, while its project is frozen: that would be a new grant (R41)", async () => {
    await fresh.claim(id, ann);
    const offered = await offer(ben);
    await fresh.ask("place_hold", { project: true, reason: "release", ttl_seconds: 60 }, fresh.root);
    expect((await refused(offered, ben)).code).toBe("frozen");
    fresh.time.pass(60_000);
    expect(await accept(offered, ben)).toMatchObject({ state: "accepted" });
  });

  test("stays its holder's until it is accepted, and is then the receiver's under a new lease, higher fence (R4)", async () => {
    const held = await fresh.claim(id, ann, { lease_seconds: 60 });
    fresh.time.pass(10_000);
    const offered = await offer(ben, { note: "tests are written" });
    expect(offered).toMatchObject({
      state: "offered",
      scope: `task:${id}`,
      intent: "login",
      from_agent_name: "ann",
      to_agent_name: "ben",
      to_session_id: null,
      // The lease ends before the offer would.
      remaining_ms: 50_000,
      lease_id: null,
    });
    expect(await fresh.read(id)).toMatchObject({ lease_id: held.lease_id, handoff_note: null });
    await fresh.ask("heartbeat_task", { task_id: id, lease_id: held.lease_id as string, detail: "going on" }, ann);
    const accepted = await accept(offered, ben);
    const { task } = accepted;
    expect(task).toMatchObject({
      status: "claimed",
      claimed_by_agent_id: ben.id,
      claimed_by_session_id: ben.sessionId,
      fence: held.fence + 1,
      lease_remaining_ms: 60_000,
      handoff_note: "tests are written",
      state: "working",
      state_detail: null,
      attempts: 1,
    });
    expect(task?.lease_id).not.toBe(held.lease_id);
    expect(accepted).toMatchObject({ state: "accepted", lease_id: task?.lease_id, fence: task?.fence, claim: null });
    await fresh.ask("complete_task", { task_id: id, lease_id: task?.lease_id as string }, ben);
    expect(await fresh.history(id)).toEqual([
      "task.created",
      "task.claimed",
      "task.handoff_offered",
      "task.state_changed",
      "task.handed_off",
      "task.completed",
    ]);
  });

  test("is lost to who had it: `transferred`, and who holds it now (R3)", async () => {
    const held = await fresh.claim(id, ann);
    await accept(await offer(ben), ben);
    for (const proof of [{}, { lease_id: held.lease_id as string }])
      expect(await fresh.refusal("complete_task", { task_id: id, ...proof }, ann)).toMatchObject({
        code: "lease_lost",
        reason: "transferred",
        holder: { agent_name: "ben" },
      });
    const { items, notices } = await fresh.ask("heartbeat_session", { session_id: ann.sessionId }, ann);
    expect(items).toMatchObject([{ task_id: id, outcome: "lost", reason: "transferred" }]);
    expect(notices).toMatchObject([{ type: "lease.lost", data: { reason: "transferred" } }]);
  });

  test("tells the receiver of the offer until it has ended, and the giver that it was declined", async () => {
    await fresh.claim(id, ann);
    const offered = await offer(ben, { note: "yours?" });
    expect(await noticesOf(ben)).toEqual(["handoff.offered"]);
    const later = await fresh.session(ben);
    expect(await noticesOf(later)).toEqual(["handoff.offered"]);
    // So is a call that names no session, which opens the one that its agent has then (R13).
    const bare = { ...ben, caller: { identity: ben.caller.identity } };
    const claimed = await fresh.ask("claim_task", { task_id: (await fresh.task()).id }, bare);
    expect(claimed.notices).toMatchObject([{ type: "handoff.offered" }]);
    const [told] = (await fresh.ask("get_session", { session_id: ben.sessionId }, ben)).notices;
    expect(told?.message).toContain(`accept_handoff with handoff_id ${offered.id}`);
    expect(told?.message).toContain("yours?");
    await fresh.ask("decline_handoff", { handoff_id: offered.id, reason: "no time" }, ben);
    expect([await noticesOf(ben), await noticesOf(later)]).toEqual([[], []]);
    const { notices } = await fresh.ask("get_session", { session_id: ann.sessionId }, ann);
    expect(notices).toMatchObject([{ type: "handoff.declined", task_id: id, data: { reason: "no time" } }]);
    expect(await fresh.read(id)).toMatchObject({ claimed_by_agent_id: ann.id, status: "claimed" });
    expect(await refused(offered, ben)).toMatchObject({ code: "handoff_taken", state: "declined" });
  });

  test("is accepted once: another session of the agent is told who was first; the first may ask again", async () => {
    await fresh.claim(id, ann);
    const other = await fresh.session(ben);
    const offered = await offer(ben);
    const first = await accept(offered, other);
    expect(await refused(offered, ben)).toMatchObject({
      code: "handoff_taken",
      state: "accepted",
      holder: { session_id: other.sessionId, lease_id: first.lease_id },
    });
    fresh.time.pass(1_000);
    expect(await accept(offered, other)).toMatchObject({
      lease_id: first.lease_id,
      task: { lease_remaining_ms: 299_000 },
    });
    await fresh.ask("release_task", { task_id: id }, other);
    expect(await refused(offered, other)).toMatchObject({ code: "lease_lost", reason: "released" });
  });

  test("is for whom it is offered to, and nobody else; its giver may take it back", async () => {
    await fresh.claim(id, ann);
    const other = await fresh.session(ben);
    const offered = await fresh.ask("handoff_task", { task_id: id, to_session_id: ben.sessionId }, ann);
    for (const as of [other, cat, ann, fresh.root])
      expect((await refused(offered, as)).code, as.name).toBe("forbidden");
    expect((await fresh.refusal("decline_handoff", { handoff_id: offered.id }, cat)).code).toBe("forbidden");
    expect(await fresh.ask("decline_handoff", { handoff_id: offered.id }, ann)).toMatchObject({ state: "withdrawn" });
    expect(await refused(offered, ben)).toMatchObject({ code: "handoff_taken", state: "withdrawn" });
  });

  test("is replaced by a second offer of the same lease", async () => {
    await fresh.claim(id, ann);
    const first = await offer(ben);
    const second = await offer(cat);
    expect(await refused(first, ben)).toMatchObject({ code: "handoff_taken", state: "replaced" });
    expect(await noticesOf(ben)).toEqual([]);
    expect((await accept(second, cat)).task?.claimed_by_agent_id).toBe(cat.id);
  });
});

describe("an offer ends, whoever looks (R1, R39)", () => {
  const ways: readonly (readonly [string, (offered: { id: string }) => Promise<unknown> | undefined])[] = [
    ["by its own time", () => void fresh.time.pass(60_000) as undefined],
    ["with the lease, when that is released", () => fresh.ask("release_task", { task_id: id }, ann)],
    ["with the lease, when that is completed", () => fresh.ask("complete_task", { task_id: id }, ann)],
    ["with the giver's session", () => fresh.ask("end_session", { session_id: ann.sessionId }, ann)],
    ["with the receiver's session", () => fresh.ask("end_session", { session_id: ben.sessionId }, ben)],
    ["when the task is to be cancelled", () => fresh.ask("cancel_task", { task_id: id }, fresh.root)],
    [
      "with the lease, when the task is taken over",
      async () => fresh.claim(id, await fresh.session(ann), { takeover: true, reason: "x" }),
    ],
  ];
  test.each(ways)("%s", async (_how, end) => {
    await fresh.claim(id, ann, { lease_seconds: 3600 });
    const offered = await fresh.ask(
      "handoff_task",
      { task_id: id, to_session_id: ben.sessionId, offer_seconds: 60 },
      ann,
    );
    await end(offered);
    expect(await fresh.ask("list_handoffs", { whose: "all" }, cat)).toEqual([]);
    expect(await fresh.ask("list_handoffs", { whose: "all", ended: true }, cat)).toMatchObject([
      { id: offered.id, state: "expired", remaining_ms: 0 },
    ]);
    const code = (await refused(offered, ben)).code;
    expect(["handoff_taken", "session_ended"]).toContain(code);
    expect((await fresh.read(id)).claimed_by_session_id).not.toBe(ben.sessionId);
  });

  test("at the instant, not one millisecond before; the clock's end is put on record once (R12)", async () => {
    await fresh.claim(id, ann, { lease_seconds: 3600 });
    const offered = await offer(ben, { offer_seconds: 60 });
    fresh.time.pass(59_999);
    expect(await fresh.ask("list_handoffs", {}, ben)).toMatchObject([{ id: offered.id, remaining_ms: 1 }]);
    fresh.time.pass(1);
    expect(await refused(offered, ben)).toMatchObject({ code: "handoff_taken", state: "expired" });
    await fresh.sweep();
    await fresh.sweep();
    expect((await fresh.history(id)).filter((type) => type === "task.handoff_expired")).toHaveLength(1);
    expect(await noticesOf(ben)).toEqual([]);
  });

  test("with the lease: a renewal before carries it on", async () => {
    await fresh.claim(id, ann, { lease_seconds: 30 });
    const offered = await offer(ben, { offer_seconds: 600 });
    fresh.time.pass(29_000);
    await fresh.ask("heartbeat_task", { task_id: id }, ann);
    fresh.time.pass(29_999);
    expect(await fresh.ask("list_handoffs", { whose: "to_me" }, ben)).toMatchObject([{ remaining_ms: 1 }]);
    fresh.time.pass(1);
    expect(await refused(offered, ben)).toMatchObject({ code: "handoff_taken", state: "expired" });
    expect(await fresh.read(id)).toMatchObject({ status: "open", lapsed: true });
  });
});

describe("what a handoff leaves as it is", () => {
  test("attempts: an accepted one is none (R20), and the last lease that goes on is still the last", async () => {
    await fresh.ask("update_task", { task_id: id, max_attempts: 1 }, fresh.root);
    await fresh.claim(id, ann);
    await accept(await offer(ben), ben);
    expect(await fresh.read(id)).toMatchObject({ attempts: 1, status: "claimed" });
    await fresh.ask("release_task", { task_id: id }, ben);
    expect(await fresh.read(id)).toMatchObject({ attempts: 0, status: "open" });
  });

  test("the assignment, progress and checkpoint", async () => {
    await fresh.ask("update_task", { task_id: id, assigned_to_agent_id: ann.id }, fresh.root);
    await fresh.claim(id, ann);
    await fresh.ask("heartbeat_task", { task_id: id, progress: { done: 1 }, checkpoint: "line 7" }, ann);
    const { task } = await accept(await offer(ben), ben);
    expect(task).toMatchObject({ assigned_to_agent_id: ann.id, progress: { done: 1 }, checkpoint: "line 7" });
  });

  test("goes on at most three times without a heartbeat that reports progress", async () => {
    await fresh.claim(id, ann);
    let [giver, taker] = [ann, ben];
    for (let hop = 0; hop < 3; hop += 1) {
      await accept(await offer(taker, {}, giver), taker);
      await fresh.ask("heartbeat_task", { task_id: id, detail: "looking" }, taker);
      [giver, taker] = [taker, giver];
    }
    const input = { task_id: id, to_agent_id: taker.id };
    expect(await fresh.refusal("handoff_task", input, giver)).toMatchObject({
      code: "limit_exceeded",
      setting: "handoff_hops",
      limit: 3,
    });
    await fresh.ask("heartbeat_task", { task_id: id, progress: "half" }, giver);
    await accept(await fresh.ask("handoff_task", input, giver), taker);
    await fresh.ask("release_task", { task_id: id }, taker);
    await fresh.claim(id, cat);
    await offer(ben, {}, cat);
  });

  test("counts against the receiver's limit of claims, and not twice for one agent", async () => {
    await fresh.ask("update_workspace", { claims_per_agent_max: 1 }, fresh.root);
    await fresh.claim(id, ann);
    const own = await fresh.task({ content: "ben's own" });
    await fresh.claim(own.id, ben);
    const offered = await offer(ben);
    expect(await refused(offered, ben)).toMatchObject({ code: "limit_exceeded", setting: "claims_per_agent_max" });
    expect(await fresh.read(id)).toMatchObject({ claimed_by_agent_id: ann.id });
    const other = await fresh.session(ann);
    const again = await fresh.ask("handoff_task", { task_id: id, to_session_id: other.sessionId }, ann);
    expect((await accept(again, other)).task?.claimed_by_session_id).toBe(other.sessionId);
  });

  test("what is wrong with an offer is said by name", async () => {
    await fresh.claim(id, ann);
    const both = { to_agent_id: ben.id, to_session_id: ben.sessionId };
    for (const to of [{}, both, { to_session_id: ann.sessionId }])
      expect(await fresh.refusal("handoff_task", { task_id: id, ...to }, ann)).toMatchObject({ code: "invalid_input" });
    expect((await fresh.refusal("handoff_task", { task_id: id, to_agent_id: cat.id }, ben)).code).toBe("lease_lost");
    await fresh.ask("end_session", { session_id: cat.sessionId }, cat);
    const dead = { task_id: id, to_session_id: cat.sessionId };
    expect((await fresh.refusal("handoff_task", dead, ann)).code).toBe("session_ended");
    await fresh.ask("cancel_task", { task_id: id }, fresh.root);
    expect((await fresh.refusal("handoff_task", { task_id: id, to_agent_id: ben.id }, ann)).code).toBe("invalid_input");
  });

  test("a repeat with its key gives the lease with the time left now, or says that it is lost (R59)", async () => {
    await fresh.claim(id, ann);
    const offered = await offer(ben);
    const keyed = { ...ben, caller: { ...ben.caller, idempotencyKey: "once" } };
    const first = await accept(offered, keyed);
    fresh.time.pass(2_000);
    expect(await accept(offered, keyed)).toMatchObject({ fence: first.fence, task: { lease_remaining_ms: 298_000 } });
    await fresh.ask("complete_task", { task_id: id }, ben);
    expect(await refused(offered, keyed)).toMatchObject({ code: "lease_lost", reason: "completed" });
  });
});
