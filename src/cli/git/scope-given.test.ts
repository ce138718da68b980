import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scopeGiven } from "./scope-given.js";

function folder(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), "dibs-scope-")));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test.each([
  ["port:3000", "port:3000"],
  ["ticket:7", "ticket:7"],
  // A workspace may call a kind of its own by one letter; a drive's letter is followed by a slash.
  ["x:7", "x:7"],
  ["src/a.ts", "path:src/a.ts"],
  ["src/**", "path:src/**"],
  ["a/b:c", "path:a/b:c"],
  [".", "path:**"],
  ["sub/..", "path:**"],
  ["", ""],
])("%s is %s (R29, R64)", (given, meant) => {
  expect(scopeGiven(given, folder())).toBe(meant);
});

test.runIf(process.platform !== "win32")("a drive's letter is no kind", () => {
  expect(scopeGiven("c:/work", folder())).toBe("path:c:/work");
});
