import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** Names of a parent that shares what it holds with its children (R65), as docs/concepts.md says it. */

let fresh: FreshStore;
let main: Actor;
let child: Actor;
let sibling: Actor;
let stranger: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  main = await fresh.session(await fresh.agent("ann"), { share_with_children: true });
  const under = (parent: Actor) => fresh.session(parent, { parent_session_id: parent.sessionId });
  [child, sibling] = [await under(main), await under(main)];
  stranger = await fresh.worker("ben");
});

const claim = async (as: Actor, scope: string, more: object = {}) => {
  const { claims } = await fresh.ask("claim_scopes", { scopes: [scope], intent: "x", ...more }, as);
  if (!claims?.[0]) throw new Error(`${scope} was not granted.`);
  return claims[0];
};
const refusal = async (as: Actor, scope: string) => fresh.refusal("claim_scopes", { scopes: [scope], intent: "x" }, as);
const held = async () =>
  (await fresh.ask("list_claims", { kind: "path" }, fresh.root)).map(({ scope, session_id }) => [scope, session_id]);

describe("a child of a child, each of a parent that shares (R33, R65)", () => {
  const below = async (more: object = {}) => {
    const between = await fresh.session(main, {
      parent_session_id: main.sessionId,
      share_with_children: true,
      ...more,
    });
    return { between, lowest: await fresh.session(between, { parent_session_id: between.sessionId }) };
  };

  test("claims within what any above it holds, and waits in no line behind who waits for these", async () => {
    const { between, lowest } = await below();
    await claim(main, "path:src");
    await claim(between, "path:src/a");
    const waiting = await fresh.ask("claim_scopes", { scopes: ["path:src/a/b"], intent: "x", wait: true }, stranger);
    expect(waiting.claims).toEqual([]);
    await claim(lowest, "path:src/a/b/c");
    // With those beside it nothing is shared, and upward nothing.
    expect((await refusal(sibling, "path:src/a/b")).conflicts).toHaveLength(2);
    expect((await refusal(main, "path:src/a/b/c")).conflicts).toHaveLength(2);
  });

  test("waits for its turn where one above it has its own", async () => {
    const { lowest } = await below();
    await claim(stranger, "path:src");
    const line = (as: Actor, scope: string) =>
      fresh.ask("claim_scopes", { scopes: [scope], intent: "x", wait: true }, as);
    await line(main, "path:src");
    const { ticket } = await line(lowest, "path:src/a");
    await fresh.ask("release_scopes", { all: true }, stranger);
    expect(await fresh.ask("get_wait", { ticket: ticket ?? "" }, lowest)).toMatchObject({ state: "offered" });
  });

  test("has nothing of those above one that doesn't share; and no tasks but its parent's", async () => {
    const { between, lowest } = await below({ share_with_children: false });
    await claim(main, "path:src");
    await claim(between, "path:src/a");
    expect((await refusal(lowest, "path:src/a/b")).conflicts).toHaveLength(2);
    const { id } = await fresh.task();
    await fresh.claim(id, main);
    await fresh.ask("heartbeat_task", { task_id: id }, between);
    const sharing = await below();
    expect((await fresh.refusal("heartbeat_task", { task_id: id }, sharing.lowest)).code).toBe("lease_lost");
  });
});

describe("a child of a parent that shares (R65)", () => {
  test("claims within what the parent holds, and over it, as claims of its own that end by themselves", async () => {
    const parents = await claim(main, "path:src");
    const own = await claim(child, "path:src/a", { ttl_seconds: 600 });
    expect(own).toMatchObject({ session_id: child.sessionId });
    expect(own.fence).toBeGreaterThan(parents.fence);
    expect((await refusal(stranger, "path:src/a")).conflicts).toHaveLength(2);
    await fresh.ask("release_scopes", { scopes: ["path:src"] }, main);
    expect(await held()).toEqual([["path:src/a", child.sessionId]]);
    expect((await refusal(stranger, "path:src/a")).conflicts).toMatchObject([{ holder: { id: own.id } }]);
    await fresh.ask("end_session", { session_id: child.sessionId }, child);
    await claim(stranger, "path:src/a");
  });

  test("of the very name the parent holds has a claim of its own; the parent's it can neither renew nor release", async () => {
    const parents = await claim(main, "path:src");
    const ids = { claim_ids: [parents.id] };
    for (const call of ["heartbeat_scopes", "release_scopes"] as const)
      expect((await fresh.ask(call, ids, child)).items).toMatchObject([{ outcome: "lost", reason: "never_held" }]);
    const own = await claim(child, "path:src");
    expect(own.id).not.toBe(parents.id);
    await fresh.ask("release_scopes", { scopes: ["path:src"] }, child);
    expect(await held()).toEqual([["path:src", main.sessionId]]);
  });

  test("claims a task of its own within what the parent claimed by itself, and none that overlaps a task of the parent's", async () => {
    await claim(main, "path:src");
    const inside = await fresh.task({ scopes: ["path:src/a"] });
    expect(await fresh.claim(inside.id, child)).toMatchObject({ claimed_by_session_id: child.sessionId });
    const [wide, narrow] = [await fresh.task({ scopes: ["path:web"] }), await fresh.task({ scopes: ["path:web/x"] })];
    await fresh.claim(wide.id, main);
    expect(await fresh.refusal("claim_task", { task_id: narrow.id }, child)).toMatchObject({
      code: "scope_conflict",
      conflicts: [{ holder: { task_id: wide.id } }],
    });
  });

  test("claims names for the parent's task, which are the task's", async () => {
    const { id } = await fresh.task();
    await fresh.claim(id, main);
    expect(await claim(child, "path:src", { task_id: id })).toMatchObject({ session_id: main.sessionId, task_id: id });
    await fresh.ask("complete_task", { task_id: id }, child);
    expect(await held()).toEqual([]);
  });

  test("is in its siblings' and its parent's way, also inside what the parent holds", async () => {
    await claim(main, "path:src");
    const own = await claim(child, "path:src/a");
    for (const other of [sibling, main])
      expect(await refusal(other, "path:src/a/b")).toMatchObject({
        code: "scope_conflict",
        conflicts: [{ holder: { id: own.id } }],
      });
    await claim(sibling, "path:src/b");
  });

  test("doesn't share on what its parent shares with it", async () => {
    await claim(main, "path:src");
    const below = await fresh.session(child, { parent_session_id: child.sessionId });
    expect(await refusal(below, "path:src/a")).toMatchObject({ code: "scope_conflict" });
  });
});
