import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

/** A task's context: data for whoever works on it, under a version of its own. */

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
});

type Change = Omit<Input<"change_task_context">, "task_id">;
const change = (id: string, input: Change, as: Actor = ann) =>
  fresh.ask("change_task_context", { task_id: id, ...input }, as);
const refused = (id: string, input: Change, as: Actor = ann) =>
  fresh.refusal("change_task_context", { task_id: id, ...input }, as);
const read = (id: string, version?: number) => fresh.ask("get_task_context", { task_id: id, version }, ben);
const versions = (id: string) => fresh.ask("list_context_versions", { task_id: id }, ben);

describe("what a context becomes", () => {
  test("is merged as RFC 7396 says: null removes a key, objects are merged inside, all else takes its place", async () => {
    const context = { repo: "web", build: { node: 20, flags: ["a"] }, draft: true };
    const { id } = await fresh.task({ context }, ann);
    const merged = await change(id, {
      context: {
        build: { node: 22, flags: ["b"], cache: null, deep: { er: 1, gone: null } },
        draft: null,
        toString: 1,
      },
    });
    const now = { repo: "web", build: { node: 22, flags: ["b"], deep: { er: 1 } }, toString: 1 };
    expect(merged).toMatchObject({ task_id: id, context: now, version: 2, agent_id: ann.id, agent_name: "ann" });
    expect(merged.session_id).toBe(ann.sessionId);
    expect(await fresh.read(id)).toMatchObject({ context: now, context_version: 2 });
    expect((await change(id, { context: { repo: { name: "web" } } })).context.repo).toEqual({ name: "web" });
  });

  test("is exactly what replaces it, nulls included", async () => {
    const { id } = await fresh.task({ context: { a: 1 } }, ann);
    expect((await change(id, { context: { b: null }, replace: true })).context).toEqual({ b: null });
    expect((await change(id, { context: {}, replace: true })).context).toEqual({});
  });

  test("starts from nothing where the task came without one, at version 0", async () => {
    const { id } = await fresh.task({}, ann);
    const none = { context: {}, version: 0, agent_id: null, agent_name: null, session_id: null, created_at: null };
    expect(await read(id)).toEqual({ task_id: id, ...none });
    expect(await fresh.read(id)).toMatchObject({ context: null, context_version: 0 });
    expect(await versions(id)).toEqual([]);
    expect(await change(id, { context: { a: 1 }, expected_version: 0 })).toMatchObject({
      context: { a: 1 },
      version: 1,
    });
    expect(await versions(id)).toMatchObject([{ version: 1, changed: ["a"], agent_id: ann.id }]);
  });

  test("stays as it is, in version and history, by a change that says the same", async () => {
    const { id } = await fresh.task({ context: { a: { b: 1 } } }, ann);
    const before = await fresh.read(id);
    expect(await change(id, { context: { a: { b: 1 }, c: null } })).toMatchObject({ version: 1 });
    expect(await fresh.read(id)).toEqual(before);
    expect(await fresh.history(id)).toEqual(["task.created"]);
  });

  test("has at most 100,000 characters, also when it is put together, and says so", async () => {
    const { id } = await fresh.task({ context: { big: "x".repeat(60_000) } }, ann);
    for (const refusal of [
      await refused(id, { context: { more: "y".repeat(60_000) } }),
      await refused(id, { context: { big: "x".repeat(100_001) }, replace: true }),
      await fresh.refusal("create_task", { content: "x", context: { big: "x".repeat(100_001) } }, ann),
    ]) {
      expect(refusal).toMatchObject({ code: "invalid_input", fields: [{ field: "context" }] });
      expect(refusal.message).toMatch(/at most 100,000 characters as JSON; keep large things elsewhere/);
    }
    expect(await read(id)).toMatchObject({ version: 1 });
  });
});

describe("versions", () => {
  test("each is kept with who and when, and an older one can be read", async () => {
    const { id } = await fresh.task({ context: { a: 1, b: 1 } }, ann);
    const created = fresh.time.iso();
    fresh.time.pass(1_000);
    await change(id, { context: { a: 2, b: null, c: 3 } });
    const second = fresh.time.iso();
    fresh.time.pass(1_000);
    await fresh.claim(id, ben);
    await change(id, { context: { done: true } }, ben);
    expect(await versions(id)).toMatchObject([
      { version: 3, changed: ["done"], agent_name: "ben", session_id: ben.sessionId },
      { version: 2, changed: ["a", "b", "c"], agent_name: "ann", created_at: second },
      { version: 1, changed: ["a", "b"], agent_name: "ann", session_id: null, created_at: created },
    ]);
    expect(await read(id, 1)).toMatchObject({ version: 1, context: { a: 1, b: 1 }, created_at: created });
    expect(await read(id, 2)).toMatchObject({ version: 2, context: { a: 2, c: 3 }, agent_name: "ann" });
    expect(await read(id, 3)).toEqual(await read(id));
    expect(
      (await fresh.ask("list_context_versions", { task_id: id, limit: 2 }, ann)).map((each) => each.version),
    ).toEqual([3, 2]);
  });

  test("one that is not there is not found, and told from one that is kept no more", async () => {
    const { id } = await fresh.task({ context: { n: 0 } }, ann);
    for (let n = 1; n <= 101; n += 1) await change(id, { context: { n } });
    expect(await read(id)).toMatchObject({ version: 102, context: { n: 101 } });
    expect(await read(id, 3)).toMatchObject({ context: { n: 2 } });
    const ask = (version: number) => fresh.refusal("get_task_context", { task_id: id, version }, ann);
    expect(await ask(2)).toMatchObject({
      code: "not_found",
      message: expect.stringMatching(/kept no more.*at 102.*last 100/),
    });
    expect(await ask(103)).toMatchObject({ code: "not_found", message: expect.stringContaining("is not there yet") });
    expect(await fresh.ask("list_context_versions", { task_id: id, limit: 1000 }, ann)).toHaveLength(100);
  });

  test("a change under another version than the one read is refused with the present one, by header and by field", async () => {
    const { id } = await fresh.task({ context: { a: 1 } }, ann);
    await change(id, { context: { a: 2 } });
    const stale = { ...ann, caller: { ...ann.caller, ifVersion: 1 } };
    for (const refusal of [
      await refused(id, { context: { a: 3 } }, stale),
      await refused(id, { context: { a: 3 }, expected_version: 1 }),
    ]) {
      expect(refusal).toMatchObject({ code: "version_mismatch", version: 2 });
      expect(refusal.message).toContain("is at version 2; read it again");
    }
    expect(await change(id, { context: { a: 3 }, expected_version: 2 })).toMatchObject({ version: 3 });
  });

  test("the task's own version moves too, so that nobody overwrites what was merged meanwhile", async () => {
    const { id, version } = await fresh.task({ context: { a: 1 } }, ann);
    await change(id, { context: { b: 2 } });
    const stale = { ...ann, caller: { ...ann.caller, ifVersion: version } };
    expect(await fresh.refusal("update_task", { task_id: id, context: { mine: 1 } }, stale)).toMatchObject({
      code: "version_mismatch",
    });
  });

  test("a context changed with the task's other fields is a version like any other; null clears it", async () => {
    const { id } = await fresh.task({ context: { a: 1 } }, ann);
    await fresh.ask("update_task", { task_id: id, context: { a: 2 }, priority: 4 }, ann);
    await fresh.ask("update_task", { task_id: id, priority: 3, context: { a: 2 } }, ann);
    await fresh.ask("update_task", { task_id: id, context: null }, ann);
    expect((await versions(id)).map(({ version, changed }) => [version, changed])).toEqual([
      [3, ["a"]],
      [2, ["a"]],
      [1, ["a"]],
    ]);
    expect(await read(id)).toMatchObject({ version: 3, context: {} });
    expect(await fresh.read(id)).toMatchObject({ context: null, context_version: 3 });
    expect(await change(id, { context: { new: 1 } })).toMatchObject({ version: 4 });
  });

  test("every change writes its event, with the version and the keys", async () => {
    const { id } = await fresh.task({}, ann);
    await change(id, { context: { a: 1 } });
    const [event] = await fresh.ask("list_events", { types: ["task.updated"], task_id: id }, ben);
    expect(event).toMatchObject({
      data: { fields: ["context"], context_version: 1, changed: ["a"] },
      actor: { agent_name: "ann" },
    });
  });
});

describe("whose it is to change (R19, R46)", () => {
  test("while it is held its holder's alone: others comment", async () => {
    const { id } = await fresh.task({ context: { a: 1 } }, ann);
    const { lease_id, fence } = await fresh.claim(id, ben);
    expect(await refused(id, { context: { a: 2 } })).toMatchObject({
      code: "task_claimed",
      holder: { agent_name: "ben" },
    });
    expect(await refused(id, { context: { a: 2 } }, fresh.root)).toMatchObject({ code: "task_claimed" });
    const given = { lease_id: lease_id as string, fence };
    expect(await change(id, { ...given, context: { a: 3 } }, ben)).toMatchObject({ context: { a: 3 } });
  });

  test("free, its creator's, its assignee's and a coordinator's", async () => {
    const { id } = await fresh.task({}, ann);
    expect(await refused(id, { context: { a: 1 } }, ben)).toMatchObject({ code: "forbidden" });
    await change(id, { context: { a: 1 } }, ann);
    await change(id, { context: { a: 2 } }, fresh.root);
    await fresh.ask("update_task", { task_id: id, assigned_to_agent_id: ben.id }, fresh.root);
    expect(await change(id, { context: { a: 3 } }, ben)).toMatchObject({ version: 3 });
  });

  test("a holder whose lease is over, and names it, changes nothing (R3)", async () => {
    const { id } = await fresh.task({ context: { a: 1 } }, ben);
    const { lease_id } = await fresh.claim(id, ben, { lease_seconds: 30 });
    fresh.time.pass(30_000);
    expect(await refused(id, { lease_id: lease_id as string, context: { late: true } }, ben)).toMatchObject({
      code: "lease_lost",
      reason: "expired",
    });
    expect(await read(id)).toMatchObject({ version: 1 });
  });
});
