import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

/** Field reports here: C32, C33, C35 (names), C76, C80, and what C18, C27 say of scopes. */

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
});

type Scopes = Input<"claim_scopes">["scopes"];
const claim = (as: Actor, scopes: Scopes, more: object = {}) =>
  fresh.ask("claim_scopes", { scopes, intent: "to mend it", ...more }, as);
const refused = (as: Actor, scopes: Scopes, more: object = {}) =>
  fresh.refusal("claim_scopes", { scopes, intent: "to mend it", ...more }, as);
const release = (as: Actor, input: Input<"release_scopes">) => fresh.ask("release_scopes", input, as);
const held = async () =>
  (await fresh.ask("list_claims", {}, fresh.root)).map(({ scope, agent_name }) => [scope, agent_name]);
const check = (as: Actor, scope: string, more: object = {}) => fresh.ask("check_scope", { scope, ...more }, as);

describe("claiming names (R29-R34)", () => {
  test("grants them under a lease, and shows them in the table of claims with what they are for", async () => {
    const { claims } = await claim(ann, ["path:src/auth", { scope: "port:3000", mode: "shared" }]);
    expect(claims).toMatchObject([
      { scope: "path:src/auth", kind: "path", mode: "exclusive", agent_name: "ann", intent: "to mend it", fence: 1 },
      { scope: "port:3000", kind: "port", mode: "shared", remaining_ms: 300_000, nested: 1, task_id: null, fence: 1 },
    ]);
    expect(claims[0]?.session_id).toBe(ann.sessionId);
    expect(await fresh.ask("list_claims", {}, ben)).toMatchObject([{ id: claims[0]?.id }, { id: claims[1]?.id }]);
    const types = (await fresh.ask("list_events", { types: ["scope.claimed"] }, ben)).map(({ data }) => data.scope);
    expect(types).toEqual(["path:src/auth", "port:3000"]);
  });

  test("refuses what overlaps, naming every holder in the form of the claims table, and grants nothing of the request", async () => {
    await claim(ann, ["path:src/auth"]);
    await claim(ben, ["path:docs/a.md"]);
    const cat = await fresh.worker("cat");
    const conflict = await refused(cat, ["path:src", "path:free", "path:docs/*.md", "path:src/auth/login.ts"]);
    expect(conflict.code).toBe("scope_conflict");
    expect(conflict.conflicts).toMatchObject([
      {
        requested: "path:src",
        also_requested: ["path:src/auth/login.ts"],
        holder: { scope: "path:src/auth", agent_name: "ann", intent: "to mend it" },
      },
      { requested: "path:docs/*.md", holder: { scope: "path:docs/a.md", agent_name: "ben", mode: "exclusive" } },
    ]);
    expect(conflict.conflicts_count).toBe(2);
    expect(conflict.message).toContain("ann");
    expect(await held()).toEqual([
      ["path:src/auth", "ann"],
      ["path:docs/a.md", "ben"],
    ]);
  });

  test.each([
    ["path:src/app", "path:src/apple", true],
    ["path:src/app", "path:src/app/x", false],
    ["path:src/app/x", "path:src/app", false],
    ["path:src/app", "path:src/app", false],
    ["path:src/app", "kb:src/app", true],
    ["branch:feat/pay", "branch:feat", true],
    ["branch:feat/pay", "branch:feat/*", false],
    ["path:src/*.ts", "path:src/x.test.ts", false],
    ["path:src/*.ts", "path:src/a/x.ts", true],
    ["path:**", "path:anything/at/all", false],
  ])("%s and %s: side by side %s (C33, C36)", async (first, second, beside) => {
    await claim(ann, [first]);
    expect((await check(ben, second)).free).toBe(beside);
    if (beside) await claim(ben, [second]);
    else expect((await refused(ben, [second])).code).toBe("scope_conflict");
    // With both shared they always go together.
    const cat = await fresh.worker("cat");
    const dan = await fresh.worker("dan");
    await release(ann, { all: true });
    await release(ben, { all: true });
    await claim(cat, [first], { mode: "shared" });
    await claim(dan, [second], { mode: "shared" });
  });

  test("a project's names are its own; a port is the workspace's", async () => {
    await fresh.ask("create_project", { key: "web" }, fresh.root);
    await claim(ann, ["path:src", "port:3000"]);
    await claim(ben, ["path:src"], { project_id: "web" });
    expect((await refused(ben, ["port:3000"], { project_id: "web" })).code).toBe("scope_conflict");
  });

  test("letters count as the project says, composed or decomposed never (C80)", async () => {
    await fresh.ask("create_project", { key: "mac", case_insensitive: true }, fresh.root);
    await claim(ann, ["path:Caf\u00e9"]);
    expect((await refused(ben, ["path:Cafe\u0301"])).code).toBe("scope_conflict");
    await claim(ben, ["path:caf\u00e9"]);
    await claim(ann, ["path:Readme.md"], { project_id: "mac" });
    expect((await refused(ben, ["path:README.MD"], { project_id: "mac" })).code).toBe("scope_conflict");
  });

  test("what is no scope is refused with its segment, and nothing is claimed (C35, C76)", async () => {
    for (const [scope, segment] of [
      ["path:src/../x", ".."],
      ["path:/src", ""],
      ["", ""],
      ["task:0123", "task"],
      ["issue:42/a", "a"],
    ] as const)
      expect(await refused(ann, ["path:good", scope])).toMatchObject({ code: "invalid_scope", scope, segment });
    expect(await held()).toEqual([]);
  });
});

describe("holding names (R1, R4, R5, R32, R33)", () => {
  test("asking again renews: same lease, same fence; released as often as it was claimed", async () => {
    const [first] = (await claim(ann, ["path:src"])).claims;
    fresh.time.pass(200_000);
    const [again] = (await claim(ann, ["path:src"])).claims;
    expect(again).toMatchObject({ id: first?.id, fence: first?.fence, nested: 2, remaining_ms: 300_000 });
    expect(await release(ann, { scopes: ["path:src"] })).toMatchObject({ released: 0, items: [{ outcome: "kept" }] });
    expect((await refused(ben, ["path:src/a"])).code).toBe("scope_conflict");
    expect(await release(ann, { claim_ids: [first?.id as string] })).toMatchObject({ released: 1 });
    const [next] = (await claim(ben, ["path:src/a"])).claims;
    expect(next?.fence).toBe((first?.fence ?? 0) + 1);
  });

  test("a claim ends by the clock, at the very instant, whoever looks; its holder is told once", async () => {
    await claim(ann, ["path:src"], { ttl_seconds: 30 });
    fresh.time.pass(29_999);
    expect((await refused(ben, ["path:src"])).conflicts).toMatchObject([{ holder: { remaining_ms: 1 } }]);
    fresh.time.pass(1);
    expect((await check(ben, "path:src")).free).toBe(true);
    expect(await held()).toEqual([]);
    const [granted] = (await claim(ben, ["path:src"])).claims;
    expect(granted?.fence).toBe(2);
    const { items, notices } = await fresh.ask("heartbeat_scopes", { scopes: ["path:src"] }, ann);
    expect(items).toMatchObject([{ scope: "path:src", outcome: "lost", reason: "expired" }]);
    expect(notices).toMatchObject([{ type: "lease.lost", data: { scope: "path:src", reason: "expired" } }]);
    const expired = await fresh.ask("list_events", { types: ["lease.expired"] }, ben);
    expect(expired).toMatchObject([{ data: { scope: "path:src", agent_id: ann.id } }]);
    expect(await release(ann, { scopes: ["path:src"] })).toMatchObject({ released: 0, items: [{ outcome: "lost" }] });
    expect(await held()).toEqual([["path:src", "ben"]]);
  });

  test("heartbeat keeps them, an answer each; also the session's", async () => {
    const { claims } = await claim(ann, ["path:a", "path:b"], { ttl_seconds: 60 });
    fresh.time.pass(50_000);
    const ids = claims.map(({ id }) => id);
    const beat = await fresh.ask("heartbeat_scopes", { claim_ids: [...ids, "f".repeat(32)], ttl_seconds: 100 }, ann);
    expect(beat.items).toMatchObject([
      { outcome: "renewed", remaining_ms: 100_000 },
      { outcome: "renewed", remaining_ms: 100_000 },
      { outcome: "lost", reason: "never_held" },
    ]);
    fresh.time.pass(90_000);
    const { items } = await fresh.ask("heartbeat_session", { session_id: ann.sessionId }, ann);
    expect(items).toMatchObject([
      { scope: "path:a", task_id: null, outcome: "renewed", lease_remaining_ms: 100_000 },
      { scope: "path:b", outcome: "renewed" },
    ]);
  });

  test("a sole shared holder may have it alone; one of several may not (R32)", async () => {
    const [shared] = (await claim(ann, ["db:main"], { mode: "shared" })).claims;
    const [alone] = (await claim(ann, ["db:main"])).claims;
    expect(alone).toMatchObject({ id: shared?.id, mode: "exclusive" });
    await release(ann, { all: true });
    await claim(ann, ["db:main"], { mode: "shared" });
    await claim(ben, ["db:main/users"], { mode: "shared" });
    expect((await refused(ann, ["db:main"])).conflicts).toMatchObject([{ holder: { scope: "db:main/users" } }]);
    expect((await fresh.ask("list_claims", { kind: "db" }, ann)).map(({ mode }) => mode)).toEqual(["shared", "shared"]);
  });

  test("the session's own claims are never in its way; a child's only where its parent shares (R65)", async () => {
    await claim(ann, ["path:src"]);
    await claim(ann, ["path:src/a", "path:**"]);
    const child = await fresh.session(ann, { parent_session_id: ann.sessionId });
    expect((await refused(child, ["path:src/a"])).code).toBe("scope_conflict");
    const sharing = await fresh.session(ben, { share_with_children: true });
    await claim(sharing, ["port:1"]);
    const own = await fresh.session(ben, { parent_session_id: sharing.sessionId });
    await claim(own, ["port:1"]);
  });

  test("another's claims are nobody's to keep or release", async () => {
    const [first] = (await claim(ann, ["path:src"])).claims;
    const ids = { claim_ids: [first?.id as string] };
    expect((await release(ben, ids)).items).toMatchObject([{ outcome: "lost", reason: "never_held" }]);
    expect((await fresh.ask("heartbeat_scopes", ids, ben)).items).toMatchObject([{ outcome: "lost" }]);
    expect(await held()).toEqual([["path:src", "ann"]]);
  });
  test("what goes with a task is kept, also where it is named: it is no loss of its holder's (R16)", async () => {
    const { id } = await fresh.task({ content: "login", scopes: ["path:src/auth"] });
    await fresh.claim(id, ann);
    const [{ id: claimId } = { id: "" }] = await fresh.ask("list_claims", { kind: "path" }, ann);
    for (const which of [{ scopes: ["path:src/auth"] }, { claim_ids: [claimId] }])
      for (const call of ["heartbeat_scopes", "release_scopes"] as const)
        expect((await fresh.ask(call, which, ann)).items).toMatchObject([
          { claim_id: claimId, outcome: "kept", reason: "goes with its task" },
        ]);
    const theirs = await fresh.ask("heartbeat_scopes", { scopes: ["path:src/auth"] }, ben);
    expect(theirs.items).toMatchObject([{ outcome: "lost", reason: "never_held" }]);
    await fresh.ask("complete_task", { task_id: id }, ann);
    expect((await release(ann, { scopes: ["path:src/auth"] })).items).toMatchObject([{ outcome: "lost" }]);
  });
});

describe("the end of a session or an agent (R9, R10, R48)", () => {
  test("by call frees all it held, tasks and names, in one transaction, and says how many", async () => {
    for (let nth = 0; nth < 50; nth += 1) await fresh.task({ content: `${nth}` });
    await fresh.ask("claim_next_task", { count: 50 }, ann);
    await claim(
      ann,
      Array.from({ length: 50 }, (_, nth) => `path:src/${nth}`),
    );
    const ended = await fresh.ask("end_session", { session_id: ann.sessionId }, ann);
    expect(ended).toMatchObject({ tasks_released: 50, claims_released: 50 });
    expect(await held()).toEqual([]);
    await claim(ben, ["path:**"]);
  });

  test("by silence frees them at its very end, whoever looks", async () => {
    await claim(ann, ["path:src"], { ttl_seconds: 3600 });
    fresh.time.pass(899_999);
    expect((await check(fresh.root, "path:src")).free).toBe(false);
    fresh.time.pass(1);
    expect((await check(fresh.root, "path:src")).free).toBe(true);
    await fresh.sweep();
    const [past] = await fresh.ask("list_scope_history", { scope: "path:src" }, fresh.root);
    expect(past).toMatchObject({ agent_name: "ann", ended_how: "expired", ended_at: fresh.time.iso() });
  });

  test("an agent that holds names isn't deleted unless that is forced; then they are revoked (C27)", async () => {
    await claim(ann, ["path:src"]);
    const refusal = await fresh.refusal("delete_agent", { agent_id: ann.id }, fresh.root);
    expect(refusal).toMatchObject({ code: "agent_has_claims", claims: [{ scope: "path:src" }] });
    await fresh.ask("delete_agent", { agent_id: ann.id, force: true, reason: "gone" }, fresh.root);
    expect(await held()).toEqual([]);
    await claim(ben, ["path:src"]);
    const [, past] = await fresh.ask("list_scope_history", { scope: "path:src/a" }, ben);
    expect(past).toMatchObject({ agent_name: "ann", ended_how: "revoked" });
  });
});
