import { describe, expect, test } from "vitest";
import { keyOf } from "../../../test/support/scopes.js";
import { overlap } from "./scope-overlap.js";

const both = (a: string, b: string, caseInsensitive = false) => {
  const [one, other] = [keyOf(a, { caseInsensitive }), keyOf(b, { caseInsensitive })];
  expect(overlap(other, one)).toBe(overlap(one, other));
  return overlap(one, other);
};

describe("scopes overlap (R30, R31)", () => {
  test.each([
    ["path:src/app", "path:src/app"],
    ["path:src/app", "path:src/app/main.ts"],
    ["path:src/app", "path:src"],
    ["path:**", "path:a"],
    ["path:**", "path:**"],
    ["path:src/**/*.ts", "path:src/a.ts"],
    ["path:src/**/*.ts", "path:src/a/b.ts"],
    ["path:src/**/*.ts", "path:**/*.test.ts"],
    ["path:src/**/*.ts", "path:src"],
    ["path:src/**/*.ts", "path:src/[a-z].ts"],
    ["path:src/**/*.ts", "path:src/{a,b}.ts"],
    ["path:src/**/*.ts", "path:src/a.ts/deeper"],
    ["path:src/*/a.ts", "path:src/x/*"],
    ["path:src/**/test.ts", "path:src/a/**"],
    ["path:src/*.ts", "path:src/app*"],
    ["path:src/auth/x.ts", "path:src/auth"],
    ["path:src/app.ts", "path:src/**"],
    ["path:**/a", "path:a"],
    ["path:a/**", "path:a"],
    ["path:a/**/b", "path:a/b"],
    ["path:a/**/**/b", "path:a/b"],
    ["path:a/*/c", "path:*/b/*"],
    ["path:*b*/x", "path:a*/x"],
    ["path:a", "path:a/*/c"],
    ["path:a", "path:a/**/a"],
    ["branch:feat/pay", "branch:feat/*"],
    ["branch:feat/pay", "branch:*"],
    ["branch:feat/*", "branch:*/pay"],
    ["branch:feat/a/b", "branch:feat/*"],
    ["port:3000", "port:30*"],
    ["port:3000", "port:**"],
    ["issue:42", "issue:42"],
  ])("%s and %s (C33, C36)", (a, b) => {
    expect(both(a, b)).toBe(true);
  });

  test.each([
    ["path:src/app", "path:src/apple"],
    ["path:src/app", "kb:src/app"],
    ["path:src/app", "path:source"],
    ["path:**", "kb:**"],
    ["path:src/**/*.ts", "path:src/*.md"],
    ["path:src/**/*.ts", "path:lib/**"],
    ["path:*.ts", "path:src/**"],
    ["path:src/*", "path:src/a/b"],
    ["path:*", "path:a/b"],
    ["path:a/**/b", "path:a/*/c"],
    ["path:a*b", "path:a"],
    ["path:aa*aa", "path:aaa"],
    ["path:*ab*ba*", "path:aba"],
    ["path:**/a/**/a/**", "path:*/b/c"],
    ["path:src", "path:*.ts"],
    ["branch:feat", "branch:feat/pay"],
    ["branch:feat/*", "branch:feat"],
    ["issue:42", "issue:421"],
    ["port:3000", "port:31*"],
  ])("%s and %s don't (C33, C36)", (a, b) => {
    expect(both(a, b)).toBe(false);
  });

  test("composed or decomposed in every project, in other letters only where the project says so (C80)", () => {
    expect(both("path:docs/caf\u00e9.md", "path:docs/cafe\u0301.md")).toBe(true);
    expect(both("path:SRC/App", "path:src/app/Main.ts")).toBe(false);
    expect(both("path:SRC/App", "path:src/app/Main.ts", true)).toBe(true);
    expect(both("path:SRC/*.TS", "path:src/straße.ts", true)).toBe(true);
    expect(both("path:*SS*", "path:straße", true)).toBe(true);
  });
});
