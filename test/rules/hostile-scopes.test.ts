import type { OperationName } from "dibs/contract";
import { beforeEach, describe, expect, test } from "vitest";
import { FreshStore, type Input } from "../support/fresh-store.js";

describe("text that no store keeps, in a scope (R29, R60)", () => {
  let fresh: FreshStore;
  beforeEach(async () => {
    fresh = await FreshStore.open();
  });
  const name = "path:src/a\0b";
  type Call = { readonly [N in OperationName]?: Input<N> };
  const calls: Call = {
    claim_scopes: { scopes: ["path:ok", { scope: name, mode: "shared" }], intent: "x" },
    check_scope: { scope: name },
    release_scopes: { scopes: [name] },
    heartbeat_scopes: { scopes: [name] },
    list_claims: { scope: name },
    count_claims: { scope: name },
    list_waits: { scope: name },
    list_scope_history: { scope: name },
    list_unlanded: { scope: name },
    declare_unlanded: { branch: "x", scopes: [name] },
    place_hold: { scope: name, reason: "x", ttl_seconds: 60 },
    set_scope_capacity: { scope: name, capacity: 2 },
    create_task: { content: "x", scopes: [name] },
    create_tasks: { tasks: [{ content: "x", scopes: [{ scope: name }] }] },
    create_plan: { slug: "p", steps: [{ key: "a", content: "x", scopes: [name] }] },
  };

  test.each(Object.keys(calls) as OperationName[])("%s: is told as what else is wrong with one", async (operation) => {
    const refusal = await fresh.refusal(operation, calls[operation] as Input<typeof operation>, fresh.root);
    expect(refusal).toMatchObject({ code: "invalid_scope", scope: name, segment: "a\0b" });
    // The name itself as an escape.
    expect(refusal.message).toMatch(/"a\\u0000b" must not contain NUL .* A segment has .* Write the name as text/);
  });

  test("half a surrogate pair and a control character are told alike; a context may have no such text, whatever it is called", async () => {
    for (const [character, says] of [
      ["\ud800", "well-formed Unicode"],
      ["\u001b", "a control character"],
    ])
      expect(await fresh.refusal("check_scope", { scope: `port:1${character}` }, fresh.root)).toMatchObject({
        code: "invalid_scope",
        message: expect.stringContaining(says as string),
      });
    const input = { content: "x", context: { scope: name, scopes: [name] } };
    expect((await fresh.refusal("create_task", input, fresh.root)).code).toBe("invalid_input");
  });
});
