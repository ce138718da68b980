import { describe, expect, test } from "vitest";
import { keyOf, mistakeOf } from "../../test/support/scopes.js";
import { parseScope } from "./scope.js";
import { SCOPE_KINDS } from "./scope-kind.js";

const a = (count: number) => "a".repeat(count);
/** A text with an accent in one character, and in two. */
const [COMPOSED, DECOMPOSED] = ["caf\u00e9", "cafe\u0301"];

describe("a scope is read (R29)", () => {
  test.each([
    "path:src/auth",
    "path:a",
    "path:src/[id].vue",
    "path:@scope/pkg+x#1/C++ notes (2)",
    "path:src/%2e%2e/x",
    "path:.github/...",
    "path:~/x",
    "path:src/C:",
    "path:日本/señales.md",
    "path:a:b",
    "kb:how to/deploy",
    "device:usb/1",
    "project:shop",
    "config:prod/db",
    "db:main/users",
    "branch:main",
    "branch:feat/pay",
    "issue:42",
    "queue:mails",
    "git:index",
    "migration:0042",
    "deploy:prod",
    "slot:build",
    "port:3000",
    "provider:anthropic",
    "cpu:0",
    "source:tracker",
    "path:**",
    "path:src/**/*.ts",
    "path:**/a/**",
    "branch:*",
    "branch:**",
    "branch:feat/*",
    "port:30*",
  ])("%s is one", (text) => {
    expect(parseScope(text)).toMatchObject({ text, kind: { name: text.slice(0, text.indexOf(":")) } });
  });

  test("its text stays as given but for NFC, whatever the project's letter case", () => {
    const read = parseScope(`path:Docs/${DECOMPOSED}.MD`, { caseInsensitive: true });
    expect(read).toMatchObject({ text: `path:Docs/${COMPOSED}.MD`, key: `path:docs/${COMPOSED}.md/` });
  });

  test("a name composed or decomposed is one scope, a ligature another (C80)", () => {
    expect(keyOf(`path:${DECOMPOSED}`)).toBe(keyOf(`path:${COMPOSED}`));
    for (const caseInsensitive of [false, true])
      expect(keyOf("path:\ufb01.md", { caseInsensitive })).not.toBe(keyOf("path:fi.md", { caseInsensitive }));
  });

  test("letter case counts unless the project says it doesn't, and always in names that projects share", () => {
    expect(keyOf("path:SRC/Auth")).not.toBe(keyOf("path:src/auth"));
    expect(keyOf("path:SRC/Auth", { caseInsensitive: true })).toBe(keyOf("path:src/auth", { caseInsensitive: true }));
    expect(keyOf("device:USB", { caseInsensitive: true })).toBe("device:USB/");
  });

  test("a branch with slashes is one segment: it lies under no other", () => {
    expect(keyOf("branch:feat/pay")).toBe("branch:feat\\pay/");
    expect(keyOf("path:feat/pay")).toBe("path:feat/pay/");
  });

  test("all of a flat kind is one scope, however it is written", () => {
    expect(keyOf("branch:**")).toBe(keyOf("branch:*"));
  });

  test("which kinds projects share", () => {
    const shared = [...SCOPE_KINDS.values()].filter(({ reach }) => reach === "workspace").map(({ name }) => name);
    expect(shared.sort()).toEqual(["cpu", "device", "port", "provider", "source"]);
    const trees = [...SCOPE_KINDS.values()].filter(({ shape }) => shape === "tree").map(({ name }) => name);
    expect(trees.sort()).toEqual(["config", "db", "device", "kb", "path", "project"]);
    expect([...SCOPE_KINDS.keys()]).toHaveLength(17);
  });

  test("other kinds are read where they are given", () => {
    const room = { name: "room", shape: "tree", reach: "workspace" } as const;
    const kinds = new Map([...SCOPE_KINDS, ["room", room]]);
    expect(parseScope("room:3/left", { kinds })).toMatchObject({ kind: { reach: "workspace" }, key: "room:3/left/" });
    expect(mistakeOf("room:3/left").message).toMatch(/"room" is no kind of this workspace/);
  });

  test.each([
    ["64 segments", `path:${Array(64).fill("a").join("/")}`],
    ["1,024 bytes", `path:${[a(254), a(254), a(254), a(254)].join("/")}`],
    ["a segment of 255 bytes", `path:${a(255)}`],
    ["a segment of 255 bytes in 85 characters", `path:${"日".repeat(85)}`],
    ["a branch of 255 bytes", `branch:${a(127)}/${a(127)}`],
    [
      "1,024 bytes that came as 1,531 UTF-16 units",
      `path:${[127, 127, 127, 126].map((count) => "u\u0308\u0304".repeat(count)).join("/")}aa`,
    ],
  ])("%s are within the limits", (what, text) => {
    expect(parseScope(text), what).toMatchObject({ text: text.normalize("NFC") });
  });
});
