import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
});

type Kinds = Record<string, { tree?: boolean; shared?: boolean }>;
const set = (kinds: Kinds) => fresh.ask("update_workspace", { kinds }, fresh.root);
const refused = (kinds: Kinds) => fresh.refusal("update_workspace", { kinds }, fresh.root);
const claim = (as: Actor, scope: string, more: object = {}) =>
  fresh.ask("claim_scopes", { scopes: [scope], intent: "x", ...more }, as);
const refusedClaim = (as: Actor, scope: string, more: object = {}) =>
  fresh.refusal("claim_scopes", { scopes: [scope], intent: "x", ...more }, as);

describe("a workspace's own kinds of scopes (R29)", () => {
  test("are trees or flat, of a project or shared by all, and known wherever scopes are", async () => {
    expect((await fresh.refusal("check_scope", { scope: "ticket:7" }, ann)).code).toBe("invalid_scope");
    expect(await set({ ticket: {}, rack: { tree: true, shared: true } })).toMatchObject({
      kinds: { ticket: { tree: false, shared: false }, rack: { tree: true, shared: true } },
    });
    await fresh.ask("create_project", { key: "other" }, fresh.root);
    await claim(ann, "rack:a/1");
    expect((await refusedClaim(ben, "rack:a", { project_id: "other" })).code).toBe("scope_conflict");
    await claim(ann, "ticket:7");
    await claim(ben, "ticket:7", { project_id: "other" });
    expect(await refusedClaim(ben, "ticket:7/a")).toMatchObject({ code: "invalid_scope", segment: "a" });
    expect(await fresh.ask("list_claims", { kind: "ticket" }, ben)).toHaveLength(2);
    const task = await fresh.task({ scopes: ["ticket:8"] });
    await fresh.claim(task.id, ann);
    expect((await fresh.ask("check_scope", { scope: "ticket:*" }, ben)).conflicts).toHaveLength(2);
    await fresh.ask("set_scope_capacity", { scope: "ticket:9", capacity: 2 }, fresh.root);
    expect((await refusedClaim(ben, "tickets:7")).message).toMatch(
      /is no kind of this workspace.*\brack\b.*\bticket\b/,
    );
    // Another workspace has its own.
    const { key } = await fresh.store.createWorkspace("elsewhere");
    const there = { identity: { kind: "key" as const, key } };
    expect((await fresh.refusal("check_scope", { scope: "ticket:7" }, there)).code).toBe("invalid_scope");
  });

  test("are known to other processes at once, and after a restart", async () => {
    const other = await fresh.another();
    await fresh.ask("check_scope", { scope: "path:x" }, ann, other);
    await set({ ticket: {} });
    expect(await fresh.ask("check_scope", { scope: "ticket:7" }, ann, other)).toMatchObject({ free: true });
    await other.close();
    await fresh.restart();
    expect(await fresh.ask("check_scope", { scope: "ticket:7" }, ann)).toMatchObject({ free: true });
  });

  test.each([
    ["Ticket", /must be named \[a-z\]/],
    ["a".repeat(33), /must be named/],
    ["9lives", /must be named/],
    ["", /must be named/],
    ["path", /can't redefine path/],
    ["task", /can't define task/],
  ])("can't be called %j", async (name, says) => {
    const refusal = await refused({ [name]: {} });
    expect(refusal).toMatchObject({ code: "invalid_input", fields: [{ field: "kinds" }] });
    expect(refusal.message).toMatch(says);
  });

  test("keep their shape, and stay, while anything of them is frozen, waited for or on a branch that hasn't landed", async () => {
    const kinds: Kinds = { ticket: {}, tick_t: {}, rack: {}, slot_: {} };
    await set(kinds);
    const { id: unlanded_id } = await fresh.ask("declare_unlanded", { branch: "feat/x", scopes: ["ticket:42"] }, ann);
    const { id: hold_id } = await fresh.ask(
      "place_hold",
      { scope: "rack:a", reason: "moved", ttl_seconds: 600 },
      fresh.root,
    );
    expect((await refused({ ...kinds, rack: { shared: true } })).message).toMatch(/^kinds: rack: can't be removed or/);
    const { ticket: _gone, ...others } = kinds;
    expect((await refused(others)).message).toMatch(/^kinds: ticket: can't/);
    // Another kind's name that merely looks like it keeps nothing.
    const { tick_t: _like, ...rest } = kinds;
    await set(rest);
    await fresh.ask("land_unlanded", { unlanded_id }, ben);
    await fresh.ask("lift_hold", { hold_id }, fresh.root);
    await set({ rack: { shared: true } });
  });

  test("that are gone are in no way of the end of what was declared with them", async () => {
    await set({ ticket: {} });
    const { id: unlanded_id } = await fresh.ask("declare_unlanded", { branch: "feat/x", scopes: ["ticket:42"] }, ann);
    await claim(ann, "ticket:42");
    // As a store may have it from before this was refused.
    await fresh.kept.exec("UPDATE workspaces SET settings = replace(settings, 'ticket', 'titket')");
    await fresh.restart();
    expect(await fresh.ask("land_unlanded", { unlanded_id }, ben)).toMatchObject({ ended_how: "landed" });
    const { notices } = await fresh.ask("heartbeat_session", { session_id: ann.sessionId }, ann);
    expect(notices).toMatchObject([{ message: expect.stringContaining("You still hold ticket:42") }]);
  });

  test("keep their shape, and stay, while anything of them is held, declared or has places", async () => {
    await set({ ticket: {} });
    const { claims } = await claim(ann, "ticket:7");
    for (const kinds of [{}, { ticket: { tree: true } }, { ticket: { shared: true } }] as Kinds[])
      expect(await refused(kinds)).toMatchObject({ code: "invalid_input", fields: [{ field: "kinds" }] });
    await set({ ticket: {}, rack: {} });
    await fresh.ask("release_scopes", { claim_ids: [claims[0]?.id as string] }, ann);
    await set({ ticket: { tree: true } });
    const task = await fresh.task({ scopes: ["ticket:a/b"] });
    expect((await refused({})).message).toMatch(/^kinds: ticket: can't be removed or changed/);
    // It may be opened again.
    await fresh.ask("cancel_task", { task_id: task.id }, fresh.root);
    expect((await refused({})).code).toBe("invalid_input");
    await fresh.ask("delete_task", { task_id: task.id }, fresh.root);
    await set({ ticket: {} });
    await fresh.ask("set_scope_capacity", { scope: "ticket:9", capacity: 2 }, fresh.root);
    expect((await refused({})).code).toBe("invalid_input");
    await fresh.ask("set_scope_capacity", { scope: "ticket:9", capacity: 1 }, fresh.root);
    expect(await set({})).toMatchObject({ kinds: {} });
    expect((await refusedClaim(ben, "ticket:7")).code).toBe("invalid_scope");
  });
});
