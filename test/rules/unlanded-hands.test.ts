import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/** Unlanded work (R42) with what changes hands, and with stewards that are no more (R48). */

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
let cat: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  [ann, ben, cat] = [await fresh.worker("ann"), await fresh.worker("ben"), await fresh.worker("cat")];
});

const declare = (as: Actor, branch: string, scopes: string[]) =>
  fresh.ask("declare_unlanded", { branch, scopes, intent: "the new login" }, as);
const transfer = (id: string, to: Actor, as: Actor) =>
  fresh.ask("transfer_unlanded", { unlanded_id: id, to_agent_id: to.id }, as);
const noticesOf = async (as: Actor) =>
  (await fresh.ask("get_session", { session_id: as.sessionId }, as)).notices.map(({ type }) => type);

describe("unlanded work that overlaps what is handed over (R42, R39)", () => {
  test("is told to who accepts a task, and again to who asks again", async () => {
    const work = await declare(cat, "feat/login", ["path:src/auth"]);
    await declare(cat, "feat/docs", ["path:docs"]);
    const { id } = await fresh.task({ scopes: ["path:src"] });
    await fresh.claim(id, ann);
    const { id: handoff_id } = await fresh.ask("handoff_task", { task_id: id, to_agent_id: ben.id }, ann);
    const accepted = await fresh.ask("accept_handoff", { handoff_id }, ben);
    expect(accepted.unlanded).toEqual([work]);
    expect(await fresh.ask("accept_handoff", { handoff_id }, ben)).toEqual(accepted);
  });

  test("is told to who accepts a scope, also where that is refused; where nothing overlaps nothing is said", async () => {
    const work = await declare(cat, "feat/login", ["path:src/auth"]);
    const offered = async (scope: string) => {
      const { claims } = await fresh.ask("claim_scopes", { scopes: [scope], intent: "x" }, ann);
      const offer = { claim_id: claims?.[0]?.id ?? "", to_agent_id: ben.id };
      return { handoff_id: (await fresh.ask("handoff_claim", offer, ann)).id };
    };
    const src = await offered("path:src");
    // Beside ann's own claim of the tree, one of hers under it is in ben's way.
    const under = await offered("path:src/auth");
    expect(await fresh.refusal("accept_handoff", src, ben)).toMatchObject({
      code: "scope_conflict",
      unlanded: [{ branch: "feat/login" }],
    });
    await fresh.ask("release_scopes", { scopes: ["path:src"] }, ann);
    expect((await fresh.ask("accept_handoff", under, ben)).unlanded).toEqual([work]);
    expect((await fresh.ask("accept_handoff", await offered("path:docs"), ben)).unlanded).toBeUndefined();
  });
});

describe("the agent to whom unlanded work is offered (R54)", () => {
  test("is told in all its sessions, later ones too, once however often it is asked, until it has answered", async () => {
    const { id } = await declare(ann, "feat/x", ["path:a"]);
    await transfer(id, ben, ann);
    await transfer(id, ben, ann);
    const later = await fresh.session(ben);
    for (const session of [ben, later]) expect(await noticesOf(session)).toEqual(["unlanded.offered"]);
    const [told] = (await fresh.ask("get_session", { session_id: ben.sessionId }, ben)).notices;
    expect(told?.message).toContain(`feat/x, unlanded work of ann: accept_unlanded or decline_unlanded`);
    expect(told?.data).toMatchObject({ unlanded_id: id, branch: "feat/x", from_agent_id: ann.id });
    expect(await noticesOf(cat)).toEqual([]);
    await fresh.ask("accept_unlanded", { unlanded_id: id }, later);
    for (const session of [ben, later]) expect(await noticesOf(session)).toEqual([]);
  });

  test.each<[string, (id: string) => Promise<unknown>]>([
    ["was declined", (id) => fresh.ask("decline_unlanded", { unlanded_id: id }, ben)],
    ["was taken back", (id) => fresh.ask("decline_unlanded", { unlanded_id: id }, ann)],
    ["went to another", (id) => transfer(id, cat, ann)],
    ["has landed", (id) => fresh.ask("land_unlanded", { unlanded_id: id }, cat)],
    ["was pruned", () => fresh.ask("prune_unlanded", { branches: ["main"] }, cat)],
  ])("is told no more when it %s", async (_what, end) => {
    const { id } = await declare(ann, "feat/x", ["path:a"]);
    await transfer(id, ben, ann);
    expect(await noticesOf(ben)).toEqual(["unlanded.offered"]);
    await end(id);
    expect(await noticesOf(ben)).toEqual([]);
  });
});

describe("who asked another to look after unlanded work (R54)", () => {
  const told = async (as: Actor) => (await fresh.ask("get_session", { session_id: as.sessionId }, as)).notices;
  const asked = async () => {
    const { id } = await declare(ann, "feat/x", ["path:a"]);
    await transfer(id, ben, ann);
    return id;
  };

  test("is told that it was declined, with the reason, and whose it is still", async () => {
    const unlanded_id = await asked();
    await fresh.ask("decline_unlanded", { unlanded_id, reason: "no time" }, ben);
    const [notice, ...others] = await told(ann);
    expect(notice).toMatchObject({
      type: "unlanded.answered",
      message: "ben declined to look after feat/x: no time. It is yours still.",
      data: { unlanded_id, branch: "feat/x", agent_id: ben.id, answer: "declined", reason: "no time" },
    });
    expect([others, await told(ben)]).toEqual([[], []]);
  });

  test("is told that it was accepted; who took it back is told nothing", async () => {
    const unlanded_id = await asked();
    await fresh.ask("decline_unlanded", { unlanded_id }, ann);
    expect(await told(ann)).toEqual([]);
    await transfer(unlanded_id, ben, ann);
    await fresh.ask("accept_unlanded", { unlanded_id }, ben);
    expect(await told(ann)).toMatchObject([{ type: "unlanded.answered", data: { answer: "accepted" } }]);
  });

  test("is told in the session that asked, or where that has ended in what its agent has open", async () => {
    const { id: unlanded_id } = await declare(ann, "feat/x", ["path:a"]);
    const [asking, other] = [await fresh.session(ann), await fresh.session(ann)];
    await transfer(unlanded_id, ben, asking);
    await fresh.ask("decline_unlanded", { unlanded_id }, ben);
    expect([await noticesOf(asking), await noticesOf(ann)]).toEqual([["unlanded.answered"], []]);
    await transfer(unlanded_id, ben, asking);
    await fresh.ask("end_session", { session_id: asking.sessionId }, asking);
    await fresh.ask("decline_unlanded", { unlanded_id }, ben);
    expect([await noticesOf(ann), await noticesOf(other)]).toEqual([["unlanded.answered"], ["unlanded.answered"]]);
  });

  test("is told when the one it asked was deleted, which asks nobody any more", async () => {
    await asked();
    await fresh.ask("delete_agent", { agent_id: ben.id }, fresh.root);
    expect(await told(ann)).toMatchObject([
      { message: expect.stringContaining("ben, who was asked"), data: { answer: "declined" } },
    ]);
    expect(await fresh.ask("list_unlanded", {}, cat)).toMatchObject([{ transfer_to_agent_id: null }]);
  });

  test("is told as a coordinator where the steward is no more", async () => {
    const { id: unlanded_id } = await declare(ann, "feat/x", ["path:a"]);
    await fresh.ask("delete_agent", { agent_id: ann.id }, fresh.root);
    const lead = await fresh.worker("lead", "coordinator");
    await transfer(unlanded_id, ben, lead);
    await fresh.ask("decline_unlanded", { unlanded_id }, ben);
    expect(await noticesOf(lead)).toEqual(["unlanded.answered"]);
  });
});

describe("unlanded work whose steward was deleted (R42, R48)", () => {
  const orphaned = async () => {
    const work = await declare(ann, "feat/x", ["path:a"]);
    expect(work.agent_deleted).toBe(false);
    await fresh.ask("delete_agent", { agent_id: ann.id }, fresh.root);
    return work.id;
  };

  test("is told and listed as such, and a coordinator hands it to another, who must accept", async () => {
    const id = await orphaned();
    const { unlanded } = await fresh.ask("claim_scopes", { scopes: ["path:a"], intent: "x" }, ben);
    expect(unlanded).toMatchObject([{ id, agent_name: "ann", agent_deleted: true }]);
    const to = { unlanded_id: id, to_agent_id: cat.id };
    expect((await fresh.refusal("transfer_unlanded", to, ben)).code).toBe("forbidden");
    expect(await transfer(id, cat, fresh.root)).toMatchObject({ agent_deleted: true, transfer_to_agent_id: cat.id });
    const taken = await fresh.ask("accept_unlanded", { unlanded_id: id }, cat);
    expect(taken).toMatchObject({ agent_name: "cat", agent_deleted: false, hops: 1 });
    expect(await fresh.ask("list_unlanded", {}, ben)).toEqual([taken]);
  });

  test("is looked after by who declares the branch again, which resets no hops and ends what was asked of others", async () => {
    const id = await orphaned();
    await transfer(id, cat, fresh.root);
    const mine = await declare(ben, "feat/x", ["path:b"]);
    expect(mine).toMatchObject({ id, agent_name: "ben", agent_deleted: false, hops: 0, transfer_to_agent_id: null });
    expect(await noticesOf(cat)).toEqual([]);
    expect((await fresh.refusal("accept_unlanded", { unlanded_id: id }, cat)).code).toBe("forbidden");
    expect((await fresh.refusal("declare_unlanded", { branch: "feat/x", scopes: ["path:b"] }, cat)).code).toBe(
      "already_exists",
    );
  });
});
