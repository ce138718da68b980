import fc from "fast-check";
import { expect, test } from "vitest";
import { iso } from "./task-view.js";

test("times are told as RFC 3339 with milliseconds, whatever their order", () => {
  const instants = fc.array(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }));
  fc.assert(
    fc.property(instants, (all) => {
      expect(all.map(iso)).toEqual(all.map((ms) => new Date(ms).toISOString()));
    }),
  );
});
