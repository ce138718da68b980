import { expect, test } from "vitest";
import { LeaseLengths } from "./lease-lengths.js";

const at = (ms: number) => new Date(ms).toISOString();
const lease = (claimedAtMs: number, nowMs: number, expiresAtMs: number) => ({
  lease_id: "one",
  claimed_at: at(claimedAtMs),
  expires_at: at(expiresAtMs),
  remaining_ms: expiresAtMs - nowMs,
});

test("a lease that was never renewed is as long as from its claim to its end", () => {
  expect(new LeaseLengths().observe([lease(0, 20_000, 30_000)])[0]?.lengthMs).toBe(30_000);
});

test("a lease renewed before the page looked is taken for one of the default length, until more is seen to remain", () => {
  const lengths = new LeaseLengths();
  expect(lengths.observe([lease(0, 1_000_000, 1_100_000)])[0]?.lengthMs).toBe(300_000);
  expect(lengths.observe([lease(0, 1_000_000, 1_900_000)])[0]?.lengthMs).toBe(900_000);
  expect(lengths.observe([lease(0, 1_500_000, 1_900_000)])[0]?.lengthMs).toBe(900_000);
});

test("a lease that is gone is forgotten", () => {
  const lengths = new LeaseLengths();
  lengths.observe([lease(0, 0, 900_000)]);
  lengths.observe([]);
  expect(lengths.observe([lease(0, 800_000, 1_000_000)])[0]?.lengthMs).toBe(300_000);
});
