import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** Each was possible once, and found by reading. */

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
});

const claim = (as: Actor, scopes: string[], more: object = {}) =>
  fresh.ask("claim_scopes", { scopes, intent: "mine", ...more }, as);
const names = async (filter: object = {}) =>
  (await fresh.ask("list_claims", filter, fresh.root)).filter(({ kind }) => kind !== "task").map(({ scope }) => scope);

describe("no two hold at once what overlaps (R16, R32)", () => {
  test("by a takeover of a task that its old holder's own claim doesn't keep from it", async () => {
    const { id } = await fresh.task({ content: "a", scopes: ["path:src/a"] });
    await claim(ann, ["path:src"]);
    await fresh.claim(id, ann);
    const other = await fresh.session(ann);
    const takeover = { task_id: id, takeover: true, reason: "it hangs" };
    expect((await fresh.refusal("claim_task", takeover, other)).code).toBe("scope_conflict");
    expect((await fresh.read(id)).claimed_by_session_id).toBe(ann.sessionId);
    await fresh.ask("release_scopes", { scopes: ["path:src"] }, ann);
    expect(await fresh.claim(id, other, { takeover: true, reason: "it hangs" })).toMatchObject({ fence: 2 });
  });

  test("by a task whose names a child of its holder's session claimed: they are the holder's, and stay when it ends", async () => {
    const parent = await fresh.session(ann, { share_with_children: true });
    const child = await fresh.session(ann, { parent_session_id: parent.sessionId });
    const { id } = await fresh.task({ content: "a" });
    await fresh.claim(id, parent);
    await claim(child, ["path:src"], { task_id: id });
    await fresh.ask("end_session", { session_id: child.sessionId }, ann);
    expect(await names()).toEqual(["path:src"]);
    expect((await fresh.refusal("claim_scopes", { scopes: ["path:src/x"], intent: "x" }, ben)).code).toBe(
      "scope_conflict",
    );
    // Nor is the task in its own way.
    await claim(parent, ["path:src/y"], { task_id: id });
  });

  test("by letters that begin or cease to count while names are held or declared", async () => {
    await claim(ann, ["path:SRC"]);
    const change = { project_id: "default", case_insensitive: true };
    expect((await fresh.refusal("update_project", change, fresh.root)).code).toBe("invalid_input");
    await fresh.ask("release_scopes", { all: true }, ann);
    const { id } = await fresh.task({ content: "a", scopes: ["path:SRC"] });
    expect((await fresh.refusal("update_project", change, fresh.root)).code).toBe("invalid_input");
    await fresh.ask("cancel_task", { task_id: id }, fresh.root);
    await fresh.ask("set_scope_capacity", { scope: "slot:GPU", capacity: 2 }, fresh.root);
    expect((await fresh.refusal("update_project", change, fresh.root)).code).toBe("invalid_input");
    await fresh.ask("set_scope_capacity", { scope: "slot:GPU", capacity: 1 }, fresh.root);
    await fresh.ask("update_project", change, fresh.root);
  });
});

describe("what was said stays true", () => {
  test("a holder that changes what its task touches keeps what it claimed beside", async () => {
    const { id } = await fresh.task({ content: "a", scopes: ["path:a"] });
    await fresh.claim(id, ann);
    await claim(ann, ["path:beside"], { task_id: id });
    await fresh.ask("update_task", { task_id: id, scopes: ["path:b"] }, ann);
    expect((await names()).sort()).toEqual(["path:b", "path:beside"]);
  });

  test("a repeated claim gives the time that is left now; a dead one is never given again as live (R59)", async () => {
    const once = { ...ann.caller, idempotencyKey: "once" };
    const input = { scopes: ["path:src"], intent: "x", ttl_seconds: 60 };
    const first = await fresh.ask("claim_scopes", input, once);
    fresh.time.pass(20_000);
    const again = await fresh.ask("claim_scopes", input, once);
    expect(again.claims).toMatchObject([{ id: first.claims[0]?.id, remaining_ms: 40_000, nested: 1 }]);
    fresh.time.pass(40_000);
    await claim(ben, ["path:src"]);
    expect(await fresh.refusal("claim_scopes", input, once)).toMatchObject({ code: "lease_lost", reason: "expired" });
  });

  test("a task that was passed over and is held or closed since is skipped by nobody", async () => {
    await claim(ann, ["path:src"]);
    const { id } = await fresh.task({ content: "a", scopes: ["path:src/a"] });
    expect(await fresh.ask("claim_next_task", {}, ben)).toMatchObject({ task: null, skipped_count: 1 });
    await fresh.claim(id, ann);
    expect(await fresh.ask("claim_next_task", {}, ben)).toMatchObject({ task: null, skipped_count: 0 });
    const { id: other } = await fresh.task({ content: "b", scopes: ["path:src/b"] });
    expect(await fresh.ask("claim_next_task", {}, ben)).toMatchObject({ skipped: [{ id: other }] });
    await fresh.ask("cancel_task", { task_id: other }, fresh.root);
    expect(await fresh.ask("claim_next_task", {}, ben)).toMatchObject({ skipped_count: 0 });
    expect(await fresh.kept.rows("SELECT id FROM tasks WHERE parked_by IS NOT NULL")).toEqual([]);
  });

  test("scopes that come with tasks count among an agent's claims (R49)", async () => {
    await fresh.ask("update_workspace", { claims_per_agent_max: 3 }, fresh.root);
    const { id } = await fresh.task({ content: "a", scopes: ["path:a", "path:b", "path:c"] });
    expect((await fresh.refusal("claim_task", { task_id: id }, ann)).code).toBe("limit_exceeded");
    await fresh.ask("update_workspace", { claims_per_agent_max: 4 }, fresh.root);
    await fresh.claim(id, ann);
    expect((await fresh.refusal("claim_scopes", { scopes: ["path:d"], intent: "x" }, ann)).code).toBe("limit_exceeded");
  });

  test("who only repeats a refused claim lives on (R9)", async () => {
    await claim(ann, ["path:src"], { ttl_seconds: 3600 });
    for (let minute = 0; minute < 20; minute += 1) {
      fresh.time.pass(60_000);
      await fresh.ask("heartbeat_session", { session_id: ann.sessionId }, ann);
      expect((await fresh.refusal("claim_scopes", { scopes: ["path:src/a"], intent: "x" }, ben)).code).toBe(
        "scope_conflict",
      );
    }
    expect(await fresh.ask("get_session", { session_id: ben.sessionId }, fresh.root)).toMatchObject({ state: "open" });
  });
});
