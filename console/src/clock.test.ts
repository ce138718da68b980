import { describe, expect, test } from "vitest";
import { ageText, countdownText, spokenDuration } from "./clock.js";

describe("a countdown", () => {
  test.each([
    [300_000, "5:00"],
    [299_999, "5:00"],
    [61_001, "1:02"],
    [9_000, "0:09"],
    [1, "0:01"],
    [0, "0:00"],
    [-5_000, "0:00"],
    [3_600_000, "1:00:00"],
    [86_399_000, "23:59:59"],
  ])("of %i ms reads %s: rounded up, so that 0:00 means over", (leftMs, text) => {
    expect(countdownText(leftMs)).toBe(text);
  });

  test("is spoken in words", () => {
    expect(spokenDuration(3_661_000)).toBe("1 hour 1 minute 1 second");
    expect(spokenDuration(120_000)).toBe("2 minutes");
    expect(spokenDuration(0)).toBe("0 seconds");
  });
});

test.each([
  [-3_000, "now"],
  [1_999, "now"],
  [59_000, "59 s"],
  [60_000, "1 min"],
  [3_599_000, "59 min"],
  [7_200_000, "2 h"],
  [172_800_000, "2 d"],
])("an age of %i ms reads %s", (ageMs, text) => {
  expect(ageText(ageMs)).toBe(text);
});
