// The engine's own message quotes the text and often leaves the position out; whoever sent it needs the place.

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Says in words where text stops being JSON: the position (characters from 0), line and column. */
export function jsonFault(text: string): string {
  const at = new Walk(text).fault();
  if (at >= text.trimEnd().length) return `it ends too early, at position ${at}`;
  const before = text.slice(0, at);
  const line = before.split("\n").length;
  return `it goes wrong at position ${at} (line ${line}, column ${at - before.lastIndexOf("\n")})`;
}

/** Walks JSON text, without recursion, up to where no JSON goes on like this. */
class Walk {
  #at = 0;
  /** The brackets still to come, the innermost last. */
  readonly #open: string[] = [];

  constructor(readonly text: string) {}

  /** The first wrong position; the text's length when it is merely cut off (or not wrong at all). */
  fault(): number {
    this.#skip(SPACE);
    while (this.#value() && this.#next());
    return this.#at;
  }

  /** Goes past a value that holds no other, into the brackets before it if need be; false where there is none. */
  #value(): boolean {
    for (;;) {
      const first = this.text[this.#at];
      if (first === '"') return this.#string();
      if (first !== "{" && first !== "[") return this.#skip(SCALAR);
      const close = first === "{" ? "}" : "]";
      this.#at += 1;
      this.#skip(SPACE);
      if (this.text[this.#at] === close) {
        this.#at += 1;
        return true;
      }
      this.#open.push(close);
      if (first === "{" && !this.#key()) return false;
    }
  }

  /** After a value: closes what ends here and goes on to the next value; false where there is none. */
  #next(): boolean {
    this.#skip(SPACE);
    while (this.#open.length > 0 && this.text[this.#at] === this.#open.at(-1)) {
      this.#open.pop();
      this.#at += 1;
      this.#skip(SPACE);
    }
    if (this.#open.length === 0 || this.text[this.#at] !== ",") return false;
    this.#at += 1;
    this.#skip(SPACE);
    return this.#open.at(-1) === "]" || this.#key();
  }

  #key(): boolean {
    if (this.text[this.#at] !== '"' || !this.#string()) return false;
    this.#skip(SPACE);
    if (this.text[this.#at] !== ":") return false;
    this.#at += 1;
    this.#skip(SPACE);
    return true;
  }

  /** Goes past a string, or up to the first character or escape that it may not have. */
  #string(): boolean {
    this.#at += 1;
    while (this.#at < this.text.length) {
      const code = this.text.charCodeAt(this.#at);
      if (code < 0x20) return false;
      if (code === 0x5c) {
        if (!this.#skip(ESCAPE)) return false;
        continue;
      }
      this.#at += 1;
      if (code === 0x22) return true;
    }
    return false;
  }

  /** Goes past what the pattern matches here; true if that is anything. */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const found = pattern.test(this.text) && pattern.lastIndex > this.#at;
    if (found) this.#at = pattern.lastIndex;
    return found;
  }
}
