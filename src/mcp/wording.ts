/** Marks, blanks and direction changes a reader wouldn't see: what smuggled instructions are made of. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;
const QUOTE_MAX = 80;

/** What an agent wrote, as a quotation inside a sentence of ours: one line, cut, nothing invisible. */
export function quote(text: unknown, max: number = QUOTE_MAX): string {
  const whole = [...(typeof text === "string" ? text : (JSON.stringify(text) ?? ""))];
  const cut = whole.length > max ? `${whole.slice(0, max - 1).join("")}…` : whole.join("");
  return plain(JSON.stringify(cut));
}

/** A sentence of ours that may carry a quotation: one line, nothing invisible. */
export function plain(text: string): string {
  return text.replace(UNSEEN, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Whole seconds of a duration in ms, never more than there are. */
export function seconds(ms: unknown): number {
  return typeof ms === "number" ? Math.max(0, Math.floor(ms / 1000)) : 0;
}

/** `1 task`, `3 tasks`. */
export function count(howMany: number, thing: string): string {
  return `${howMany} ${thing}${howMany === 1 ? "" : "s"}`;
}
