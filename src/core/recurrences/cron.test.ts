import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lastTick, scheduleOf } from "./cron.js";

/** All ticks between two times, and no more than `most` of them. */
function ticks(cron: string, zone: string, from: string, to: string, most = 1_000): string[] {
  const schedule = scheduleOf(cron, zone);
  const found: string[] = [];
  for (let at = schedule.after(Date.parse(from)); at !== null && at < Date.parse(to); at = schedule.after(at)) {
    if (found.length === most) throw new Error("more ticks than there may be");
    found.push(new Date(at).toISOString().slice(5, 16).replace("T", " "));
  }
  return found;
}

describe("the night in which Berlin's clocks go from 02:00 to 03:00", () => {
  const spring = (cron: string) => ticks(cron, "Europe/Berlin", "2026-03-28T22:30Z", "2026-03-29T03:30Z");

  test("a time that there isn't ticks once, where the gap ends", () => {
    expect(spring("30 2 * * *")).toEqual(["03-29 01:00"]);
    expect(spring("0 2 * * *")).toEqual(["03-29 01:00"]);
    expect(spring("0,30 2 * * *")).toEqual(["03-29 01:00"]);
  });
  test("times beside it come as ever, whatever is named with them", () => {
    expect(spring("30 1-3 * * *")).toEqual(["03-29 00:30", "03-29 01:00", "03-29 01:30"]);
    expect(spring("0 1,3,4 * * *")).toEqual(["03-29 00:00", "03-29 01:00", "03-29 02:00"]);
  });
  test("every hour that passes has its tick", () => {
    expect(spring("15 * * * *")).toEqual(
      ["23:15", "00:15", "01:15", "02:15", "03:15"].map((at, nth) => `03-2${nth ? 9 : 8} ${at}`),
    );
  });
  test("days around it tick at their own 02:30", () => {
    expect(ticks("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00Z", "2026-03-31T12:00Z")).toEqual([
      "03-28 01:30",
      "03-29 01:00",
      "03-30 00:30",
      "03-31 00:30",
    ]);
  });
});

describe("the night in which Berlin has 02:00 to 03:00 twice", () => {
  const autumn = (cron: string) => ticks(cron, "Europe/Berlin", "2026-10-24T22:30Z", "2026-10-25T03:30Z");

  test("a named time ticks once, the first time", () => {
    expect(autumn("30 2 * * *")).toEqual(["10-25 00:30"]);
    expect(autumn("0,30 2 * * *")).toEqual(["10-25 00:00", "10-25 00:30"]);
    expect(autumn("30 1-3 * * *")).toEqual(["10-24 23:30", "10-25 00:30", "10-25 02:30"]);
    expect(autumn("0 */2 * * *")).toEqual(["10-25 00:00", "10-25 03:00"]);
  });
  test("asked between the two, it has the tick behind it", () => {
    const at = (from: string) => ticks("30 2 * * *", "Europe/Berlin", from, "2026-10-26T12:00Z");
    for (const from of ["2026-10-25T00:30Z", "2026-10-25T00:45Z", "2026-10-25T01:15Z", "2026-10-25T01:30Z"]) {
      expect(at(from), from).toEqual(["10-26 01:30"]);
    }
  });
  test("every hour that passes has its tick", () => {
    expect(autumn("15 * * * *")).toEqual(["10-24 23:15", "10-25 00:15", "10-25 01:15", "10-25 02:15", "10-25 03:15"]);
  });
});

test("a day that a zone left out, a gap at midnight and one of half an hour tick where they end", () => {
  expect(ticks("0 9 * * *", "Pacific/Apia", "2011-12-29T12:00Z", "2012-01-01T00:00Z")).toEqual([
    "12-29 19:00",
    "12-30 10:00",
    "12-30 19:00",
    "12-31 19:00",
  ]);
  expect(ticks("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00Z", "2018-11-05T12:00Z")).toEqual([
    "11-04 03:00",
    "11-05 02:00",
  ]);
  expect(ticks("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00Z", "2026-10-05T00:00Z")).toEqual([
    "10-03 15:30",
    "10-04 15:15",
  ]);
});

test("whatever time is asked from, ticks are those of the one sequence, and the last of them is found", () => {
  const zones = [
    "Europe/Berlin",
    "UTC",
    "America/New_York",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Asia/Kathmandu",
  ];
  const crons = ["30 2 * * *", "*/20 * * * *", "0,30 1-3 * * *", "0 0 1 * *", "15 */3 * * 1-5", "* 2 * * 0"];
  const transitions = ["2026-03-29T01:00Z", "2026-10-25T01:00Z", "2026-11-01T06:00Z", "2026-10-03T15:30Z"].map(
    Date.parse,
  );
  const some = fc.record({
    zone: fc.constantFrom(...zones),
    cron: fc.constantFrom(...crons),
    fromMs: fc.constantFrom(...transitions).chain((at) => fc.integer({ min: at - 7_200_000, max: at + 7_200_000 })),
    later: fc.integer({ min: 0, max: 40 * 86_400_000 }),
  });
  fc.assert(
    fc.property(some, ({ zone, cron, fromMs, later }) => {
      const schedule = scheduleOf(cron, zone);
      const first = schedule.after(fromMs) ?? 0;
      expect(first).toBeGreaterThan(fromMs);
      // No tick lies between: from anywhere before the first it is the next.
      expect(schedule.after(fromMs + Math.floor((first - 1 - fromMs) / 2))).toBe(first);
      expect(schedule.after(first - 1)).toBe(first);
      const nowMs = first + later;
      const last = lastTick(schedule, first, nowMs);
      expect(last).toBeLessThanOrEqual(nowMs);
      expect(schedule.after(last)).toBeGreaterThan(nowMs);
      expect(last === first || schedule.after(last - 1) === last).toBe(true);
    }),
    { numRuns: 150 },
  );
});

test("the last of a year's ticks is found at once, one a minute or one a leap year", () => {
  const nowMs = Date.parse("2033-01-31T12:00:30Z");
  const last = (cron: string, first: string) =>
    new Date(lastTick(scheduleOf(cron, "Europe/Berlin"), Date.parse(first), nowMs)).toISOString();
  const startedAt = performance.now();
  expect(last("* * * * *", "2026-01-01T00:00Z")).toBe("2033-01-31T12:00:00.000Z");
  expect(last("0 0 29 2 *", "2028-02-28T23:00Z")).toBe("2032-02-28T23:00:00.000Z");
  expect(last("* 3 1 1 *", "2026-01-01T02:00Z")).toBe("2033-01-01T02:59:00.000Z");
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

const GOOD = [
  "0 9 * * 1-5",
  "*/7 * * * *",
  "0 0 L * *",
  "0 0 * * MON#2",
  "0 0 29 2 *",
  "@daily",
  " 0 9 * * 7 ",
  "@WEEKLY",
];
test.each(GOOD)("%s is a schedule", (cron) => {
  expect(scheduleOf(cron, "Europe/Berlin").after(0)).toBeGreaterThan(0);
});

const FORM = /^cron: must be five fields, minute hour day month weekday, as "0 9 \* \* 1-5"/;
test.each([
  ["", FORM],
  ["* * * *", FORM],
  ["* * * * * *", FORM],
  ["@often", FORM],
  ["? * * * *", FORM],
  ["0 0 1 1 +1", FORM],
  ["60 * * * *", /Invalid value for minute: 60/],
  ["0 24 * * *", /Invalid value for hour: 24/],
  ["*/0 * * * *", /illegal stepping/],
  ["5-1 * * * *", /From value is larger/],
  ["0 0 30 2 *", /^cron: never comes: .*"0 0 30 2 \*"/],
  ["0 0 31 2,4,6 *", /never comes/],
])("cron %j is refused with what would be right", (cron, says) => {
  expect(() => scheduleOf(cron, "UTC")).toThrow(says);
});

test.each(["", "Mars/Olympus", "+02:00", "Berlin", "Europe/Berlin; DROP"])("the zone %j is refused", (zone) => {
  expect(() => scheduleOf("@daily", zone)).toThrow(
    /^time_zone: must be a zone of the IANA database, as Europe\/Berlin/,
  );
});
