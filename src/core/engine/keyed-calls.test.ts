import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GONE_MS, KeyedCalls } from "./keyed-calls.js";
import type { Outcome } from "./outcome.js";

const NOTHING: Outcome = { ok: true, status: 200, text: "{}", notices: 0, nowMs: 0 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A call that waits until nobody is there any more, and how often it was performed. */
function waiting() {
  const performed: AbortSignal[] = [];
  const perform = (signal: AbortSignal) => {
    performed.push(signal);
    return new Promise<Outcome>((resolve) => signal.addEventListener("abort", () => resolve(NOTHING)));
  };
  const calls = new KeyedCalls();
  return { performed, call: (signal?: AbortSignal) => calls.answer("key", signal, perform) };
}

test("a call goes on for ten seconds without anybody to hear it, and no longer (R21, R36, R59)", async () => {
  const { performed, call } = waiting();
  const caller = new AbortController();
  const answer = call(caller.signal);
  caller.abort();
  vi.advanceTimersByTime(GONE_MS - 1);
  expect(performed[0]?.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(performed[0]?.aborted).toBe(true);
  expect(await answer).toBe(NOTHING);
});

test("one that comes back in time, with a connection or without, finds it waiting still", async () => {
  const { performed, call } = waiting();
  const [first, second] = [new AbortController(), new AbortController()];
  const answers = [call(first.signal)];
  first.abort();
  vi.advanceTimersByTime(GONE_MS - 1);
  answers.push(call(second.signal));
  vi.advanceTimersByTime(GONE_MS);
  second.abort();
  answers.push(call());
  vi.advanceTimersByTime(10 * GONE_MS);
  expect(performed).toHaveLength(1);
  expect(performed[0]?.aborted).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});

test("a repeat while the call runs is told that it is one, as a later repeat is (R59)", async () => {
  const { call } = waiting();
  const [first, second] = [new AbortController(), new AbortController()];
  const answers = Promise.all([call(first.signal), call(second.signal)]);
  first.abort();
  second.abort();
  vi.advanceTimersByTime(GONE_MS);
  expect(await answers).toEqual([NOTHING, { ...NOTHING, replayed: true }]);
});

test("the next one under a key whose call is over is performed anew, and nothing of the former is left", async () => {
  const { performed, call } = waiting();
  const gone = AbortSignal.abort();
  const answer = call(gone);
  vi.advanceTimersByTime(GONE_MS);
  await answer;
  await vi.advanceTimersByTimeAsync(0);
  call(gone);
  expect(performed).toHaveLength(2);
  vi.advanceTimersByTime(GONE_MS - 1);
  expect(performed[1]?.aborted).toBe(false);
});
