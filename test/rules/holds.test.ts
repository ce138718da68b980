import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

/** Field report here: C21. */

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
let cleo: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
  cleo = await fresh.worker("cleo", "coordinator");
});

type Placing = Partial<Input<"place_hold">>;
const place = (input: Placing) =>
  fresh.ask("place_hold", { reason: "release", ...(input.expires_at ? {} : { ttl_seconds: 60 }), ...input }, cleo);
const lift = (id: string) => fresh.ask("lift_hold", { hold_id: id }, cleo);
const claimScopes = (as: Actor, scopes: string[], more: object = {}) =>
  fresh.ask("claim_scopes", { scopes, intent: "mine", ...more }, as);
const refusedScopes = (as: Actor, scopes: string[], more: object = {}) =>
  fresh.refusal("claim_scopes", { scopes, intent: "mine", ...more }, as);
const types = async () => (await fresh.ask("list_events", { limit: 1000 }, fresh.root)).map(({ type }) => type);
const told = async (type: string) => (await types()).filter((each) => each === type).length;

describe("a hold (R41)", () => {
  test("says what is frozen, why, by whom and until when, and is in the log", async () => {
    const hold = await place({ scope: "path:src/auth", reason: "the release is being cut" });
    expect(hold).toMatchObject({
      scope: "path:src/auth",
      reason: "the release is being cut",
      agent_id: cleo.id,
      agent_name: "cleo",
      allow_agent_ids: [],
      expires_at: fresh.time.iso(60_000),
      remaining_ms: 60_000,
      ended_at: null,
    });
    expect(await fresh.ask("list_holds", {}, ann)).toEqual([hold]);
    const [event] = await fresh.ask("list_events", { types: ["hold.placed"] }, ann);
    expect(event).toMatchObject({
      actor: { agent_id: cleo.id },
      project_id: hold.project_id,
      task_id: null,
      data: { hold_id: hold.id, scope: "path:src/auth", reason: "the release is being cut" },
    });
  });

  test.each<[string, Placing, string]>([
    ["neither scope nor project", {}, "scope"],
    ["both", { scope: "path:x", project: true }, "scope"],
    ["no end", { scope: "path:x", ttl_seconds: undefined }, "expires_at"],
    ["two ends", { scope: "path:x", expires_at: "2100-01-01T00:00:00Z", ttl_seconds: 1 }, "expires_at"],
    ["an end that has passed", { scope: "path:x", expires_at: "2001-01-01T00:00:00Z" }, "expires_at"],
    ["an end in a thousand years", { scope: "path:x", expires_at: "3001-01-01T00:00:00Z" }, "expires_at"],
  ])("is refused with %s", async (_what, input, field) => {
    const refused = await fresh.refusal("place_hold", { reason: "x", ttl_seconds: 60, ...withTimes(input) }, cleo);
    expect(refused).toMatchObject({ code: "invalid_input", fields: [{ field }] });
    expect(await fresh.ask("list_holds", {}, cleo)).toEqual([]);
  });
  const withTimes = (input: Placing) =>
    input.expires_at && input.ttl_seconds === undefined ? { ...input, ttl_seconds: undefined } : input;

  test("lets only agents pass that are there", async () => {
    const nobody = { scope: "path:x", allow_agent_ids: ["f".repeat(32)] };
    expect(await fresh.refusal("place_hold", { reason: "x", ttl_seconds: 1, ...nobody }, cleo)).toMatchObject({
      code: "not_found",
    });
  });

  test("is a coordinator's to place and to lift", async () => {
    const { id } = await place({ scope: "path:x" });
    for (const refused of [
      await fresh.refusal("place_hold", { scope: "path:x", reason: "x", ttl_seconds: 1 }, ann),
      await fresh.refusal("lift_hold", { hold_id: id }, ann),
    ])
      expect(refused.code).toBe("forbidden");
    expect((await refusedScopes(ann, ["path:x"])).code).toBe("frozen");
  });
});

describe("claims of names that a hold overlaps", () => {
  test("are refused, also shared ones, with every hold; a class of their own", async () => {
    const [one, two] = [await place({ scope: "path:src/**/*.sql" }), await place({ scope: "path:src/db" })];
    for (const mode of ["exclusive", "shared"]) {
      const refused = await refusedScopes(ann, ["path:docs", "path:src/db/a.sql"], { mode });
      expect(refused).toMatchObject({ code: "frozen", holds: [{ id: one.id }, { id: two.id }] });
      expect(refused.problem).toMatchObject({ status: 409, code: "frozen" });
      expect(refused.message).toMatch(/^path:src\/db\/a\.sql is frozen: .*cleo, "release"/);
    }
    expect(await fresh.ask("check_scope", { scope: "path:src/db/a.sql" }, ann)).toMatchObject({
      free: false,
      conflicts: [],
      holds: [{ id: one.id }, { id: two.id }],
    });
    await claimScopes(ann, ["path:docs", "path:src/*.ts"]);
  });

  test("are told that they are frozen before they are told who holds them", async () => {
    await claimScopes(ben, ["path:src"]);
    await place({ scope: "path:src/a" });
    expect((await refusedScopes(ann, ["path:src/a"])).code).toBe("frozen");
    expect((await refusedScopes(ann, ["path:src/b"])).code).toBe("scope_conflict");
  });

  test("go on where the session holds them already: renewed, claimed once more, given back, upgraded", async () => {
    const { claims } = await claimScopes(ann, ["path:src"], { mode: "shared" });
    const { id } = claims[0] as { id: string };
    await place({ scope: "path:**" });
    expect((await claimScopes(ann, ["path:src"])).claims).toMatchObject([{ id, nested: 2, mode: "exclusive" }]);
    fresh.time.pass(10_000);
    expect((await fresh.ask("heartbeat_scopes", { claim_ids: [id] }, ann)).items).toMatchObject([
      { outcome: "renewed", remaining_ms: 300_000 },
    ]);
    // Another name is another grant, though it lies under the session's own.
    expect((await refusedScopes(ann, ["path:src", "path:src/a"])).code).toBe("frozen");
    await fresh.ask("release_scopes", { all: true }, ann);
    expect((await refusedScopes(ann, ["path:src"])).code).toBe("frozen");
  });

  test("of kinds that all projects share are frozen for all of them, those of a project only there", async () => {
    await fresh.ask("create_project", { key: "web" }, cleo);
    await place({ scope: "port:3000", project_id: "web" });
    await place({ scope: "path:src", project_id: "web" });
    expect((await refusedScopes(ann, ["port:3000"])).code).toBe("frozen");
    await claimScopes(ann, ["path:src", "port:3001"]);
    expect((await refusedScopes(ben, ["path:src"], { project_id: "web" })).code).toBe("frozen");
  });

  test("in a frozen project are refused, whatever they are of; elsewhere they aren't", async () => {
    await fresh.ask("create_project", { key: "web" }, cleo);
    const hold = await place({ project: true, project_id: "web" });
    expect(hold.scope).toBeNull();
    for (const scope of ["path:src", "port:3000"])
      expect((await refusedScopes(ann, [scope], { project_id: "web" })).code).toBe("frozen");
    await claimScopes(ann, ["path:src", "port:3000"]);
  });

  test("pass for the agents that the hold names", async () => {
    await place({ scope: "path:src", allow_agent_ids: [ann.id] });
    expect((await refusedScopes(ben, ["path:src"])).code).toBe("frozen");
    await claimScopes(ann, ["path:src"]);
    await place({ scope: "path:src" });
    expect((await refusedScopes(ann, ["path:src/a"])).code).toBe("frozen");
  });
});

describe("the end of a hold", () => {
  test("comes by the clock alone, at the instant itself, and is put on record once", async () => {
    const { id } = await place({ scope: "path:src", ttl_seconds: 60 });
    fresh.time.pass(59_999);
    expect((await refusedScopes(ann, ["path:src"])).code).toBe("frozen");
    expect((await fresh.ask("check_scope", { scope: "path:src" }, ann)).free).toBe(false);
    fresh.time.pass(1);
    expect(await fresh.ask("check_scope", { scope: "path:src" }, ann)).toMatchObject({ free: true, holds: [] });
    expect(await fresh.ask("list_holds", {}, ann)).toEqual([]);
    const past = { id, ended_how: "expired", ended_at: fresh.time.iso(), remaining_ms: 0 };
    expect(await fresh.ask("list_holds", { ended: true }, ann)).toMatchObject([past]);
    expect(await told("hold.expired")).toBe(0);
    fresh.time.pass(5_000);
    const other = await fresh.another();
    await Promise.all([
      claimScopes(ann, ["path:src"]),
      fresh.ask("claim_scopes", { scopes: ["path:docs"], intent: "x" }, ben, other),
    ]);
    await fresh.sweep();
    expect(await told("hold.expired")).toBe(1);
    expect(await fresh.ask("list_holds", { ended: true }, ann)).toMatchObject([past]);
    await other.close();
  });

  test("by its own id leaves the others, and once more changes nothing", async () => {
    const [one, two] = [await place({ scope: "path:src" }), await place({ scope: "path:src" })];
    const lifted = await lift(one.id);
    expect(lifted).toMatchObject({ id: one.id, ended_how: "lifted", ended_at: fresh.time.iso() });
    fresh.time.pass(1_000);
    expect(await lift(one.id)).toEqual(lifted);
    expect(await told("hold.lifted")).toBe(1);
    expect(await refusedScopes(ann, ["path:src"])).toMatchObject({ code: "frozen", holds: [{ id: two.id }] });
    await lift(two.id);
    await claimScopes(ann, ["path:src"]);
    expect(await fresh.refusal("lift_hold", { hold_id: "f".repeat(32) }, cleo)).toMatchObject({ code: "not_found" });
  });

  test("is known at once to another process, and so is its beginning", async () => {
    const other = await fresh.another();
    const claim = (scope: string) => fresh.ask("claim_scopes", { scopes: [scope], intent: "x" }, ann, other);
    await claim("path:a");
    const { id } = await place({ scope: "path:src" });
    await expect(claim("path:src/a")).rejects.toMatchObject({ code: "frozen" });
    await lift(id);
    await claim("path:src/a");
    await other.close();
  });
});
