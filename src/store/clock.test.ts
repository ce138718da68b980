import { describe, expect, test } from "vitest";
import { DecidingClock, type KeptClock, systemTime } from "./clock.js";

const START = 1_000_000;
const NOTHING_KEPT: KeptClock = { last_ms: 0, offset_ms: 0, boot: "", uptime_ms: 0 };

function clockAt(wallMs = START, monotonicMs = 5_000.5, boot = "boot") {
  const time = { wall: wallMs, monotonic: monotonicMs };
  const jumps: number[] = [];
  const source = { wallMs: () => time.wall, monotonicMs: () => time.monotonic, boot: () => boot };
  return { clock: new DecidingClock(source, (ms) => jumps.push(ms)), time, jumps };
}

describe("the deciding clock (R2)", () => {
  test("is the wall clock in whole milliseconds, shifted by the offset only tests set", () => {
    const { clock, time } = clockAt(START + 0.7);
    expect(clock.read(NOTHING_KEPT)).toBe(START);
    time.wall = START + 10;
    expect(clock.read({ ...NOTHING_KEPT, offset_ms: 500 })).toBe(START + 510);
  });

  test("goes on with the monotonic time when the wall clock is set back", () => {
    const { clock, time } = clockAt();
    clock.read(NOTHING_KEPT);
    time.wall -= 3_600_000;
    time.monotonic += 250;
    expect(clock.read(NOTHING_KEPT)).toBe(START + 250);
    time.wall += 3_600_000 + 1_000;
    time.monotonic += 1_000;
    expect(clock.read(NOTHING_KEPT)).toBe(START + 1_250);
  });

  test("never falls behind what was kept, whoever kept it", () => {
    const { clock } = clockAt();
    expect(clock.read({ ...NOTHING_KEPT, last_ms: START + 9_000 })).toBe(START + 9_000);
    expect(clock.read(NOTHING_KEPT)).toBe(START + 9_000);
  });

  test("a process that starts later adds the time since, where the monotonic clock is the same", () => {
    const first = clockAt();
    first.clock.read(NOTHING_KEPT);
    const kept = { ...NOTHING_KEPT, last_ms: START, ...first.clock.mark() };
    expect(kept).toMatchObject({ boot: "boot", uptime_ms: 5_001 });
    const later = (boot: string, uptime: number) => clockAt(START - 3_600_000, uptime, boot).clock.read(kept);
    expect(later("boot", 65_001)).toBe(START + 60_000);
    expect(later("another boot", 65_001)).toBe(START);
    expect(later("", 65_001)).toBe(START);
    expect(later("boot", 10)).toBe(START);
  });

  test("tells a forward jump of more than a minute, and no other", () => {
    const { clock, time, jumps } = clockAt();
    clock.read(NOTHING_KEPT);
    time.wall += 60_000;
    clock.read(NOTHING_KEPT);
    time.wall -= 500_000;
    clock.read(NOTHING_KEPT);
    time.wall += 100_000;
    time.monotonic += 100_000;
    clock.read(NOTHING_KEPT);
    expect(jumps).toEqual([]);
    time.wall += 60_001;
    clock.read(NOTHING_KEPT);
    expect(jumps).toEqual([60_001]);
  });

  test("the system's monotonic clock is the machine's, and its boot has a name on Linux", () => {
    const sinceStart = systemTime.monotonicMs() - performance.now();
    expect(sinceStart).toBeGreaterThan(0);
    if (process.platform === "linux") expect(systemTime.boot?.()).toMatch(/^[0-9a-f-]{36}$/);
  });
});
