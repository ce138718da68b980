import { describe, expect, test } from "vitest";
import { columnsOf, cutTo, shown } from "./shown-text.js";

describe("text that others wrote (C82, R60)", () => {
  test("can't clear the screen, set the title or hide a link: escapes are shown", () => {
    expect(shown("ok \u001b[2J \u001b]0;x\u0007 \u001b]8;;http://evil.example\u001b\\link")).toBe(
      "ok \\x1b[2J \\x1b]0;x\\x07 \\x1b]8;;http://evil.example\\x1b\\link",
    );
    expect(shown("\u009b2J\u0085")).toBe("\\x9b2J\\x85");
  });

  test("can't turn the direction of a line or add one", () => {
    expect(shown("a\u202Eb\u2066c")).toBe("a\\u{202e}b\\u{2066}c");
    expect(shown("first\r\nsecond\u2028third\u2029")).toBe("first\\r\\nsecond\\u{2028}third\\u{2029}");
  });

  test("can't hide what has no width, a lone surrogate or a blank letter", () => {
    expect(shown("x\u200B\u200D\uFEFF\u00ADy")).toBe("x\\u{200b}\\u{200d}\\u{feff}\\xady");
    expect(shown("\uD800\u{E0041}\u3164")).toBe("\\u{d800}\\u{e0041}\\u{3164}");
  });

  test("stays as it is when it is plain text of any language", () => {
    const text = "Grüße, 日本語, עברית, हिन्दी, 🚀 — “quoted”";
    expect(shown(text)).toBe(text);
  });
});

describe("columns", () => {
  test("count what a terminal shows: two for wide characters, none for marks", () => {
    expect([columnsOf("abc"), columnsOf("日本"), columnsOf("🚀"), columnsOf("e\u0301")]).toEqual([3, 4, 2, 1]);
  });

  test("a text that is too long is cut where it still fits, and says so", () => {
    expect(cutTo("abcdef", 4)).toBe("abc…");
    expect(cutTo("日本語", 4)).toBe("日…");
    expect(cutTo("abcd", 4)).toBe("abcd");
  });
});
