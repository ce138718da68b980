import { DibsError } from "../contract/errors.js";
import type { Page } from "./port/verbs.js";

/** Cursors are opaque text: the list's name and the position after which the next page starts. */
export function pageOf(list: string, input: { limit: number; cursor?: string | undefined }): Page {
  if (input.cursor === undefined) return { limit: input.limit, after: null };
  return { limit: input.limit, after: decode(list, input.cursor) };
}

/** The reply's `nextCursor`, where the page is full and so more may follow. */
export function cursorAfter<R>(
  list: string,
  rows: readonly R[],
  page: Page,
  position: (row: R) => number[],
): { nextCursor?: string } {
  const last = rows.at(-1);
  if (last === undefined || rows.length < page.limit) return {};
  return { nextCursor: Buffer.from(JSON.stringify([list, ...position(last)])).toString("base64url") };
}

function decode(list: string, cursor: string): number[] {
  try {
    const [name, ...position] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown[];
    if (name === list && position.length > 0 && position.every(Number.isSafeInteger)) return position as number[];
  } catch {
    // Not ours: refused below like any other.
  }
  throw new DibsError("invalid_cursor", `cursor: was not made by this list; start again without one.`, {});
}
