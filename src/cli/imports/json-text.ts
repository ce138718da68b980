import type { Place } from "./backlog.js";

/** Deeper than any tool writes, and shallow enough for whoever walks the value by recursion. */
const LEVELS_MAX = 200;

/** What a JSON text holds and where each of its objects begins, or the first place where it isn't JSON. */
export type JsonText =
  | { readonly value: unknown; readonly offsets: ReadonlyMap<object, number> }
  | { readonly fault: { readonly offset: number; readonly message: string } };

/** No Error: its stack would cost a file of 100,000 wrong lines seconds. */
class NotJson {
  constructor(
    readonly offset: number,
    readonly message: string,
  ) {}
}

/**
 * Reads JSON as `JSON.parse` does, but knows where things stand: Node 20's own errors name no place for most mistakes,
 * and no reader of a 10,000-line file finds "the 317th task".
 */
export function readJson(text: string): JsonText {
  try {
    const reader = new Reader(text);
    return { value: reader.document(), offsets: reader.offsets };
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    return { fault: { offset: error.offset, message: error.message } };
  }
}

/** Turns offsets into places, each in the time of a binary search. */
export function placesOf(text: string): (offset: number) => Required<Place> {
  const begins = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) begins.push(at + 1);
  return (offset) => {
    let [low, high] = [0, begins.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((begins[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { row: low + 1, column: offset - (begins[low] ?? 0) + 1 };
  };
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS: readonly [string, unknown][] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

class Reader {
  readonly offsets = new Map<object, number>();
  private at = 0;
  private level = 0;

  constructor(private readonly text: string) {}

  document(): unknown {
    const value = this.value();
    if (this.peek() !== "") this.fail("the JSON ends here, but more text follows");
    return value;
  }

  private value(): unknown {
    const first = this.peek();
    if (first === "{") return this.nested(() => this.object());
    if (first === "[") return this.nested(() => this.array());
    if (first === '"') return this.string();
    for (const [word, value] of WORDS) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    NUMBER.lastIndex = this.at;
    const digits = NUMBER.exec(this.text)?.[0];
    if (digits === undefined) this.fail(first === "" ? "the text ends where a value should stand" : "is no JSON value");
    this.at += digits.length;
    return Number(digits);
  }

  private nested<T>(read: () => T): T {
    if (++this.level > LEVELS_MAX) this.fail(`is nested deeper than ${LEVELS_MAX} levels`);
    const value = read();
    this.level--;
    return value;
  }

  /** Without a prototype, so that no name in the file means more than its text. */
  private object(): Record<string, unknown> {
    const record: Record<string, unknown> = Object.create(null);
    this.offsets.set(record, this.at++);
    if (this.took("}")) return record;
    do {
      if (this.peek() !== '"') this.fail('a field\'s name in "quotes" is missing');
      const name = this.string();
      if (!this.took(":")) this.fail("a : is missing after the field's name");
      record[name] = this.value();
    } while (this.took(","));
    if (!this.took("}")) this.fail("a comma or } is missing");
    return record;
  }

  private array(): unknown[] {
    this.at++;
    const list: unknown[] = [];
    if (this.took("]")) return list;
    do list.push(this.value());
    while (this.took(","));
    if (!this.took("]")) this.fail("a comma or ] is missing");
    return list;
  }

  // By hand: a pattern with a choice in a loop overflows its stack on a text of some megabytes.
  private string(): string {
    const begin = this.at;
    for (let at = begin + 1; at < this.text.length; at++) {
      const code = this.text.charCodeAt(at);
      if (code === 0x5c) at++;
      else if (code < 0x20) {
        this.at = at;
        this.fail("a text has a line end or a control character; write it as \\n or \\u0000");
      } else if (code === 0x22) {
        this.at = at + 1;
        return this.unescaped(begin, at);
      }
    }
    return this.fail('a text has no closing "');
  }

  private unescaped(begin: number, end: number): string {
    const inner = this.text.slice(begin + 1, end);
    if (!inner.includes("\\")) return inner;
    try {
      return JSON.parse(`"${inner}"`);
    } catch {
      this.at = begin;
      return this.fail("a text has an escape that JSON doesn't know");
    }
  }

  /** The next character that is no space; empty at the end. */
  private peek(): string {
    while (isSpace(this.text.charCodeAt(this.at))) this.at++;
    return this.text.charAt(this.at);
  }

  private took(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at++;
    return true;
  }

  private fail(message: string): never {
    throw new NotJson(this.at, message);
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
