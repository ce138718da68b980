import { beforeEach, describe, expect, test } from "vitest";
import { type Actor, FreshStore, type Input } from "../support/fresh-store.js";

let fresh: FreshStore;
let ann: Actor;
let ben: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
  ben = await fresh.worker("ben");
});

const claim = (as: Actor, scopes: Input<"claim_scopes">["scopes"]) =>
  fresh.ask("claim_scopes", { scopes, intent: "to mend it" }, as);
const release = (as: Actor, input: Input<"release_scopes">) => fresh.ask("release_scopes", input, as);

describe("looking (R53)", () => {
  test("the table of claims is narrowed by what lies at or under a scope, and goes on from tasks to names", async () => {
    const { id } = await fresh.task({ content: "a task" });
    await fresh.claim(id, ann);
    await claim(ann, ["path:src", "path:src/a", "path:docs", "port:1"]);
    const scopes = async (input: object) => (await fresh.ask("list_claims", input, ben)).map(({ scope }) => scope);
    expect(await scopes({ scope: "path:src" })).toEqual(["path:src", "path:src/a"]);
    expect(await scopes({ scope: "path:**" })).toEqual(["path:src", "path:src/a", "path:docs"]);
    expect(await scopes({ scope: "path:src/*" })).toEqual(["path:src", "path:src/a"]);
    expect(await scopes({ kind: "port" })).toEqual(["port:1"]);
    expect(await scopes({ kind: "task" })).toEqual([`task:${id}`]);
    expect((await fresh.refusal("list_claims", { scope: "path:a//b" }, ben)).code).toBe("invalid_scope");
    const first = await fresh.answer("list_claims", { limit: 2 }, ben);
    const rest = await fresh.ask("list_claims", { limit: 9, cursor: first.nextCursor }, ben);
    expect([...first.body, ...rest].map(({ scope }) => scope)).toEqual(await scopes({}));
  });

  test("the table of claims, asked for what overlaps a scope, has what covers it and what meets it as a pattern", async () => {
    await claim(ann, ["path:src/auth", "path:lib/*.ts", "path:docs"]);
    const scopes = async (scope: string, more: object = {}) =>
      (await fresh.ask("list_claims", { scope, overlapping: true, ...more }, ben)).map((row) => row.scope);
    expect(await scopes("path:src/auth/a.ts")).toEqual(["path:src/auth"]);
    expect(await scopes("path:src")).toEqual(["path:src/auth"]);
    expect(await scopes("path:lib/a.ts")).toEqual(["path:lib/*.ts"]);
    expect(await scopes("path:lib/a.js")).toEqual([]);
    expect(await scopes("path:*/a.ts")).toEqual(["path:lib/*.ts", "path:docs"]);
    expect(await scopes("path:**", { limit: 2 })).toEqual(["path:src/auth", "path:lib/*.ts"]);
    expect(await fresh.ask("list_claims", { scope: "path:src/auth/a.ts" }, ben)).toEqual([]);
  });

  test("what is held of a kind that projects share is found from each of them; other names only from their own", async () => {
    await fresh.ask("create_project", { key: "other" }, fresh.root);
    await claim(ann, ["port:3000", "path:src"]);
    const from = async (project_id: string, scope: string) =>
      (await fresh.ask("list_claims", { project_id, scope }, ben)).map((row) => row.scope);
    expect(await from("other", "port:3000")).toEqual(["port:3000"]);
    expect(await from("other", "path:src")).toEqual([]);
    expect(await from("default", "path:src")).toEqual(["path:src"]);
  });

  test("the older form of the table has a thousand rows unless fewer are asked for, counts them, and goes on", async () => {
    for (const part of [0, 1])
      await claim(
        ann,
        Array.from({ length: 60 }, (_, nth) => `path:${part}/${nth}`),
      );
    expect(await fresh.ask("count_claims", {}, ben)).toMatchObject({ count: 120 });
    const first = await fresh.answer("count_claims", { limit: 50 }, ben);
    expect(first.body.count).toBe(50);
    const rest = await fresh.answer("count_claims", { cursor: first.nextCursor }, ben);
    expect(rest.body.claims.map(({ scope }) => scope)[0]).toBe("path:0/50");
    expect(rest).toMatchObject({ body: { count: 70 } });
    expect(rest.nextCursor).toBeUndefined();
  });

  test("the history of a name says who held what overlaps it, newest first, by pages", async () => {
    for (const as of [ann, ben, ann]) {
      await claim(as, ["path:src/a"]);
      await release(as, { all: true });
      fresh.time.pass(1_000);
    }
    await claim(ben, ["path:src"]);
    const first = await fresh.answer("list_scope_history", { scope: "path:src/a/b", limit: 2 }, ann);
    expect(first.body).toMatchObject([
      { scope: "path:src", agent_name: "ben", ended_at: null, ended_how: null },
      { scope: "path:src/a", agent_name: "ann", ended_how: "released" },
    ]);
    const rest = await fresh.ask("list_scope_history", { scope: "path:src/a/b", cursor: first.nextCursor }, ann);
    expect(rest.map(({ agent_name }) => agent_name)).toEqual(["ben", "ann"]);
  });
});
