import { open, operations } from "dibs";
import { describe, expect, test } from "vitest";
import { freshStore } from "../support/any-store.js";
import { type Actor, byKey, FreshStore } from "../support/fresh-store.js";

/** Field reports here: C72 (1, 3, 4), C27. */

const keyOf = (actor: Actor) => (actor.caller.identity as { key: string }).key;
const works = async (fresh: FreshStore, key: string, on = fresh.store) =>
  fresh.ask("get_me", {}, byKey(key), on).then(
    () => 200,
    (thrown) => thrown.status as number,
  );

describe("keys (R48)", () => {
  test("C72: for the grace time both keys live and hold the same lease, then the old one is done", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    const { lease_id } = await fresh.claim(id, ann, { lease_seconds: 300 });
    const { key } = await fresh.ask("rotate_agent_key", { agent_id: ann.id, grace_seconds: 120 }, fresh.root);
    const [k1, k2] = [ann.caller, { ...ann.caller, ...byKey(key) }];
    const beat = (as: typeof k1) => fresh.ask("heartbeat_task", { task_id: id, lease_id: lease_id ?? "" }, as);
    fresh.time.pass(60_000);
    expect(await beat(k1)).toMatchObject({ lease_id, fence: 1 });
    fresh.time.pass(1_000);
    expect(await beat(k2)).toMatchObject({ lease_id, fence: 1 });
    fresh.time.pass(58_999);
    expect(await works(fresh, keyOf(ann))).toBe(200);
    fresh.time.pass(1);
    expect(await works(fresh, keyOf(ann))).toBe(401);
    expect(await fresh.refusal("heartbeat_task", { task_id: id }, k1)).toMatchObject({ code: "unauthorized" });
    fresh.time.pass(2_000);
    expect(await beat(k2)).toMatchObject({ lease_id, claimed_by_session_id: ann.sessionId });
  });

  test("no more than two keys live: a second rotation ends the oldest at once", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.agent("ann");
    const rotate = async () => (await fresh.ask("rotate_agent_key", { agent_id: ann.id }, fresh.root)).key;
    const keys = [keyOf(ann), await rotate(), await rotate()];
    const live = async () => Promise.all(keys.map((key) => works(fresh, key)));
    expect(await live()).toEqual([401, 200, 200]);
    const { keys: shown } = await fresh.ask("get_agent", { agent_id: ann.id }, fresh.root);
    expect(shown.map((key) => key.expires_at !== null)).toEqual([true, false]);
    fresh.time.pass(3_600_000);
    expect(await live()).toEqual([401, 401, 200]);
  });

  test("C72: revoked is revoked at once in every process; the task stays leased until its expiry", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const other = await fresh.another();
    const { id } = await fresh.task();
    await fresh.claim(id, ann, { lease_seconds: 300 });
    // Both processes have the key in mind.
    expect([await works(fresh, keyOf(ann)), await works(fresh, keyOf(ann), other)]).toEqual([200, 200]);
    const revoked = await fresh.ask("revoke_agent_key", { agent_id: ann.id }, fresh.root, other);
    expect(revoked).toEqual({ revoked: 1, tasks_released: 0 });
    // Something else is asked of the process first, as a readiness probe does all the time.
    await fresh.store.ping();
    expect([await works(fresh, keyOf(ann)), await works(fresh, keyOf(ann), other)]).toEqual([401, 401]);
    fresh.time.pass(299_999);
    expect(await fresh.next(ben)).toBeNull();
    fresh.time.pass(1);
    expect(await fresh.next(ben)).toMatchObject({ id });
    await other.close();
  });

  test("C72: revoked with release, what it held is open at once, and events say why", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    await fresh.claim(id, ann);
    const answer = await fresh.ask("revoke_agent_key", { agent_id: ann.id, release: true }, fresh.root);
    expect(answer).toEqual({ revoked: 1, tasks_released: 1 });
    expect(await fresh.read(id)).toMatchObject({ status: "open", ready: true });
    const events = await fresh.ask("list_events", {}, fresh.root);
    const ofKeys = events.filter((event) => event.type === "agent.key_rotated" || event.type === "task.released");
    expect(ofKeys).toMatchObject([
      { type: "task.released", actor: { agent_id: fresh.root.id }, data: { session_id: ann.sessionId, forced: true } },
      { type: "agent.key_rotated", data: { agent_id: ann.id, revoked: 1, tasks_released: 1 } },
    ]);
    expect(await works(fresh, keyOf(ann))).toBe(401);
  });

  test("one key of two can be revoked by its public part; an unknown part is not found", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.agent("ann");
    const { key, keys } = await fresh.ask("rotate_agent_key", { agent_id: ann.id }, fresh.root);
    const revoke = (key_id: string) => ({ agent_id: ann.id, key_id });
    expect(await fresh.ask("revoke_agent_key", revoke(keys[0]?.id ?? ""), fresh.root)).toMatchObject({ revoked: 1 });
    expect([await works(fresh, keyOf(ann)), await works(fresh, key)]).toEqual([401, 200]);
    expect(await fresh.refusal("revoke_agent_key", revoke("nothere"), fresh.root)).toMatchObject({ code: "not_found" });
  });

  test("a key stands nowhere but in the one answer that made it: not in the file, no event, no list, no error", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const made = { ...fresh.root.caller, idempotencyKey: "once" };
    const { id, key } = await fresh.ask("create_agent", { name: "ben" }, made);
    const { key: rotated } = await fresh.ask(
      "rotate_agent_key",
      { agent_id: id },
      { ...made, idempotencyKey: "twice" },
    );
    const secrets = [keyOf(ann), keyOf(fresh.root), key, rotated];
    expect(new Set(secrets).size).toBe(4);
    for (const secret of secrets) expect(secret).toMatch(/^dibs_[0-9A-Za-z]{10}_[0-9A-Za-z]{32}_[0-9a-f]{6}$/);
    const shown = JSON.stringify([
      await fresh.ask("list_agents", {}, fresh.root),
      await fresh.ask("list_events", { limit: 1000 }, fresh.root),
      await fresh.refusal("get_me", {}, byKey(`${key}x`)),
    ]);
    await fresh.restart();
    const kept = await fresh.kept.everything();
    for (const secret of secrets) {
      expect(shown).not.toContain(secret);
      expect(kept).not.toContain(secret);
    }
  });
});

describe("the first admin's key", () => {
  const KEY = "a-key-of-the-operators-own";
  const restartWith = async (fresh: FreshStore, key?: string) => {
    await fresh.restart();
    return fresh.store.ensureAdmin(key);
  };

  test("given at a start it works from then on, though it was rotated away or its agent deleted since", async () => {
    const fresh = await FreshStore.open();
    const { agentId } = await restartWith(fresh, KEY);
    expect(await works(fresh, KEY)).toBe(200);
    await fresh.ask("rotate_agent_key", { agent_id: agentId, grace_seconds: 0 }, byKey(KEY));
    expect(await works(fresh, KEY)).toBe(401);
    await restartWith(fresh, KEY);
    expect(await works(fresh, KEY)).toBe(200);
    const boss = await fresh.agent("boss", "admin", { ...fresh.root, caller: byKey(KEY) });
    await fresh.ask("delete_agent", { agent_id: agentId, force: true, reason: "gone" }, boss);
    expect(await works(fresh, KEY)).toBe(401);
    await restartWith(fresh, KEY);
    expect(await fresh.ask("get_me", {}, byKey(KEY))).toMatchObject({ role: "admin" });
  });

  test("is an admin's, though somebody named admin used the bare file before", async () => {
    const fresh = await FreshStore.open();
    await fresh.ask("delete_agent", { agent_id: fresh.root.id, force: true, reason: "gone" }, fresh.root);
    await fresh.task({}, { ...fresh.root, caller: { identity: { kind: "file", agent: "Admin" } } });
    const { key } = await restartWith(fresh);
    expect(await fresh.ask("get_me", {}, byKey(key ?? ""))).toMatchObject({ role: "admin" });
    expect(await fresh.ask("update_workspace", { max_attempts: 7 }, byKey(key ?? ""))).toMatchObject({
      max_attempts: 7,
    });
  });

  test("is made once: a start that finds one makes none", async () => {
    const fresh = await FreshStore.open();
    expect(await restartWith(fresh)).toEqual({ agentId: fresh.root.id });
  });

  test("the page's sign-in code is good once and for 10 minutes, its cookie for 30 days or until it is ended (R45)", async () => {
    const fresh = await FreshStore.open();
    const { store, time } = fresh;
    const { code } = await store.issueSignInCode();
    time.pass(10 * 60_000 - 1);
    const { token, expiresAtMs } = await store.redeemSignInCode(code);
    await expect(store.redeemSignInCode(code)).rejects.toMatchObject({ code: "unauthorized" });
    const late = await store.issueSignInCode();
    time.pass(10 * 60_000);
    await expect(store.redeemSignInCode(late.code)).rejects.toMatchObject({ code: "unauthorized" });
    const me = () => fresh.ask("get_me", {}, { identity: { kind: "cookie", token } });
    expect(await me()).toMatchObject({ role: "admin" });
    time.pass(expiresAtMs - time.wallMs() - 1);
    expect(await me()).toMatchObject({ role: "admin" });
    time.pass(1);
    await expect(me()).rejects.toMatchObject({ code: "unauthorized" });
    const again = await store.redeemSignInCode((await store.issueSignInCode()).code);
    await store.dropSignIn(again.token);
    await expect(fresh.ask("get_me", {}, { identity: { kind: "cookie", token: again.token } })).rejects.toMatchObject({
      code: "unauthorized",
    });
  });
});

describe("agents that are renamed or deleted while they hold work (C27)", () => {
  test("renamed, it goes on holding under its id; refusals show the new name, history the old one", async () => {
    const fresh = await FreshStore.open();
    const [ann, ben] = [await fresh.worker("ann"), await fresh.worker("ben")];
    const { id } = await fresh.task();
    await fresh.claim(id, ann);
    await fresh.ask("update_agent", { agent_id: ann.id, name: "ann2" }, fresh.root);
    expect(await fresh.ask("heartbeat_task", { task_id: id }, ann)).toMatchObject({ claimed_by_agent_id: ann.id });
    const refused = await fresh.refusal("claim_task", { task_id: id }, ben);
    expect(refused.holder).toMatchObject({ agent_id: ann.id, agent_name: "ann2" });
    const claimed = (await fresh.ask("get_task_history", { task_id: id }, ben)).find((e) => e.type === "task.claimed");
    expect(claimed?.actor).toMatchObject({ agent_id: ann.id, agent_name: "ann" });
  });

  test("deleting one that holds something is refused with what it holds, and changes nothing", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    await fresh.claim(id, ann);
    const refused = await fresh.refusal("delete_agent", { agent_id: ann.id }, fresh.root);
    expect(refused).toMatchObject({ code: "agent_has_claims", claims: [{ task_id: id, agent_id: ann.id }] });
    expect(await fresh.ask("heartbeat_task", { task_id: id }, ann)).toMatchObject({ status: "claimed" });
  });

  test("forced, its claims are revoked with it; a new agent of the name inherits nothing, the old key is dead", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.worker("ann");
    const { id } = await fresh.task();
    const { lease_id } = await fresh.claim(id, ann);
    const deleted = await fresh.ask("delete_agent", { agent_id: ann.id, force: true, reason: "gone" }, fresh.root);
    expect(deleted).toEqual({ deleted: true, id: ann.id, tasks_released: 1, tasks_unassigned: 0 });
    expect(await fresh.read(id)).toMatchObject({ status: "open", ready: true, lapsed: false });
    expect(await works(fresh, keyOf(ann))).toBe(401);
    const anew = await fresh.worker("Ann");
    expect(anew.id).not.toBe(ann.id);
    expect(await fresh.ask("list_claims", { agent_id: anew.id }, anew)).toEqual([]);
    expect(await fresh.refusal("list_sessions", { agent_id: ann.id }, anew)).toMatchObject({ code: "not_found" });
    const refused = await fresh.refusal("heartbeat_task", { task_id: id, lease_id: lease_id ?? "" }, anew);
    expect(refused).toMatchObject({ code: "lease_lost", reason: "never_held" });
    expect(await works(fresh, keyOf(ann))).toBe(401);
    const history = await fresh.ask("get_task_history", { task_id: id }, anew);
    expect(history.find((event) => event.type === "task.claimed")?.actor).toMatchObject({ agent_name: "ann" });
  });

  test("names are unique after case folding, and plain", async () => {
    const fresh = await FreshStore.open();
    const ann = await fresh.agent("Ann-1.x_y");
    const taken = await fresh.refusal("create_agent", { name: "aNN-1.X_Y" }, fresh.root);
    expect(taken).toMatchObject({ code: "already_exists" });
    for (const name of ["", "a b", "ä", "a/b", "x".repeat(65), "a\n"]) {
      const refused = await fresh.refusal("create_agent", { name }, fresh.root);
      expect(refused, name).toMatchObject({ code: "invalid_input", fields: [{ field: "name" }] });
    }
    // Its own name in other letters is no clash.
    const renamed = await fresh.ask("update_agent", { agent_id: ann.id, name: "ANN-1.X_Y" }, fresh.root);
    expect(renamed.name).toBe("ANN-1.X_Y");
  });
});

test("the first admin is an admin, also where a bare file's user of that name came first (R46)", async () => {
  const kept = await freshStore();
  const store = await open({ store: kept.url });
  const user = await store.call(operations.get_me, {}, { identity: { kind: "file", agent: "admin" } });
  expect(user.body).toMatchObject({ name: "admin", role: "worker" });
  const { agentId, key } = await store.ensureAdmin();
  const me = await store.call(operations.get_me, {}, byKey(key ?? ""));
  expect(me.body).toMatchObject({ id: agentId, role: "admin" });
  expect(await store.ensureAdmin()).toEqual({ agentId });
  await store.close();
  await kept.remove();
});
