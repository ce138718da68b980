import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore } from "../support/fresh-store.js";

const DAY_MS = 86_400_000;
let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
let cat: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  const living = async (name: string) => fresh.session(await fresh.agent(name), { ttl_seconds: 86_400 });
  [ann, ben, cat] = [await living("ann"), await living("ben"), await living("cat")];
});

const declare = (as: Actor, branch: string, scopes: string[], more: object = {}) =>
  fresh.ask("declare_unlanded", { branch, scopes, ...more }, as);
const claim = (as: Actor, scopes: string[], more: object = {}) =>
  fresh.ask("claim_scopes", { scopes, intent: "mine", ...more }, as);
const list = (more: object = {}) => fresh.ask("list_unlanded", more, ben);
const types = async () =>
  (await fresh.ask("list_events", { limit: 1000 }, fresh.root)).map(({ type }) => type).filter((t) => /^unl/.test(t));
const branches = (rows: readonly { branch: string }[] | undefined) => rows?.map(({ branch }) => branch);
const hand = async (id: string, from: Actor, to: Actor) => {
  await fresh.ask("transfer_unlanded", { unlanded_id: id, to_agent_id: to.id }, from);
  return fresh.ask("accept_unlanded", { unlanded_id: id }, to);
};

describe("unlanded work (R42)", () => {
  test("is told with every claim that overlaps it, granted or refused, and refuses none", async () => {
    const work = await declare(ann, "feat/login", ["path:src/auth", "port:3000"], { intent: "the new login" });
    expect(work).toMatchObject({
      branch: "feat/login",
      scopes: ["path:src/auth", "port:3000"],
      intent: "the new login",
      agent_name: "ann",
      hops: 0,
      transfer_to_agent_id: null,
      expires_at: fresh.time.iso(14 * DAY_MS),
      ended_at: null,
    });
    await declare(cat, "feat/docs", ["path:docs/**/*.md"]);
    expect((await claim(ben, ["path:src/auth/login.ts", "path:docs/a/b.md"])).unlanded).toEqual([
      work,
      expect.objectContaining({ branch: "feat/docs" }),
    ]);
    expect((await claim(ben, ["path:web"])).unlanded).toEqual([]);
    const refused = await fresh.refusal("claim_scopes", { scopes: ["path:src"], intent: "x" }, cat);
    expect(refused).toMatchObject({ code: "scope_conflict", unlanded: [{ branch: "feat/login" }] });
    await fresh.ask("place_hold", { scope: "path:src", reason: "x", ttl_seconds: 60 }, fresh.root);
    const frozen = await fresh.refusal("claim_scopes", { scopes: ["path:src/auth"], intent: "x" }, cat);
    expect(frozen).toMatchObject({ code: "frozen", unlanded: [{ branch: "feat/login" }] });
    expect(
      (await fresh.refusal("claim_scopes", { scopes: ["path:src/x"], intent: "x" }, cat)).unlanded,
    ).toBeUndefined();
  });

  test("is told with a task whose scopes it overlaps, and with none else", async () => {
    await declare(ann, "feat/login", ["path:src/auth"]);
    const near = await fresh.task({ content: "near", scopes: ["path:src"] });
    const far = await fresh.task({ content: "far", scopes: ["path:docs"] });
    const next = await fresh.ask("claim_next_task", {}, ben);
    expect([next.task?.id, branches(next.unlanded)]).toEqual([near.id, ["feat/login"]]);
    expect(await fresh.ask("claim_next_task", {}, ben)).not.toHaveProperty("unlanded");
    for (const { id } of [near, far]) await fresh.ask("release_task", { task_id: id }, ben);
    expect(branches((await fresh.ask("claim_task", { task_id: near.id }, ben)).unlanded)).toEqual(["feat/login"]);
    await fresh.ask("release_task", { task_id: near.id }, ben);
    await claim(cat, ["path:src"]);
    expect(await fresh.refusal("claim_task", { task_id: near.id }, ben)).toMatchObject({
      code: "scope_conflict",
      unlanded: [{ branch: "feat/login" }],
    });
    const why = await fresh.ask("get_task_why", { task_id: near.id }, ben);
    expect(why.details).toMatchObject({ unlanded: [{ branch: "feat/login" }] });
  });

  test("of names that all projects share is told in all of them, others only in its own", async () => {
    await fresh.ask("create_project", { key: "web" }, fresh.root);
    await declare(ann, "feat/x", ["path:src", "port:3000"], { project_id: "web" });
    expect((await claim(ben, ["path:src"])).unlanded).toEqual([]);
    expect(branches((await claim(ben, ["port:3000"])).unlanded)).toEqual(["feat/x"]);
  });

  test("is listed by project, branch, steward and what it overlaps", async () => {
    await declare(ann, "feat/a", ["path:src/a"]);
    await declare(ben, "feat/b", ["path:src/b", "path:docs"]);
    expect(branches(await list())).toEqual(["feat/a", "feat/b"]);
    expect(branches(await list({ branch: "feat/b" }))).toEqual(["feat/b"]);
    expect(branches(await list({ agent_id: ann.id }))).toEqual(["feat/a"]);
    expect(branches(await list({ scope: "path:src" }))).toEqual(["feat/a", "feat/b"]);
    expect(branches(await list({ scope: "path:docs/*.md" }))).toEqual(["feat/b"]);
    expect(branches(await list({ limit: 1 }))).toEqual(["feat/a"]);
    expect(await fresh.refusal("list_unlanded", { agent_id: "f".repeat(32) }, ann)).toMatchObject({
      code: "not_found",
    });
  });

  test("declared again is about the new scopes, for another 14 days; 14 days at most, by the clock alone", async () => {
    const { id } = await declare(ann, "feat/x", ["path:a"]);
    fresh.time.pass(10 * DAY_MS);
    ann = await fresh.session(ann);
    const again = await declare(ann, "feat/x", ["path:b"], { intent: "more" });
    expect(again).toMatchObject({ id, scopes: ["path:b"], expires_at: fresh.time.iso(14 * DAY_MS) });
    ben = await fresh.session(ben);
    expect((await claim(ben, ["path:a"])).unlanded).toEqual([]);
    expect(branches((await claim(ben, ["path:b"])).unlanded)).toEqual(["feat/x"]);
    fresh.time.pass(14 * DAY_MS - 1);
    expect(branches(await list())).toEqual(["feat/x"]);
    fresh.time.pass(1);
    expect(await list()).toEqual([]);
    expect(await list({ ended: true })).toMatchObject([{ id, ended_how: "expired", ended_at: fresh.time.iso() }]);
    expect((await claim(await fresh.session(ben), ["path:b"])).unlanded).toEqual([]);
    // Whoever goes on with it may say so.
    expect(await declare(await fresh.session(cat), "feat/x", ["path:b"])).toMatchObject({ id, agent_name: "cat" });
  });

  test("has one steward: others who declare it are told who", async () => {
    await declare(ann, "feat/x", ["path:a"]);
    const refused = await fresh.refusal("declare_unlanded", { branch: "feat/x", scopes: ["path:b"] }, ben);
    expect(refused).toMatchObject({
      code: "already_exists",
      message: expect.stringMatching(/^ann looks after feat\/x/),
    });
  });

  test("declared by two at one instant, through two processes, is one's", async () => {
    const other = await fresh.another();
    for (let round = 0; round < 10; round += 1) {
      const input = { branch: `feat/${round}`, scopes: ["path:a"] };
      const both = await Promise.allSettled([
        fresh.ask("declare_unlanded", input, ann),
        fresh.ask("declare_unlanded", input, ben, other),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    }
    expect(await list()).toHaveLength(10);
    await other.close();
  });
});

describe("a transfer", () => {
  test("must be accepted; until then it stays where it is", async () => {
    const { id } = await declare(ann, "feat/x", ["path:a"]);
    const asked = await fresh.ask("transfer_unlanded", { unlanded_id: id, to_agent_id: ben.id }, ann);
    expect(asked).toMatchObject({ agent_name: "ann", transfer_to_agent_id: ben.id, hops: 0 });
    expect(await fresh.refusal("accept_unlanded", { unlanded_id: id }, cat)).toMatchObject({ code: "forbidden" });
    const taken = await fresh.ask("accept_unlanded", { unlanded_id: id }, ben);
    expect(taken).toMatchObject({ agent_id: ben.id, agent_name: "ben", hops: 1, transfer_to_agent_id: null });
    expect(await fresh.ask("accept_unlanded", { unlanded_id: id }, ben)).toEqual(taken);
    expect(await fresh.refusal("transfer_unlanded", { unlanded_id: id, to_agent_id: cat.id }, ann)).toMatchObject({
      code: "forbidden",
    });
    expect(await types()).toEqual(["unlanded.declared", "unlanded.offered", "unlanded.transferred"]);
  });

  test("can be declined, and taken back; then it can't be accepted", async () => {
    const { id } = await declare(ann, "feat/x", ["path:a"]);
    for (const by of [ben, ann]) {
      await fresh.ask("transfer_unlanded", { unlanded_id: id, to_agent_id: ben.id }, ann);
      expect(await fresh.ask("decline_unlanded", { unlanded_id: id }, by)).toMatchObject({
        agent_name: "ann",
        transfer_to_agent_id: null,
      });
      expect((await fresh.refusal("accept_unlanded", { unlanded_id: id }, ben)).code).toBe("forbidden");
    }
    expect((await fresh.refusal("decline_unlanded", { unlanded_id: id }, cat)).code).toBe("forbidden");
  });

  test("happens three times at most, however it is declared, ended and declared again", async () => {
    const { id } = await declare(ann, "feat/x", ["path:a"]);
    await hand(id, ann, ben);
    await hand(id, ben, cat);
    expect(await hand(id, cat, ann)).toMatchObject({ hops: 3 });
    const refused = () => fresh.refusal("transfer_unlanded", { unlanded_id: id, to_agent_id: ben.id }, ann);
    expect(await refused()).toMatchObject({ code: "limit_exceeded", setting: "unlanded_hops", limit: 3 });
    expect(await declare(ann, "feat/x", ["path:b"])).toMatchObject({ id, hops: 3 });
    expect((await refused()).code).toBe("limit_exceeded");
    await fresh.ask("prune_unlanded", { branches: ["main"] }, ann);
    expect((await refused()).code).toBe("unlanded_ended");
    expect(await declare(ann, "feat/x", ["path:b"])).toMatchObject({ id, hops: 3 });
    expect((await refused()).code).toBe("limit_exceeded");
  });

  test("needs another agent that is there, or a coordinator's word where the steward is silent", async () => {
    const { id } = await declare(ann, "feat/x", ["path:a"]);
    const to = (agent: string, as: Actor) =>
      fresh.refusal("transfer_unlanded", { unlanded_id: id, to_agent_id: agent }, as);
    expect(await to(ann.id, ann)).toMatchObject({ code: "invalid_input", fields: [{ field: "to_agent_id" }] });
    expect((await to("f".repeat(32), ann)).code).toBe("not_found");
    expect((await to(ben.id, cat)).code).toBe("forbidden");
    expect(await hand(id, fresh.root, cat)).toMatchObject({ agent_name: "cat" });
  });
});

describe("the end of unlanded work", () => {
  test("landed: it is told of no more, and its steward hears what it still holds", async () => {
    const { id } = await declare(ann, "feat/x", ["path:src/auth", "path:web"]);
    await claim(ann, ["path:src", "path:docs"]);
    const how = { unlanded_id: id, how: "content" as const, commit: "a".repeat(40) };
    const landed = await fresh.ask("land_unlanded", how, ben);
    expect(landed).toMatchObject({ ended_how: "landed", ended_at: fresh.time.iso() });
    expect((await claim(ben, ["path:web"])).unlanded).toEqual([]);
    const { notices } = await fresh.ask("heartbeat_session", { session_id: ann.sessionId }, ann);
    expect(notices).toMatchObject([
      { type: "unlanded.landed", message: expect.stringMatching(/^feat\/x has landed.*hold path:src: release/) },
    ]);
    // Said once more, nothing happens.
    expect(await fresh.ask("land_unlanded", { unlanded_id: id }, cat)).toEqual(landed);
    expect(await types()).toEqual(["unlanded.declared", "unlanded.landed"]);
    const [event] = await fresh.ask("list_events", { types: ["unlanded.landed"] }, ann);
    expect(event).toMatchObject({ task_id: null, data: { branch: "feat/x", how: "content", commit: "a".repeat(40) } });
  });

  test("said by the steward itself, who holds nothing of it, needs no notice", async () => {
    const { id } = await declare(ann, "feat/x", ["path:a"]);
    await fresh.ask("land_unlanded", { unlanded_id: id }, ann);
    expect((await fresh.ask("heartbeat_session", { session_id: ann.sessionId }, ann)).notices).toEqual([]);
    const { id: other } = await declare(ann, "feat/y", ["path:a"]);
    await hand(other, ann, ben);
    await fresh.ask("land_unlanded", { unlanded_id: other }, cat);
    const [answered, ...others] = (await fresh.ask("heartbeat_session", { session_id: ann.sessionId }, ann)).notices;
    expect([answered?.type, others]).toEqual(["unlanded.answered", []]);
    expect((await fresh.ask("heartbeat_session", { session_id: ben.sessionId }, ben)).notices).toHaveLength(1);
  });

  test("pruned: all but the branches that are named, of that project; an empty list is refused unless it is forced", async () => {
    await fresh.ask("create_project", { key: "web" }, fresh.root);
    for (const branch of ["feat/a", "feat/b"]) await declare(ann, branch, ["path:a"]);
    await declare(ann, "feat/a", ["path:a"], { project_id: "web" });
    expect(await fresh.refusal("prune_unlanded", { branches: [] }, ben)).toMatchObject({
      code: "invalid_input",
      fields: [{ field: "branches" }],
    });
    const { pruned } = await fresh.ask("prune_unlanded", { branches: ["main", "feat/b"] }, ben);
    expect(pruned).toMatchObject([{ branch: "feat/a", ended_how: "pruned", agent_name: "ann" }]);
    expect(branches(await list())).toEqual(["feat/b", "feat/a"]);
    const force = { branches: [], force: true, project_id: "web" };
    expect((await fresh.refusal("prune_unlanded", force, ben)).code).toBe("reason_required");
    await fresh.ask("prune_unlanded", { ...force, reason: "the repository is gone" }, ben);
    expect(branches(await list())).toEqual(["feat/b"]);
  });

  test("is recorded once, by the clock too; what has ended is found by its names no more", async () => {
    for (const branch of ["landed", "pruned", "expired"]) await declare(ann, branch, ["path:src", "port:3000"]);
    const [{ id } = { id: "" }] = await list({ branch: "landed" });
    await fresh.ask("land_unlanded", { unlanded_id: id }, ben);
    await fresh.ask("prune_unlanded", { branches: ["expired"] }, ben);
    const kept = () => fresh.kept.rows("SELECT * FROM unlanded_scopes");
    expect(await kept()).toHaveLength(2);
    const { id: expired } = (await list())[0] as { id: string };
    await fresh.ask("transfer_unlanded", { unlanded_id: expired, to_agent_id: cat.id }, ann);
    const endsAt = fresh.time.iso(14 * DAY_MS);
    fresh.time.pass(14 * DAY_MS + 1000);
    await fresh.sweep();
    await fresh.sweep();
    expect(await kept()).toEqual([]);
    const told = await fresh.ask("list_events", { types: ["unlanded.expired"] }, fresh.root);
    expect(told).toMatchObject([{ data: { unlanded_id: expired, branch: "expired", expired_at: endsAt } }]);
    expect(told).toHaveLength(1);
    [ben, cat] = [await fresh.session(ben), await fresh.session(cat)];
    expect(await list({ ended: true, branch: "expired" })).toMatchObject([
      { ended_how: "expired", ended_at: endsAt, transfer_to_agent_id: null },
    ]);
    expect((await fresh.refusal("accept_unlanded", { unlanded_id: expired }, cat)).code).toBe("unlanded_ended");
    // Looked up no more at all.
    expect(await fresh.kept.rows("SELECT 1 FROM unlanded WHERE ended_at IS NULL")).toEqual([]);
  });

  test("leaves another workspace's alone, and doesn't tell of it (R47)", async () => {
    const { id } = await declare(ann, "feat/x", ["port:3000"]);
    const { key } = await fresh.store.createWorkspace("elsewhere");
    const stranger = { identity: { kind: "key", key } } as const;
    for (const name of ["land_unlanded", "accept_unlanded", "decline_unlanded"] as const)
      expect((await fresh.refusal(name, { unlanded_id: id }, stranger)).code).toBe("not_found");
    expect(await fresh.ask("list_unlanded", {}, stranger)).toEqual([]);
    const { unlanded } = await fresh.ask("claim_scopes", { scopes: ["port:3000"], intent: "x" }, stranger);
    expect(unlanded).toEqual([]);
    await fresh.ask("prune_unlanded", { branches: ["main"] }, stranger);
    expect(branches(await list())).toEqual(["feat/x"]);
  });
});
