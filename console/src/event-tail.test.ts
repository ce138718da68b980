import { describe, expect, test } from "vitest";
import type { Call } from "../../src/client/index.js";
import { Dibs } from "../../src/client/index.js";
import { EventTail } from "./event-tail.js";

/** A log that answers as the server's does: oldest first, after a cursor. */
function logOf(ids: number[]) {
  const asked: unknown[] = [];
  const call = (async (_operation: unknown, input: { after?: string; newest?: boolean; limit: number }) => {
    asked.push(input);
    const later = ids.filter((id) => id > Number(input.after ?? 0));
    const rows = input.newest ? later.slice(-input.limit) : later.slice(0, input.limit);
    return { body: rows.map((id) => ({ id: String(id) })), status: 200, notices: 0, serverNowMs: 0 };
  }) as unknown as Call;
  return { dibs: Dibs.over(call, { kind: "cookie", token: "" }), asked };
}

const signal = new AbortController().signal;
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe("the newest events", () => {
  test("of a long log are found without reading it all", async () => {
    const { dibs, asked } = logOf(range(1, 100_000));
    const newest = await new EventTail(dibs, 5).newest(signal);
    expect(newest.map(({ id }) => id)).toEqual(["100000", "99999", "99998", "99997", "99996"]);
    expect(asked.length).toBe(1);
  });

  test("are found where the log has gaps and its beginning is gone", async () => {
    const { dibs } = logOf([70_001, 70_900, 70_901, 82_000]);
    const newest = await new EventTail(dibs, 150).newest(signal);
    expect(newest.map(({ id }) => id)).toEqual(["82000", "70901", "70900", "70001"]);
  });

  test("of an empty log are none, and the first that comes is shown", async () => {
    const ids: number[] = [];
    const tail = new EventTail(logOf(ids).dibs, 5);
    expect(await tail.newest(signal)).toEqual([]);
    ids.push(1);
    expect((await tail.newest(signal)).map(({ id }) => id)).toEqual(["1"]);
  });

  test("are added to with one question each time, none twice, and the oldest are let go", async () => {
    const ids = range(1, 10);
    const { dibs, asked } = logOf(ids);
    const tail = new EventTail(dibs, 3);
    await tail.newest(signal);
    ids.push(11, 12);
    const before = asked.length;
    expect((await tail.newest(signal)).map(({ id }) => id)).toEqual(["12", "11", "10"]);
    expect(asked.length - before).toBe(1);
    expect((await tail.newest(signal)).map(({ id }) => id)).toEqual(["12", "11", "10"]);
  });

  test("catch up over several pages after the page was asleep", async () => {
    const ids = range(1, 10);
    const tail = new EventTail(logOf(ids).dibs, 4);
    await tail.newest(signal);
    ids.push(...range(11, 700));
    expect((await tail.newest(signal)).map(({ id }) => id)).toEqual(["700", "699", "698", "697"]);
  });
});
