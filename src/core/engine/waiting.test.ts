import { expect, test } from "vitest";
import type { Outcome } from "./outcome.js";
import { WaitingCalls } from "./waiting.js";

const EMPTY: Outcome = { ok: true, status: 200, text: "{}", notices: 0, nowMs: 0, emptyForMs: null };

test("whoever came first is served first, though a newer call began to wait while it still looked (R21)", async () => {
  const waiting = new WaitingCalls(
    () => {},
    () => {},
  );
  const caller = { identity: { kind: "file", agent: "ann" } } as const;
  const wait = (arrival: number, empty: Outcome | undefined) => {
    const call = { name: "claim_next_task", input: { labels: [String(arrival)] }, caller } as const;
    return waiting.wait({ call, signature: String(arrival), arrival, empty, waitMs: 60_000, signal: undefined });
  };
  const waits = [wait(1, EMPTY), wait(3, undefined), wait(2, EMPTY)];
  waiting.hint();
  const looking = waiting.take(10);
  expect(looking.map(({ call }) => call.input.labels)).toEqual([["1"], ["2"], ["3"]]);
  for (const { resolve } of looking) resolve({ ...EMPTY, emptyForMs: undefined } as never);
  await Promise.all(waits);
});
