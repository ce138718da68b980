import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
let other: string;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
  other = (await fresh.ask("create_project", { key: "other" }, fresh.root)).id;
});

const claim = async (as: Actor, scopes: Input<"claim_scopes">["scopes"], more: Partial<Input<"claim_scopes">> = {}) =>
  (await fresh.ask("claim_scopes", { scopes, intent: "to mend it", ...more }, as)).claims;

describe("a holder's write of names takes the lease and the fence (R3)", () => {
  test("heartbeat and release answer for each whether it is that grant", async () => {
    const [row] = await claim(ann, ["path:a"]);
    const [lease_id, fence] = [row?.lease_id ?? "", row?.fence ?? 0];
    const items = (name: "heartbeat_scopes" | "release_scopes", input: Input<"release_scopes">) =>
      fresh.ask(name, input, ann).then((body) => body.items.map(({ outcome, reason }) => `${outcome} ${reason}`));
    expect(await items("heartbeat_scopes", { scopes: ["path:a"], lease_id, fence })).toEqual(["renewed null"]);
    expect(await items("heartbeat_scopes", { all: true, fence: fence + 1 })).toEqual(["lost superseded"]);
    expect(await items("release_scopes", { claim_ids: [lease_id], fence: fence + 1 })).toEqual(["lost superseded"]);
    expect(await items("release_scopes", { scopes: ["path:a"], lease_id: ann.id })).toEqual(["lost superseded"]);
    expect(await items("release_scopes", { claim_ids: [lease_id], lease_id, fence })).toEqual(["released null"]);
  });

  test("so do a handoff and the answer to a yield", async () => {
    const [row] = await claim(ann, ["path:a"]);
    const [claim_id, fence] = [row?.id ?? "", (row?.fence ?? 0) + 1];
    const stale = { code: "lease_lost", reason: "superseded" };
    expect(await fresh.refusal("handoff_claim", { claim_id, to_agent_id: ben.id, fence }, ann)).toMatchObject(stale);
    const { id: yield_id } = await fresh.ask("request_yield", { claim_id, reason: "mine first" }, ben);
    const answer = { yield_id, answer: "yield" } as const;
    expect(await fresh.refusal("answer_yield", { ...answer, fence }, ann)).toMatchObject(stale);
    await fresh.ask("answer_yield", { ...answer, lease_id: claim_id, fence: fence - 1 }, ann);
    expect(await fresh.ask("list_claims", {}, ann)).toEqual([]);
  });
});

test("who shares a name and then has it alone has a fence above those who shared it meanwhile (R4, R32)", async () => {
  const shared = { mode: "shared" } as const;
  const [first] = await claim(ann, ["path:a"], shared);
  const [second] = await claim(ben, ["path:a"], shared);
  await fresh.ask("release_scopes", { all: true }, ben);
  const [alone] = await claim(ann, ["path:a"]);
  expect(alone).toMatchObject({ id: first?.id, lease_id: first?.lease_id, mode: "exclusive", nested: 2 });
  expect(alone?.fence).toBeGreaterThan(second?.fence ?? 0);
  const [renewed] = await claim(ann, ["path:a"]);
  expect(renewed?.fence).toBe(alone?.fence);
});

describe("a project that is named", () => {
  test("narrows what is renewed or given back; an unknown one is no empty answer (R58)", async () => {
    await claim(ann, ["path:a"]);
    const [theirs] = await claim(ann, ["path:a"], { project_id: other });
    const all = { all: true, project_id: "other" } as const;
    expect((await fresh.ask("heartbeat_scopes", all, ann)).items).toMatchObject([{ claim_id: theirs?.id }]);
    const byId = { claim_ids: [theirs?.id ?? ""], project_id: "default" };
    expect((await fresh.ask("release_scopes", byId, ann)).items).toMatchObject([{ outcome: "lost" }]);
    expect(await fresh.ask("release_scopes", all, ann)).toMatchObject({
      released: 1,
      items: [{ claim_id: theirs?.id }],
    });
    for (const input of [
      { all: true, project_id: "nope" },
      { claim_ids: [ann.id], project_id: "nope" },
    ])
      expect((await fresh.refusal("release_scopes", input, ann)).code).toBe("not_found");
  });

  test("beside the id of a record must be the record's", async () => {
    const [row] = await claim(ann, ["path:a"], { project_id: other });
    const waiting = { scopes: ["path:a"], intent: "next", wait: true, project_id: other };
    const ticket = (await fresh.ask("claim_scopes", waiting, ben)).ticket ?? "";
    expect(await fresh.ask("get_wait", { ticket, project_id: "other" }, ben)).toMatchObject({ state: "waiting" });
    for (const project_id of ["default", "nope"]) {
      const named = { claim_id: row?.id ?? "", project_id };
      for (const refusal of [
        await fresh.refusal("get_wait", { ticket, project_id }, ben),
        await fresh.refusal("cancel_wait", { ticket, project_id }, ben),
        await fresh.refusal("request_yield", { ...named, reason: "mine" }, ben),
        await fresh.refusal("handoff_claim", { ...named, to_agent_id: ben.id }, ann),
      ])
        expect(refusal).toMatchObject({ code: "not_found", message: expect.stringContaining(project_id) });
    }
    expect(await fresh.ask("list_yields", {}, ann)).toEqual([]);
    // A session that is of no project may be named with any.
    await fresh.ask("heartbeat_session", { session_id: ann.sessionId, project_id: other }, ann);
  });
});

test("an event about one scope says it beside its task and project", async () => {
  await claim(ann, ["path:a"]);
  await fresh.ask("claim_scopes", { scopes: ["path:a"], intent: "next", wait: true }, ben);
  await fresh.ask("claim_scopes", { scopes: ["path:a", "path:b"], intent: "both", wait: true }, ben);
  const types = ["scope.claimed", "scope.queued"];
  expect((await fresh.ask("list_events", { types }, ann)).map(({ scope }) => scope)).toEqual([
    "path:a",
    "path:a",
    null,
  ]);
});

describe("a scope given with its mode", () => {
  test("may leave the mode out, or say null", async () => {
    expect(await claim(ann, [{ scope: "path:a", mode: null } as never])).toMatchObject([{ mode: "exclusive" }]);
  });

  test.each([
    [{ scope: "path:a", mode: "loud" }, "scopes.0.mode", "must be one of exclusive, shared"],
    [{ mode: "shared" }, "scopes.0.scope", "is required and must be text"],
    [{ scope: "path:a", color: "red" }, "scopes.0.color", "is not a field of claim_scopes"],
    [5, "scopes.0", "must be a scope as `path:src/auth`, or {scope, mode}"],
    [null, "scopes.0", "must be a scope as `path:src/auth`, or {scope, mode}"],
  ])("%j is refused at %s: %s", async (scope, field, message) => {
    const refusal = await fresh.refusal("claim_scopes", { scopes: [scope as never], intent: "x" }, ann);
    expect(refusal).toMatchObject({ code: "invalid_input", fields: [{ field, message }] });
  });

  test.each([4096, 4097, 100_000])("a scope of %d characters is too long, and no other mistake", async (length) => {
    const refusal = await fresh.refusal("claim_scopes", { scopes: [`path:${"a".repeat(length)}`], intent: "x" }, ann);
    expect(refusal).toMatchObject({ code: "invalid_scope", segment: expect.stringMatching(/^a+/) });
    expect(JSON.stringify(refusal.problem).length).toBeLessThan(5_000);
  });
});
