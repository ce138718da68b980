import { describe, expect, test } from "vitest";
import { FreshStore } from "../support/fresh-store.js";

/** What holders and others do to a held task: release, cancel, force (R18, R19), and what is said of the work (R26). */

async function held() {
  const fresh = await FreshStore.open();
  const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
  const cleo = await fresh.worker("cleo", "coordinator");
  const { id } = await fresh.task({ assigned_to_agent_id: ann.id }, cleo);
  await fresh.claim(id, ann);
  return { fresh, ann, ben, cleo, id };
}

describe("release (R18)", () => {
  test("opens the task at once, keeps the note for the next holder, and the assignment stays", async () => {
    const { fresh, ann, id } = await held();
    const released = await fresh.ask("release_task", { task_id: id, handoff: "half done, see branch x" }, ann);
    expect(released).toMatchObject({
      status: "open",
      ready: true,
      lapsed: false,
      lease_id: null,
      claimed_by_agent_id: null,
    });
    expect(released).toMatchObject({ handoff_note: "half done, see branch x", assigned_to_agent_id: ann.id });
    expect(await fresh.claim(id, ann)).toMatchObject({ handoff_note: "half done, see branch x", fence: 2 });
  });

  test("claiming never changes an assignment", async () => {
    const { fresh, ann, id } = await held();
    expect(await fresh.read(id)).toMatchObject({ assigned_to_agent_id: ann.id });
    const other = await fresh.task();
    expect(await fresh.claim(other.id, ann)).toMatchObject({ assigned_to_agent_id: null });
  });

  test("repeated by who released it, it is answered alike and does nothing; not so once another has it", async () => {
    const { fresh, ann, cleo, id } = await held();
    const first = await fresh.ask("release_task", { task_id: id }, ann);
    const history = await fresh.history(id);
    expect(await fresh.ask("release_task", { task_id: id }, ann)).toEqual(first);
    expect(await fresh.history(id)).toEqual(history);
    await fresh.ask("update_task", { task_id: id, assigned_to_agent_id: null }, cleo);
    await fresh.claim(id, cleo);
    expect(await fresh.refusal("release_task", { task_id: id }, ann)).toMatchObject({ code: "lease_lost" });
  });
});

describe("while a claim lives (R19)", () => {
  test("others' updates and deletion are refused with the holder; comments and links are always allowed", async () => {
    const { fresh, ann, ben, cleo, id } = await held();
    for (const other of [ben, cleo, fresh.root]) {
      const update = await fresh.refusal("update_task", { task_id: id, priority: 1 }, other);
      const remove = await fresh.refusal("delete_task", { task_id: id }, other);
      for (const refused of [update, remove]) {
        expect(refused).toMatchObject({ code: "task_claimed", holder: { agent_id: ann.id, task_id: id } });
      }
    }
    await fresh.ask("add_comment", { task_id: id, body: "how is it going?" }, ben);
    await fresh.ask("add_link", { task_id: id, url: "https://example.com/pr/1", kind: "pull_request" }, ben);
    expect(await fresh.ask("update_task", { task_id: id, priority: 4 }, ann)).toMatchObject({ priority: 4 });
    expect(await fresh.read(id)).toMatchObject({ status: "claimed", claimed_by_agent_id: ann.id });
  });

  test("cancel by its creator or a coordinator is a request: 202, seen by the holder, who goes on holding", async () => {
    const { fresh, ann, ben, cleo, id } = await held();
    expect(await fresh.refusal("cancel_task", { task_id: id, reason: "no" }, ben)).toMatchObject({
      code: "task_claimed",
    });
    const answer = await fresh.answer("cancel_task", { task_id: id, reason: "not needed" }, cleo);
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ status: "claimed", cancel_requested: true, cancel_reason: "not needed" });
    const beat = await fresh.ask("heartbeat_task", { task_id: id }, ann);
    expect(beat).toMatchObject({ cancel_requested: true, status: "claimed" });
    expect(beat.notices).toMatchObject([{ type: "cancel_requested", task_id: id }]);
    expect(beat.notices[0]?.message).toContain("not needed");
    // Asked twice, it is one request.
    expect((await fresh.answer("cancel_task", { task_id: id }, cleo)).status).toBe(202);
    expect((await fresh.history(id)).filter((type) => type === "task.cancel_requested")).toHaveLength(1);
  });

  const ends: readonly [how: string, (scene: Awaited<ReturnType<typeof held>>) => Promise<unknown>][] = [
    ["its holder releases", ({ fresh, ann, id }) => fresh.ask("release_task", { task_id: id }, ann)],
    ["the clock ends it", async ({ fresh }) => fresh.time.pass(300_000)],
    ["its session is ended", ({ fresh, ann }) => fresh.ask("end_session", { session_id: ann.sessionId }, ann)],
    [
      "it is released by force",
      ({ fresh, id }) => fresh.ask("force_release_task", { task_id: id, reason: "now" }, fresh.root),
    ],
    [
      "its holder fails it for a retry",
      ({ fresh, ann, id }) => fresh.ask("fail_task", { task_id: id, reason: "x", retry: true }, ann),
    ],
  ];
  test.each(ends)("the request takes effect when the lease ends without a result: %s", async (_how, end) => {
    const scene = await held();
    const { fresh, cleo, id } = scene;
    await fresh.ask("cancel_task", { task_id: id, reason: "not needed" }, cleo);
    await end(scene);
    const cancelled = { status: "cancelled", ready: false, cancel_requested: false, closed_by_agent_id: cleo.id };
    expect(await fresh.read(id)).toMatchObject(cancelled);
    await fresh.sweep();
    expect(await fresh.read(id)).toMatchObject(cancelled);
    expect((await fresh.history(id)).filter((type) => type === "task.cancelled")).toHaveLength(1);
    expect(await fresh.next(await fresh.worker("dan"))).toBeNull();
  });

  test("a result that is delivered after the request counts all the same", async () => {
    const { fresh, ann, cleo, id } = await held();
    await fresh.ask("cancel_task", { task_id: id }, cleo);
    const done = await fresh.ask("complete_task", { task_id: id, result: "there" }, ann);
    expect(done).toMatchObject({ status: "completed", result: "there", cancel_requested: false });
  });

  test("cancel by the holder, and of what nobody holds, is done at once; repeated it changes nothing", async () => {
    const { fresh, ann, cleo, id } = await held();
    const answer = await fresh.answer("cancel_task", { task_id: id, reason: "pointless" }, ann);
    expect(answer).toMatchObject({ status: 200, body: { status: "cancelled", closed_by_agent_id: ann.id } });
    expect((await fresh.ask("cancel_task", { task_id: id }, cleo)).closed_by_agent_id).toBe(ann.id);
    const other = await fresh.task({}, cleo);
    expect(await fresh.ask("cancel_task", { task_id: other.id }, cleo)).toMatchObject({ status: "cancelled" });
  });

  test("force-release needs a coordinator and a reason, and its event names both", async () => {
    const { fresh, ann, ben, cleo, id } = await held();
    const forced = { task_id: id, reason: "laptop is gone" };
    expect(await fresh.refusal("force_release_task", forced, ben)).toMatchObject({ code: "forbidden" });
    expect(await fresh.refusal("force_release_task", { task_id: id }, cleo)).toMatchObject({ code: "reason_required" });
    expect(await fresh.ask("force_release_task", forced, cleo)).toMatchObject({ status: "open", lapsed: false });
    const events = await fresh.ask("get_task_history", { task_id: id }, cleo);
    expect(events.at(-1)).toMatchObject({
      type: "task.released",
      actor: { agent_id: cleo.id },
      data: { agent_id: ann.id, session_id: ann.sessionId, forced: true, reason: "laptop is gone" },
    });
  });
});

describe("what is said of the work (R26)", () => {
  test("a state with its detail doesn't extend the lease, and is gone with it", async () => {
    const { fresh, ann, ben, id } = await held();
    fresh.time.pass(10_000);
    const waiting = await fresh.ask(
      "set_task_state",
      { task_id: id, state: "waiting_input", detail: "which port?" },
      ann,
    );
    expect(waiting).toMatchObject({ state: "waiting_input", state_detail: "which port?", lease_remaining_ms: 290_000 });
    fresh.time.pass(290_000);
    expect(await fresh.read(id)).toMatchObject({ state: null, state_detail: null });
    await fresh.ask("update_task", { task_id: id, assigned_to_agent_id: null }, fresh.root);
    expect(await fresh.claim(id, ben)).toMatchObject({ state: "working", state_detail: null });
  });

  test("a takeover begins with a state of its own", async () => {
    const { fresh, ann, id } = await held();
    await fresh.ask("set_task_state", { task_id: id, state: "errored", detail: "tests hang" }, ann);
    const taken = await fresh.claim(id, fresh.root, { takeover: true, reason: "I'll look" });
    expect(taken).toMatchObject({ state: "working", state_detail: null });
  });

  test("progress and checkpoint come with heartbeats and reach the next holder; they are no change of the task", async () => {
    const { fresh, ann, id } = await held();
    const before = await fresh.read(id);
    const said = { progress: { done: 3, of: 9 }, checkpoint: ["file-1", "file-2"] };
    const beaten = await fresh.ask("heartbeat_task", { task_id: id, ...said }, ann);
    expect(beaten).toMatchObject({ ...said, version: before.version });
    fresh.time.pass(300_000);
    expect(await fresh.claim(id, ann)).toMatchObject({ ...said, fence: 2 });
    expect(await fresh.history(id)).not.toContain("task.updated");
  });
});
