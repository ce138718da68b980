import { beforeEach, describe, expect, test } from "vitest";
import { type LineScene, lineScene } from "../support/line-scene.js";

let { fresh, ann, ben, cat, dan, claim, refused, wait, release } = {} as LineScene;
beforeEach(async () => {
  ({ fresh, ann, ben, cat, dan, claim, refused, wait, release } = await lineScene());
});

describe("tasks and the line (R16)", () => {
  test("claim-next passes over what is offered, or waited for by one who is before it", async () => {
    await claim(ann, ["path:a"]);
    const { id } = await fresh.task({ scopes: ["path:b"] });
    const first = await wait(ben, ["path:a", "path:b"]);
    const answer = await fresh.ask("claim_next_task", {}, cat);
    expect(answer).toMatchObject({ task: null, skipped_count: 1, skipped: [{ id, holder: { agent_name: "ben" } }] });
    expect((await fresh.ask("get_task_why", { task_id: id }, cat)).code).toBe("scope_conflict");
    await release(ann, "path:a");
    expect(await fresh.next(cat)).toBeNull();
    await fresh.ask("cancel_wait", { ticket: first }, ben);
    expect(await fresh.next(cat)).toMatchObject({ id });
  });

  test("a ticket for a task that was given back is in nobody's way: those behind it are looked at", async () => {
    const { id } = await fresh.task();
    await fresh.claim(id, ben);
    await claim(ann, ["path:a"]);
    const first = await fresh.ask(
      "claim_scopes",
      { scopes: ["path:a", "path:b"], intent: "x", task_id: id, wait: true },
      ben,
    );
    await wait(cat, ["path:b"]);
    fresh.time.pass(1000);
    await fresh.ask("release_task", { task_id: id }, ben);
    expect(await fresh.ask("list_waits", {}, ben)).toMatchObject([{ agent_name: "cat", state: "offered" }]);
    const ended = await fresh.ask("get_wait", { ticket: first.ticket ?? "" }, ben);
    expect(ended).toMatchObject({ ended_how: "task_lost", ended_at: fresh.time.iso() });
  });

  test("a task is taken over with its scopes, whoever waits for them (R19)", async () => {
    const { id } = await fresh.task({ scopes: ["path:a"] });
    await fresh.claim(id, ann);
    await wait(ben, ["path:a"]);
    const other = await fresh.session(ann);
    await fresh.claim(id, other, { takeover: true, reason: "my laptop died" });
    const names = await fresh.ask("list_claims", { kind: "path" }, ben);
    expect(names).toMatchObject([{ scope: "path:a", session_id: other.sessionId }]);
    expect(await fresh.ask("list_waits", {}, ben)).toMatchObject([{ agent_name: "ben", state: "waiting" }]);
  });

  test("a task that others pass over because of a ticket is free for the one who has that ticket", async () => {
    await claim(ann, ["path:a"]);
    const { id } = await fresh.task({ scopes: ["path:b"] });
    await wait(ben, ["path:a", "path:b"]);
    expect(await fresh.next(cat)).toBeNull();
    expect(await fresh.next(ben)).toMatchObject({ id });
  });

  test("an urgent task is before a request that was asked a moment ago", async () => {
    await claim(ann, ["path:a"]);
    const { id } = await fresh.task({ scopes: ["path:b"], priority: 4 });
    await wait(ben, ["path:a", "path:b"]);
    expect(await fresh.next(cat)).toMatchObject({ id });
  });

  test("a wide task that was passed over for two lease lengths has its scopes reserved, and starves no more", async () => {
    const wide = await fresh.task({ content: "wide", scopes: ["path:src"] });
    await claim(ann, ["path:src/1"], { ttl_seconds: 3600 });
    expect(await fresh.next(cat)).toBeNull();
    fresh.time.pass(400_000);
    await claim(ben, ["path:src/2"], { ttl_seconds: 3600 });
    await release(ann, "path:src/1");
    expect(await fresh.next(cat)).toBeNull();
    await claim(ann, ["path:src/1"], { ttl_seconds: 3600 });
    await release(ben, "path:src/2");
    fresh.time.pass(200_000);
    expect(await fresh.next(cat)).toBeNull();
    // Passed over for 600 s: from now on what overlaps is kept for it.
    expect((await refused(ben, ["path:src/2"])).conflicts).toMatchObject([{ holder: { task_id: wide.id } }]);
    await release(ann, "path:src/1");
    expect((await refused(ben, ["path:src/2"])).conflicts).toMatchObject([
      { reason: expect.stringContaining("offered") },
    ]);
    expect(await fresh.next(cat)).toMatchObject({ id: wide.id });
    expect((await refused(ben, ["path:src/2"])).conflicts).toMatchObject([{ holder: { agent_name: "cat" } }]);
  });

  test("however long what it met first is held", async () => {
    const { id } = await fresh.task({ content: "wide", scopes: ["path:src"] });
    await claim(ann, ["path:src/1"], { ttl_seconds: 3600 });
    expect(await fresh.next(cat)).toBeNull();
    fresh.time.pass(599_000);
    expect(await fresh.next(cat)).toBeNull();
    await claim(dan, ["path:src/2"]);
    await release(dan, "path:src/2");
    fresh.time.pass(1_000);
    expect(await fresh.next(cat)).toBeNull();
    expect((await refused(dan, ["path:src/2"])).conflicts).toMatchObject([{ holder: { task_id: id } }]);
  });

  test("a reservation that nobody takes ends as an offer does, and holds nobody up any longer", async () => {
    await fresh.task({ content: "wide", scopes: ["path:src"] });
    await claim(ann, ["path:src/1"], { ttl_seconds: 3600 });
    await fresh.next(cat);
    fresh.time.pass(600_000);
    await release(ann, "path:src/1");
    await claim(ann, ["path:src/1"], { ttl_seconds: 3600 });
    expect(await fresh.next(cat)).toBeNull();
    await release(ann, "path:src/1");
    expect((await refused(ben, ["path:src/2"])).code).toBe("scope_conflict");
    fresh.time.pass(30_000);
    expect((await claim(ben, ["path:src/2"])).claims).toHaveLength(1);
  });

  test("each that starves is kept its scopes, also one behind others that the same claim is in the way of", async () => {
    const [urgent, wide] = [
      await fresh.task({ scopes: ["path:src/1"], priority: 4 }),
      await fresh.task({ scopes: ["path:src"] }),
    ];
    await claim(ann, ["path:src/1"], { ttl_seconds: 3600 });
    expect(await fresh.next(cat)).toBeNull();
    fresh.time.pass(600_000);
    expect(await fresh.next(cat)).toBeNull();
    expect((await refused(ben, ["path:src/2"])).conflicts).toMatchObject([{ holder: { task_id: wide.id } }]);
    await release(ann, "path:src/1");
    expect(await fresh.next(cat)).toMatchObject({ id: urgent.id });
  });

  /** Kept for a wide task, waited for by ben. */
  async function keptForWide(more: object = {}) {
    const wide = await fresh.task({ scopes: ["path:src"], ...more });
    await claim(ann, ["path:src/1"], { ttl_seconds: 3600 });
    await fresh.next(cat);
    fresh.time.pass(600_000);
    await fresh.next(cat);
    await wait(ben, ["path:src/2"]);
    return wide;
  }
  const line = () => fresh.ask("list_waits", {}, ben);

  test("scopes are kept no more for a task that was delegated: the next one's turn comes at once", async () => {
    const { id } = await keptForWide();
    expect(await line()).toMatchObject([{ state: "waiting" }]);
    await fresh.ask("delegate_task", { task_id: id, content: "a part" }, fresh.root);
    expect(await line()).toMatchObject([{ state: "offered" }]);
  });

  test("nor for one that is held up again as its blocker was opened again (R24)", async () => {
    const blocker = await fresh.task();
    await fresh.claim(blocker.id, dan);
    await fresh.ask("complete_task", { task_id: blocker.id }, dan);
    await keptForWide({ depends_on: [blocker.id] });
    await fresh.ask("reopen_task", { task_id: blocker.id }, fresh.root);
    expect(await line()).toMatchObject([{ state: "offered" }]);
  });
});
