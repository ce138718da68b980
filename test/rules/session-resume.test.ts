import { describe, expect, test } from "vitest";
import { type Actor, type Body, FreshStore, type Input } from "../support/fresh-store.js";

/** Field report here: C25. */

type Opened = Body<"open_session">;
const open = (fresh: FreshStore, as: Actor, input: Input<"open_session">) =>
  fresh.answer("open_session", input, { identity: as.caller.identity });
const refused = (fresh: FreshStore, as: Actor, input: Input<"open_session">) =>
  fresh.refusal("open_session", input, { identity: as.caller.identity });

/** An agent in a session that goes by `h1` and holds one task. */
async function atWork(input: Input<"open_session"> = {}) {
  const fresh = await FreshStore.open();
  const agent = await fresh.agent("ann");
  const { body } = await open(fresh, agent, { harness_id: "h1", client: "claude-code", ...input });
  const ann: Actor = { ...agent, sessionId: body.id, caller: { ...agent.caller, sessionId: body.id } };
  const { id } = await fresh.task();
  const { lease_id, fence } = await fresh.claim(id, ann);
  return { fresh, ann, id, lease: { lease_id: lease_id ?? "", fence }, opened: body };
}

describe("a harness that goes by a new id (R65)", () => {
  test("C25: resumes its session with the token: same session, same leases, the new name, a new token", async () => {
    const { fresh, ann, id, lease, opened } = await atWork();
    expect(opened).toMatchObject({ resumed: false, resume_token: expect.stringMatching(/^resume_/) });
    fresh.time.pass(100_000);
    const { status, body } = await open(fresh, ann, { harness_id: "h2", resume_token: opened.resume_token, cwd: "/x" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: opened.id,
      resumed: true,
      harness_id: "h2",
      client: "claude-code",
      cwd: "/x",
      tasks_held: 1,
      remaining_ms: 900_000,
    });
    expect(body.resume_token).not.toBe(opened.resume_token);
    // Resuming is a sign of life of the session, and renews no lease.
    expect(await fresh.read(id)).toMatchObject({ ...lease, status: "claimed", lease_remaining_ms: 200_000 });
    await fresh.ask("complete_task", { task_id: id, ...lease }, ann);
    const events = await fresh.ask("list_events", { types: ["session.started", "session.resumed"] }, ann);
    expect(events.filter((event) => event.actor?.agent_id === ann.id)).toMatchObject([
      { type: "session.started" },
      { type: "session.resumed", data: { client: "claude-code", by: "resume_token" } },
    ]);
  });

  test("C25: without the token it is another session, refused by the first one's claim", async () => {
    const { fresh, ann, id, opened } = await atWork();
    const { status, body } = await open(fresh, ann, { harness_id: "h2" });
    expect([status, body.resumed, body.id === opened.id]).toEqual([201, false, false]);
    const second = { identity: ann.caller.identity, sessionId: body.id };
    const refusal = await fresh.refusal("claim_task", { task_id: id }, second);
    expect(refusal).toMatchObject({
      code: "task_claimed",
      holder: {
        session_id: opened.id,
        agent_name: "ann",
        expires_at: new Date(fresh.time.wallMs() + 300_000).toISOString(),
      },
    });
  });

  test("C25: a token carries it once; the second who presents it is refused, and the session works on", async () => {
    const { fresh, ann, id, opened } = await atWork();
    const token = { resume_token: opened.resume_token };
    const [first, second] = await Promise.allSettled([
      open(fresh, ann, { harness_id: "h2", ...token }),
      open(fresh, ann, { harness_id: "h3", ...token }),
    ]);
    expect([first?.status, second?.status]).toEqual(["fulfilled", "rejected"]);
    expect((second as PromiseRejectedResult).reason.code).toBe("resume_token_used");
    expect(await refused(fresh, ann, token)).toMatchObject({
      code: "resume_token_used",
      next: [expect.stringContaining("open_session"), expect.anything()],
    });
    await fresh.ask("heartbeat_task", { task_id: id }, ann);
    const { resume_token } = (first as PromiseFulfilledResult<{ body: Opened }>).value.body;
    expect((await open(fresh, ann, { resume_token })).body).toMatchObject({ id: opened.id, harness_id: "h2" });
  });

  test("of two processes that resume at one instant one wins", async () => {
    const { fresh, ann, opened } = await atWork();
    const other = await fresh.another();
    const resume = (on: typeof other, harness_id: string) =>
      fresh.ask(
        "open_session",
        { harness_id, resume_token: opened.resume_token },
        { identity: ann.caller.identity },
        on,
      );
    const raced = await Promise.allSettled([resume(fresh.store, "a"), resume(other, "b"), resume(fresh.store, "c")]);
    await other.close();
    expect(raced.map((each) => each.status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
    const lost = raced.filter((each) => each.status === "rejected");
    expect(lost.map((each) => each.reason.code)).toEqual(["resume_token_used", "resume_token_used"]);
  });

  test("a token is its agent's alone, and a session that has ended is resumed by nothing", async () => {
    const { fresh, ann, opened } = await atWork({ ttl_seconds: 60 });
    const ben = await fresh.agent("ben");
    const { resume_token } = opened;
    for (const token of [resume_token, "resume_me", `resume_${"0".repeat(32)}_x`]) {
      expect(await refused(fresh, ben, { resume_token: token })).toMatchObject({ code: "not_found" });
    }
    fresh.time.pass(60_000);
    expect(await refused(fresh, ann, { resume_token })).toMatchObject({ code: "session_ended" });
    const { status, body } = await open(fresh, ann, { harness_id: "h1" });
    expect([status, body.resumed]).toEqual([201, false]);
    await fresh.ask("end_session", { session_id: body.id }, ann);
    const again = await refused(fresh, ann, { resume_token: body.resume_token });
    expect(again).toMatchObject({ code: "session_ended" });
  });

  test("a name that another session of the agent goes by is not taken from it", async () => {
    const { fresh, ann, opened } = await atWork();
    await open(fresh, ann, { harness_id: "h2" });
    const { resume_token } = opened;
    expect(await refused(fresh, ann, { resume_token, harness_id: "h2" })).toMatchObject({ code: "already_exists" });
    expect((await open(fresh, ann, { resume_token, harness_id: "h1" })).body.id).toBe(opened.id);
  });

  test("the token stands nowhere in the store, and comes again with the same Idempotency-Key alone", async () => {
    const fresh = await FreshStore.open();
    const agent = await fresh.agent("ann");
    const caller = { ...agent.caller, idempotencyKey: "open-once" };
    const first = await fresh.answer("open_session", { harness_id: "h1" }, caller);
    const again = await fresh.answer("open_session", { harness_id: "h1" }, caller);
    expect([again.replayed, again.status, again.body]).toEqual([true, 201, first.body]);
    const secret = first.body.resume_token.slice(-32);
    expect(JSON.stringify(await fresh.ask("list_events", { limit: 1000 }, fresh.root))).not.toContain(secret);
    expect(JSON.stringify(await fresh.ask("list_sessions", {}, agent))).not.toContain(secret);
    for (const table of ["sessions", "events", "remembered"]) {
      expect(JSON.stringify(await fresh.kept.rows(`SELECT * FROM ${table}`))).not.toContain(secret);
    }
  });
});

describe("a harness that starts anew under the same id", () => {
  test("gets the session that is open still, with what it holds; the token it had before is void", async () => {
    const { fresh, ann, id, lease, opened } = await atWork();
    await fresh.restart();
    const { status, body } = await open(fresh, ann, { harness_id: "h1", ttl_seconds: 1800, branch: "feat/x" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: opened.id,
      resumed: true,
      tasks_held: 1,
      branch: "feat/x",
      remaining_ms: 1_800_000,
    });
    expect(await fresh.read(id)).toMatchObject(lease);
    expect(await refused(fresh, ann, { resume_token: opened.resume_token })).toMatchObject({
      code: "resume_token_used",
    });
  });

  test("at the last instant of its silence it is resumed, and at its end it isn't, whoever looked (R1)", async () => {
    for (const noticed of [false, true]) {
      const { fresh, ann, id, opened } = await atWork({ ttl_seconds: 60 });
      fresh.time.pass(59_999);
      expect((await open(fresh, ann, { harness_id: "h1" })).body.id).toBe(opened.id);
      fresh.time.pass(60_000);
      if (noticed) await fresh.sweep();
      const { body } = await open(fresh, ann, { harness_id: "h1" });
      expect([body.resumed, body.id === opened.id, body.tasks_held]).toEqual([false, false, 0]);
      expect(await fresh.read(id)).toMatchObject({ status: "open", lapsed: true });
    }
  });

  test("any number at one instant get the same session; other agents, and other parents, have others of that name", async () => {
    const { fresh, ann, opened } = await atWork();
    const all = await Promise.all(Array.from({ length: 5 }, () => open(fresh, ann, { harness_id: "new" })));
    expect(new Set(all.map(({ body }) => body.id)).size).toBe(1);
    expect(all.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200]);
    const ben = await fresh.agent("ben");
    expect((await open(fresh, ben, { harness_id: "h1" })).body.resumed).toBe(false);
    const child = { harness_id: "h1", parent_session_id: opened.id };
    const first = (await open(fresh, ann, child)).body;
    expect([first.resumed, first.parent_session_id]).toEqual([false, opened.id]);
    expect((await open(fresh, ann, child)).body).toMatchObject({ resumed: true, id: first.id });
    expect((await open(fresh, ann, { harness_id: "h1" })).body.id).toBe(opened.id);
  });

  test("a resumed child keeps its parent, and another can't be given to it", async () => {
    const { fresh, ann, opened } = await atWork();
    const child = (await open(fresh, ann, { parent_session_id: opened.id })).body;
    const other = (await open(fresh, ann, {})).body;
    const { resume_token } = child;
    const astray = await refused(fresh, ann, { resume_token, parent_session_id: other.id });
    expect(astray).toMatchObject({ code: "invalid_input", fields: [{ field: "parent_session_id" }] });
    expect((await open(fresh, ann, { resume_token, harness_id: "x" })).body).toMatchObject({
      id: child.id,
      parent_session_id: opened.id,
    });
  });
});
