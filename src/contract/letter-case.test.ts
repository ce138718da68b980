import { describe, expect, test } from "vitest";
import { foldCase } from "./letter-case.js";

const bytesOf = (text: string) => new TextEncoder().encode(text).length;
/** Every character that has letter case or that folding changes, in NFC as scopes are; higher planes have none. */
const CASED = Array.from({ length: 0x20000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code).normalize("NFC"))
  .filter((character) =>
    [character.toLowerCase(), character.toUpperCase(), foldCase(character)].some((other) => other !== character),
  );

describe("folding letter case", () => {
  test.each([
    ["SRC/Auth.TS", "src/auth.ts"],
    ["STRASSE", "straße"],
    ["STRAẞE", "strasse"],
    ["ΟΔΟΣ", "οδος"],
    ["οδοσ", "οδος"],
    ["CAFE\u0301", "caf\u00e9"],
    ["\u212a", "k"],
    ["ДОМ", "дом"],
  ])("%s and %s are one name", (one, other) => {
    expect(foldCase(one)).toBe(foldCase(other));
  });

  test.each([
    ["ı", "i"],
    ["ﬁ", "fi"],
    ["①", "1"],
    ["e", "é"],
  ])("%s and %s are two", (one, other) => {
    expect(foldCase(one)).not.toBe(foldCase(other));
  });

  test("agrees with Unicode's simple folding for every character, as regular expressions know it", () => {
    const others = CASED.filter((character) => [...character].length === 1)
      .map((character) => [character, foldCase(character)] as const)
      .filter(([character, folded]) => folded !== character && [...folded].length === 1);
    expect(others.length).toBeGreaterThan(1_300);
    const wrong = others.filter(
      ([character, folded]) => !new RegExp(`^\\u{${folded.codePointAt(0)?.toString(16)}}$`, "iu").test(character),
    );
    expect(wrong).toEqual([]);
  });

  test("makes one of a letter's two cases, but for the dotless i and what falls apart in upper case", () => {
    const alone = CASED.filter((character) =>
      [character.toLowerCase(), character.toUpperCase()].some(
        (other) => [...other].length === 1 && foldCase(other) !== foldCase(character),
      ),
    );
    expect(alone).toEqual(["ı"]);
  });

  test("changes nothing the second time, keeps NFC, and grows by two thirds at most", () => {
    const wrong = CASED.filter((character) => {
      const folded = foldCase(character);
      const grown = bytesOf(folded) > (bytesOf(character) * 5) / 3;
      return foldCase(folded) !== folded || folded.normalize("NFC") !== folded || grown;
    });
    expect(wrong).toEqual([]);
  });

  test("makes no character that the grammar knows", () => {
    const wrong = CASED.filter(
      (character) => /[*/\\:.\s\p{Cc}]/u.test(foldCase(character)) && foldCase(character) !== character,
    );
    expect(wrong).toEqual([]);
  });
});
