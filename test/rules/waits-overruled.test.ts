import { beforeEach, describe, expect, test } from "vitest";
import { type LineScene, lineScene } from "../support/line-scene.js";

let { fresh, ann, ben, cat, dan, lead, claim, wait, release, line, held } = {} as LineScene;
beforeEach(async () => {
  ({ fresh, ann, ben, cat, dan, lead, claim, wait, release, line, held } = await lineScene());
});

const grant = (ticket: string) => fresh.ask("grant_wait", { ticket, reason: "the release" }, lead);
const refusedGrant = (ticket: string) => fresh.refusal("grant_wait", { ticket, reason: "the release" }, lead);
const places = (capacity: number) => fresh.ask("set_scope_capacity", { scope: "slot:db", capacity }, fresh.root);

describe("who makes way for an overruled line (R40)", () => {
  test("a task that holds several of the scopes loses its lease once", async () => {
    const { id } = await fresh.task({ scopes: ["path:a", "path:b"] });
    await fresh.claim(id, cat);
    const ticket = await wait(ben, ["path:a", "path:b"]);
    expect(await grant(ticket)).toMatchObject({ state: "granted", claims: [{ scope: "path:a" }, { scope: "path:b" }] });
    expect(await held()).toEqual(["path:a ben", "path:b ben"]);
    expect((await fresh.history(id)).filter((type) => type === "task.released")).toHaveLength(1);
  });

  test("of several who have places only the newest", async () => {
    await places(2);
    await claim(ann, ["slot:db"]);
    fresh.time.pass(1000);
    await claim(cat, ["slot:db"]);
    await grant(await wait(ben, ["slot:db"]));
    expect(await held()).toEqual(["slot:db ann", "slot:db ben"]);
  });

  test("an offer of a place before a place that is held", async () => {
    await places(2);
    await claim(ann, ["slot:db"]);
    await claim(cat, ["slot:db"]);
    await wait(dan, ["slot:db"]);
    const second = await wait(ben, ["slot:db"]);
    await release(ann, "slot:db");
    expect(await line()).toEqual(["dan offered", "ben waiting"]);
    await grant(second);
    expect(await held()).toEqual(["slot:db cat", "slot:db ben"]);
    expect(await line()).toEqual(["dan waiting"]);
  });

  test("nobody with a place where one who must make way anyhow has one too", async () => {
    await places(2);
    const { id } = await fresh.task({ scopes: ["path:a", "slot:db"] });
    await fresh.claim(id, ann);
    fresh.time.pass(1000);
    await claim(cat, ["slot:db"]);
    await grant(await wait(ben, ["path:a", "slot:db"]));
    expect(await held()).toEqual(["slot:db cat", "path:a ben", "slot:db ben"]);
  });

  test("whoever was offered it is told by whom and why, and what it doesn't lose goes to the next", async () => {
    await claim(ann, ["path:a", "path:b"]);
    const first = await wait(ben, ["path:a", "path:b"]);
    const second = await wait(cat, ["path:a"]);
    await release(ann, "path:a", "path:b");
    // Before ben by rank, and stopped by the offer alone.
    await wait(dan, ["path:b"], { priority: 4 });
    expect(await line()).toEqual(["dan waiting", "ben offered", "cat waiting"]);
    fresh.time.pass(1000);
    await grant(second);
    const { state, notices } = await fresh.ask("get_wait", { ticket: first }, ben);
    expect(state).toBe("waiting");
    expect(notices).toMatchObject([{ type: "wait.overruled", data: { ticket: first } }, { type: "wait.offered" }]);
    expect(notices[0]?.message).toContain("lead gave it to another: the release");
    expect(await line()).toEqual(["dan offered", "ben waiting"]);
  });
});

test("who was given what it waits for is told, as it may not be there; so is who was taken out of the line (R40, R54)", async () => {
  await claim(ann, ["path:a", "path:b"]);
  const [first, second] = [await wait(ben, ["path:a"]), await wait(ben, ["path:b"])];
  await grant(first);
  await fresh.ask("cancel_wait", { ticket: second }, lead);
  const { notices } = await fresh.ask("get_session", { session_id: ben.sessionId ?? "" }, ben);
  expect(notices).toMatchObject([
    { type: "wait.ended", data: { ticket: second }, message: expect.stringContaining("lead took your ticket out") },
    {
      type: "wait.granted",
      data: { ticket: first },
      message: expect.stringContaining("lead gave it to you: the release"),
    },
  ]);
  // Who does so itself knows it.
  await fresh.ask("cancel_wait", { ticket: await wait(cat, ["path:b"]) }, cat);
  expect((await fresh.ask("get_session", { session_id: cat.sessionId ?? "" }, cat)).notices).toEqual([]);
});

test("a task that an offer kept asleep is claimed at once when that is taken back, as far as nobody else has it", async () => {
  await claim(ann, ["path:a", "path:b"]);
  await wait(ben, ["path:a", "path:b"]);
  const second = await wait(dan, ["path:b"]);
  await release(ann, "path:a", "path:b");
  expect(await line()).toEqual(["ben offered", "dan waiting"]);
  const { id } = await fresh.task({ scopes: ["path:a"], priority: 4 });
  expect(await fresh.next(cat)).toBeNull();
  await grant(second);
  expect(await fresh.next(cat)).toMatchObject({ id });
});

describe("whose claims an overruled line counts (R49)", () => {
  test("the waiter's, not the coordinator's", async () => {
    await fresh.ask("update_workspace", { claims_per_agent_max: 1 }, fresh.root);
    await claim(lead, ["path:other"]);
    await claim(ann, ["path:a"]);
    const ticket = await wait(ben, ["path:a"]);
    expect((await grant(ticket)).state).toBe("granted");
    await claim(cat, ["path:b"]);
    const more = await wait(ben, ["path:b"]);
    const refused = await refusedGrant(more);
    expect(refused).toMatchObject({ code: "limit_exceeded", setting: "claims_per_agent_max" });
    expect(refused.message).toContain("ben holds");
    expect(await held()).toEqual(["path:other lead", "path:a ben", "path:b cat"]);
  });
});

describe("a ticket that is over can't be given anything", () => {
  test("its session fell silent", async () => {
    await claim(ann, ["path:a"], { ttl_seconds: 3600 });
    const ticket = await wait(await fresh.session(ben, { ttl_seconds: 30 }), ["path:a"]);
    fresh.time.pass(30_000);
    const refused = await refusedGrant(ticket);
    expect(refused).toMatchObject({ code: "lease_lost", reason: "expired" });
    expect(refused.message).toContain("session_ended");
    expect(await held()).toEqual(["path:a ann"]);
  });

  test("its task was lost", async () => {
    await claim(ann, ["path:a"], { ttl_seconds: 3600 });
    const { id } = await fresh.task();
    await fresh.claim(id, ben, { lease_seconds: 60 });
    const ticket = await wait(ben, ["path:a"], { task_id: id });
    fresh.time.pass(60_000);
    const refused = await refusedGrant(ticket);
    expect(refused.code).toBe("lease_lost");
    expect(refused.message).toContain("task_lost");
  });

  test("it was cancelled; one that was granted is answered again", async () => {
    await claim(ann, ["path:a"]);
    const ticket = await wait(ben, ["path:a"]);
    const other = await wait(cat, ["path:a"]);
    await fresh.ask("cancel_wait", { ticket }, ben);
    expect(await refusedGrant(ticket)).toMatchObject({ code: "lease_lost", reason: "released" });
    await grant(other);
    expect(await grant(other)).toMatchObject({ state: "granted", claims: [{ scope: "path:a" }] });
  });
});

describe("a child whose parent shares its task with it (R65)", () => {
  test("keeps its place by asking again, and accepts what is offered", async () => {
    const parent = await fresh.session(ben, { share_with_children: true });
    const { id } = await fresh.task();
    await fresh.claim(id, parent);
    const child = await fresh.session(ben, { parent_session_id: parent.sessionId });
    await claim(ann, ["path:a"]);
    const ticket = await wait(child, ["path:a"], { task_id: id });
    expect(await wait(child, ["path:a"], { task_id: id })).toBe(ticket);
    expect(await wait(parent, ["path:a"], { task_id: id })).toBe(ticket);
    await release(ann, "path:a");
    const accepted = await fresh.ask("accept_wait", { ticket }, child);
    expect(accepted).toMatchObject({ state: "granted", claims: [{ task_id: id, session_id: parent.sessionId }] });
  });

  test("takes what is offered by waiting for it; what its parent waits for otherwise is its parent's", async () => {
    const parent = await fresh.session(ben, { share_with_children: true });
    const { id } = await fresh.task();
    await fresh.claim(id, parent);
    const child = await fresh.session(ben, { parent_session_id: parent.sessionId });
    await claim(ann, ["path:a", "path:b"]);
    const ticket = await wait(child, ["path:a"], { task_id: id });
    const own = await wait(parent, ["path:b"]);
    await release(ann, "path:a", "path:b");
    expect(await fresh.ask("get_wait", { ticket, wait_seconds: 1 }, child)).toMatchObject({ state: "granted" });
    expect((await fresh.refusal("accept_wait", { ticket: own }, child)).code).toBe("forbidden");
  });
});

test("names kept for a task are told as such to who is refused", async () => {
  await fresh.task({ content: "wide", scopes: ["path:src", "path:docs"] });
  await claim(ann, ["path:src/1"], { ttl_seconds: 3600 });
  expect(await fresh.next(cat)).toBeNull();
  fresh.time.pass(600_000);
  await release(ann, "path:src/1");
  await claim(ann, ["path:src/1"], { ttl_seconds: 3600 });
  expect(await fresh.next(cat)).toBeNull();
  const { message } = await fresh.refusal("claim_scopes", { scopes: ["path:docs"], intent: "x" }, ben);
  expect(message).toContain('path:docs (exclusive, kept for task "wide")');
});
