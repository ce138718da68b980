import { describe, expect, test } from "vitest";
import { keyOf } from "../../../test/support/scopes.js";
import type { ScopeKey } from "../../contract/scope.js";
import { ancestorKeys, indexKey, isPattern, subtreeRange } from "./scope-keys.js";

describe("a scope's key", () => {
  test.each([
    ["path:src/auth", "path:src/auth/"],
    ["path:src/*/x", "path:src/"],
    ["path:src/auth*", "path:src/"],
    ["path:a:b/c/**", "path:a:b/c/"],
    ["path:**", "path:"],
    ["path:*/a/b", "path:"],
    ["branch:feat/pay", "branch:feat\\pay/"],
    ["branch:feat/*", "branch:"],
  ])("%s is found at %s", (text, found) => {
    expect(indexKey(keyOf(text))).toBe(found);
    expect(isPattern(keyOf(text))).toBe(text.includes("*"));
  });

  test("those above it end with itself", () => {
    expect(ancestorKeys(keyOf("path:src/a:b/c"))).toEqual(["path:", "path:src/", "path:src/a:b/", "path:src/a:b/c/"]);
    expect(ancestorKeys(keyOf("branch:feat/pay"))).toEqual(["branch:", "branch:feat\\pay/"]);
    expect(ancestorKeys("path:" as ScopeKey)).toEqual(["path:"]);
  });

  test("a subtree is one range in bytewise order, whatever its neighbours' names", () => {
    const names = ["a", "a b", "a!", "a-b", "a.b", "a/b", "a/b/c", "a/\u{10ffff}", "a/ä", "a0", "a:b", "ab", "ä", "😀"];
    const keys = names.map((name) => keyOf(`path:${name}`)).concat(keyOf("kb:a"), keyOf("branch:a/b"));
    const bytes = (text: string) => Buffer.from(text);
    const within = (top: ScopeKey) => {
      const { from, below } = subtreeRange(top);
      return keys.filter(
        (key) => Buffer.compare(bytes(from), bytes(key)) <= 0 && Buffer.compare(bytes(key), bytes(below)) < 0,
      );
    };
    expect(within(keyOf("path:a"))).toEqual(["path:a/", "path:a/b/", "path:a/b/c/", "path:a/\u{10ffff}/", "path:a/ä/"]);
    expect(within("path:" as ScopeKey)).toEqual(keys.filter((key) => key.startsWith("path:")));
    expect(within(keyOf("branch:a"))).toEqual([]);
  });
});
