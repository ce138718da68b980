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
