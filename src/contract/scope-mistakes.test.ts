import { describe, expect, test } from "vitest";
import { mistakeOf } from "../../test/support/scopes.js";

const a = (count: number) => "a".repeat(count);
const FORM = "A scope is kind:segment/segment, as path:src/auth";
const SEGMENT = "A segment has 1..255 bytes";
const SIZE = "A scope has at most 64 segments and 1,024 bytes";
const FLAT = "A name of a flat kind is exactly one segment";
const ROOT = "A scope begins at the root";
const STARS = "* is any run of characters in a segment";

/** The text, the segment at fault, the fault's own words, the line of the grammar, the remedy's words. */
const MISTAKES: readonly (readonly [text: string, segment: string, fault: string, line: string, remedy: string])[] = [
  ["", "", "it is empty", FORM, "path:**"],
  [" ", " ", "it is empty", FORM, "path:**"],
  ["path", "path", "a kind without a name", FORM, "path:**"],
  ["path:", "", "nothing stands behind the colon", FORM, "path:**"],
  ["issue:", "", "nothing stands behind the colon", FORM, "issue:*"],
  [":x", "", "no kind stands before the colon", FORM, "Write one of these"],
  ["src/auth", "src/auth", "it has no kind", FORM, "the kind and a colon"],
  ["bogus:x", "bogus", '"bogus" is no kind', "one of branch, config, cpu", "Write one of these"],
  ["Path:x", "Path", '"Path" is no kind', FORM, "Write path"],
  [" path:src/a ", " path", '" path" is no kind', FORM, "Write path"],
  ["constructor:x", "constructor", '"constructor" is no kind', FORM, "Write one of these"],
  ["task:0123", "task", "the kind task is reserved", FORM, "Claim the task: claim_task"],
  ["path:/", "", '"/" at its beginning', ROOT, "path:**"],
  ["path://", "", '"/" at its beginning', ROOT, "path:**"],
  ["path:/src/a", "", '"/" at its beginning', ROOT, "Leave out"],
  ["path:C:/src/a", "C:", '"C:" at its beginning', ROOT, "Leave out"],
  ["path: ", " ", '" " has a space at its ends', SEGMENT, "Remove the space"],
  ["path:src/a ", "a ", '"a " has a space at its ends', SEGMENT, "Remove the space"],
  ["path: src/a", " src", '" src" has a space at its ends', SEGMENT, "Remove the space"],
  ["path:src/\u00a0a", "\u00a0a", "has a space at its ends", SEGMENT, "Remove the space"],
  ["path:src/a/", "", "segment 3 is empty", SEGMENT, "Remove the slash"],
  ["path:src//a", "", "segment 2 is empty", SEGMENT, "Remove the slash"],
  ["path:./src/a", ".", '"." is no name', SEGMENT, "Leave it out"],
  ["path:src/./a", ".", '"." is no name', SEGMENT, "Leave it out"],
  ["path:src/b/../a", "..", '".." is no name', SEGMENT, "nothing is resolved here"],
  ["path:..", "..", '".." is no name', SEGMENT, "nothing is resolved here"],
  ["path:src\\a", "src\\a", '"src\\\\a" has a backslash', SEGMENT, "Write / between segments"],
  ["path:..\\..\\etc", "..\\..\\etc", "has a backslash", SEGMENT, "Write / between segments"],
  ["path:C:\\src\\a", "C:\\src\\a", "has a backslash", SEGMENT, "Write / between segments"],
  ["path:src/a\0", "a\0", '"a\\u0000" must not contain NUL', SEGMENT, "Write the name as text"],
  ["path:src/a\nb", "a\nb", '"a\\nb" has a control character', SEGMENT, "Remove it"],
  ["path:src/a\u007f", "a\u007f", '"a\\u{7f}" has a control character', SEGMENT, "Remove it"],
  ["path:a/\ud800", "\ufffd", '"\\ud800" must be well-formed Unicode', SEGMENT, "Write the name as text"],
  ["path:src/**bad", "**bad", '"**bad" has ** beside other characters', STARS, "put ** between slashes"],
  ["path:***", "***", '"***" has ** beside other characters', STARS, "put ** between slashes"],
  ["branch:feat/**", "feat/**", "has ** beside other characters", STARS, "Write branch:feat/*:"],
  ["issue:42/a", "a", '"a" is a second segment', `${FLAT}, and issue is flat`, "Write issue:42"],
  ["port:/3000", "3000", '"3000" is a second segment', FLAT, "Write one"],
  ["branch:feat//pay", "feat//pay", 'a part of "feat//pay" is empty', SEGMENT, "Remove the slash"],
  ["branch:/pay", "/pay", 'a part of "/pay" is empty', SEGMENT, "Remove the slash"],
  ["branch:feat/../pay", "feat/../pay", '".." is no name', SEGMENT, "nothing is resolved here"],
  [`path:x/${a(256)}`, a(256), "has 256 bytes", SEGMENT, "Claim what lies above it"],
  [`path:${"日".repeat(86)}`, "日".repeat(86), "has 258 bytes", SEGMENT, "Claim what lies above it"],
  [`branch:${a(128)}/${a(127)}`, `${a(128)}/${a(127)}`, "has 256 bytes", SEGMENT, "Write a shorter name"],
  [`path:${Array(64).fill("a").join("/")}/b`, "b", '"b" is segment 65', SIZE, "Claim what lies above it"],
  [
    `path:${[a(254), a(254), a(254), `b${a(254)}`].join("/")}`,
    `b${a(254)}`,
    "beyond 1,024 bytes",
    SIZE,
    "Claim what lies",
  ],
  [`path:b${a(5000)}/x`, `b${a(2042)}`, "beyond 1,024 bytes", SIZE, "Claim what lies above it"],
  [`issue:${a(5000)}`, a(2042), "beyond 1,024 bytes", SIZE, "Write a shorter name"],
];

describe("a mistake names the segment, the grammar's line and the remedy (R29, R30, C35, C76)", () => {
  const titled = MISTAKES.map((row) => [JSON.stringify(row[0].slice(0, 40)), row] as const);

  test.each(titled)("%s", (_title, [text, segment, fault, line, remedy]) => {
    const mistake = mistakeOf(text);
    expect(mistake.segment).toBe(segment);
    expect(mistake.scope).toBe(text.slice(0, 2048).toWellFormed());
    const said = mistake.message;
    const places = [fault, line, remedy].map((words) => said.indexOf(words));
    expect({ said, places: [...places].sort((x, y) => x - y) }).toEqual({ said, places });
    expect(said).not.toContain("undefined");
    expect(Math.min(...places), said).toBeGreaterThanOrEqual(0);
    expect(said.isWellFormed()).toBe(true);
    expect(said.length).toBeLessThan(700);
  });
});
