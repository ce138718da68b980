/**
 * What acts on a terminal or hides in a line: controls (ESC, C0, C1, line ends), format characters (bidi marks,
 * zero width), line separators, lone surrogates, private use, and letters that show nothing.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u115F\u1160\u2800\u3164\uFFA0]|\u034F/gu;
const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Text that others wrote, safe for one line of a terminal: what acts or hides stands there as a visible escape. */
export function shown(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return NAMED[character] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`);
  });
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}

const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u;

/** Columns of a terminal that shown text takes. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (!/\p{M}/u.test(character)) columns += WIDE.test(character) ? 2 : 1;
  }
  return columns;
}

/** Shown text of at most so many columns; what was cut off is marked. */
export function cutTo(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let kept = "";
  let used = 1;
  for (const character of text) {
    used += columnsOf(character);
    if (used > columns) break;
    kept += character;
  }
  return `${kept}…`;
}
