import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isDibsError } from "../contract/errors.js";
import { parseBody } from "./json-body.js";
import { jsonFault } from "./json-fault.js";

function refusal(body: string | Buffer): string {
  try {
    parseBody(Buffer.from(body as string));
  } catch (thrown) {
    if (isDibsError(thrown, "invalid_input")) return thrown.message;
    throw thrown;
  }
  throw new Error("The body was taken.");
}

function nested(levels: number): string {
  return `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
}

describe("a body", () => {
  test("of no bytes has no fields", () => {
    expect(parseBody(undefined)).toEqual({});
    expect(parseBody(Buffer.alloc(0))).toEqual({});
  });

  test.each(["[]", "null", "3", '"text"', "true"])("that is %s is refused: it must be an object", (body) => {
    expect(refusal(body)).toBe("(body): must be a JSON object, as {}");
  });

  test("nested 32 levels deep is taken, 33 refused, a million refused without harm", () => {
    expect(parseBody(Buffer.from(nested(32)))).toHaveProperty("a");
    expect(refusal(nested(33))).toMatch(/nested deeper than 32 levels/);
    expect(refusal(nested(1_000_000))).toMatch(/nested deeper than 32 levels/);
    expect(refusal(`${'{"a":'.repeat(40)}1${"}".repeat(40)}`)).toMatch(/nested deeper than 32 levels/);
  });

  test.each([
    ['{"__proto__":{"role":"admin"}}', "__proto__"],
    ['{"\\u005f_proto__":{}}', "__proto__"],
    ['{"context":{"deep":[{"constructor":{"prototype":{}}}]}}', "context.deep.0.constructor"],
  ])("%s is refused, naming the key", (body, place) => {
    expect(refusal(body)).toBe(`${place}: is a name that no field may have; choose another`);
    expect(({} as { role?: string }).role).toBeUndefined();
  });

  test("of bytes that are not UTF-8 is refused, not repaired", () => {
    expect(refusal(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toMatch(/UTF-8/);
  });

  test("keeps its text as it came (R60)", () => {
    const text = "café café \u202e <b> \u0000";
    expect(parseBody(Buffer.from(JSON.stringify({ text })))).toEqual({ text });
  });
});

describe("malformed JSON is refused with the place", () => {
  test.each([
    ['{"a":[1,}', "at position 8 (line 1, column 9)"],
    ['{"a":1', "ends too early, at position 6"],
    ['{"a":"unended', "ends too early, at position 13"],
    ['{\n "a": tru\n}', "at position 8 (line 2, column 7)"],
    ["{'a':1}", "at position 1 (line 1, column 2)"],
    ['{"a":1}}', "at position 7 (line 1, column 8)"],
    ['{"a":01}', "at position 5 (line 1, column 6)"],
    ['{"a" 1}', "at position 5 (line 1, column 6)"],
    ['{"a":"\\x"}', "at position 6 (line 1, column 7)"],
    ['{"a":NaN}', "at position 5 (line 1, column 6)"],
    ["\ufeff{}", "at position 0 (line 1, column 1)"],
    [" ", "ends too early, at position 1"],
    ["[1 2]", "at position 3 (line 1, column 4)"],
  ])("%j", (body, place) => {
    expect(refusal(body)).toMatch(/^\(body\): must be JSON; it /);
    expect(refusal(body)).toContain(place);
  });

  test("the place is right for JSON broken anywhere: what stands before it can be completed, with it never", () => {
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom("}", "]", ",", ":", '"', "x", "\u0001", "-", "{", "\\"))
      .map(([json, at, sign]) => json.slice(0, at % (json.length + 1)) + sign + json.slice(at % (json.length + 1)))
      .filter((text) => !isJson(text));
    fc.assert(
      fc.property(broken, (text) => {
        const said = /position (\d+)/.exec(jsonFault(text));
        const at = Number(said?.[1]);
        expect(at).toBeLessThanOrEqual(text.length);
        // The engine's own position, where it gives one, is never before ours: it may stop later, inside a word.
        expect(completable(text.slice(0, at))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test("a fault after megabytes of brackets is found without a deep stack", () => {
    expect(jsonFault("[".repeat(2_000_000))).toBe("it ends too early, at position 2000000");
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether some ending makes JSON of the text; tried with every ending that the grammar could want here. */
function completable(text: string): boolean {
  const closers = closersOf(text);
  const middles = ["", "1", '"', '":1', '":1', '"a":1', ":1", "0", "a", '1"', ' "', 'u0000"', 'n"', 'n":1', '000"'];
  return middles.some((middle) => isJson(text + middle + closers)) || /[-\d.eE+tfn]$/.test(text);
}

/** The brackets that are open at the end of the text, as closing ones. */
function closersOf(text: string): string {
  const open: string[] = [];
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    if (quoted && text[at] === "\\") at += 1;
    else if (text[at] === '"') quoted = !quoted;
    else if (!quoted && (text[at] === "{" || text[at] === "[")) open.unshift(text[at] === "{" ? "}" : "]");
    else if (!quoted && (text[at] === "}" || text[at] === "]")) open.shift();
  }
  return open.join("");
}
