import { expect, test } from "vitest";
import { cardLines } from "./card.js";
import { paintOf, screenOf } from "./screen.js";
import { columnsOf } from "./shown-text.js";
import { type Column, tableLines } from "./table.js";
import { when } from "./when.js";

const nowMs = Date.parse("2026-07-01T12:00:00.000Z");
const screen = { paint: paintOf(false), columns: Number.POSITIVE_INFINITY, nowMs, timeZone: "Europe/Berlin" };
const columns: Column[] = [
  { title: "NAME", text: (row) => String(row.name), flexible: true },
  { title: "STATE", text: (row) => String(row.state), paint: (text, _row, on) => on.paint.green(text) },
  { title: "AGE", text: (row) => String(row.age) },
];

test("a table has one line per record, aligned whatever the records hold (C82)", () => {
  const rows = [
    { name: "日本\nfake  done", state: "open", age: 1 },
    { name: "plain", state: "claimed", age: 20 },
  ];
  const lines = tableLines(columns, rows, { ...screen, paint: paintOf(true) });
  expect(lines).toHaveLength(3);
  const bare = lines.map((line) => line.replaceAll(/\u001b\[\d+m/g, ""));
  expect(bare[1]).toContain("日本\\nfake  done");
  const ages = bare.map((line, at) => columnsOf(line.slice(0, line.lastIndexOf(["AGE", "1", "20"][at] ?? ""))));
  expect(new Set(ages).size).toBe(1);
});

test("only the flexible column gives way to a narrow terminal", () => {
  const rows = [{ name: "a long name that does not fit", state: "claimed", age: 20 }];
  const lines = tableLines(columns, rows, { ...screen, columns: 30 });
  expect(lines[1]).toMatch(/^a long name tha… {2}/);
  expect(lines[1]).toMatch(/claimed {2}20$/);
  expect(columnsOf(lines[1] ?? "")).toBeLessThanOrEqual(30);
});

test("a card leaves out what says nothing and shows times both ways", () => {
  const record = {
    id: "7",
    note: null,
    lapsed: false,
    labels: ["a\u0007", "b"],
    lease_expires_at: "2026-07-01T12:05:00.000Z",
    lease_remaining_ms: 300_000,
    context: { a: "\u202e" },
  };
  expect(cardLines(record, screen)).toEqual([
    "  id                7",
    "  labels            a\\x07, b",
    "  lease_expires_at  14:05:00 CEST (in 5 min)",
    '  context           {"a":"\\u{202e}"}',
  ]);
});

test("a time is told in the viewer's zone, with the day when it isn't today (C49)", () => {
  const at = Date.parse("2026-07-01T23:30:00.000Z");
  expect(when(at, { nowMs, timeZone: "Europe/Berlin" })).toBe("2026-07-02 01:30:00 CEST (in 11 h)");
  expect(when(nowMs - 90_000, { nowMs, timeZone: "Asia/Tokyo" })).toBe("20:58:30 GMT+9 (1 min 30 s ago)");
});

test("colours show on a terminal only, unless the environment says otherwise", () => {
  expect(screenOf({ isTTY: true }, undefined, 0).paint.red("x")).not.toBe("x");
  expect(screenOf({}, undefined, 0).paint.red("x")).toBe("x");
  expect(screenOf({ isTTY: true }, false, 0).paint.red("x")).toBe("x");
  expect(screenOf({}, true, 0).paint.red("x")).not.toBe("x");
});
