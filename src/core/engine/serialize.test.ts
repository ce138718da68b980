import { describe, expect, it } from "vitest";
import { z } from "zod";
import { operationList } from "../../contract/operations.js";
import { task } from "../../contract/task.js";
import { serializerOf } from "./serialize.js";

describe("the writer of answers", () => {
  it("has a serializer for every operation's answer", () => {
    for (const operation of operationList) expect(() => serializerOf(operation.output)).not.toThrow();
  });

  it("writes what is promised and strips what nobody promised", () => {
    const write = serializerOf(
      z.object({ a: z.string(), b: z.number().nullable(), c: z.array(z.boolean()).optional() }),
    );
    expect(JSON.parse(write({ a: 'x"y', b: null, secret: "key", c: [true] }))).toEqual({
      a: 'x"y',
      b: null,
      c: [true],
    });
    expect(write({ a: "", b: 1 })).toBe('{"a":"","b":1}');
  });

  it("refuses a value of another type than promised, naming the field", () => {
    const write = serializerOf(z.object({ rows: z.array(task.pick({ status: true, fence: true })) }));
    expect(() => write({ rows: [{ status: "open", fence: "3" }] })).toThrow(
      "answer.rows[].fence: promised a number, not string",
    );
    expect(() => write({ rows: [{ status: "opened", fence: 3 }] })).toThrow("status");
    expect(() => write({ rows: [{ fence: 3 }] })).toThrow("status");
  });

  it("agrees with the schema's own parse on hostile text and nested JSON", () => {
    const schema = z.object({ result: z.json().nullable(), note: z.string() });
    const value = { result: { deep: [1, "\u2028", { "<": null }] }, note: "\ud83d\ude00 </script>\u0000" };
    expect(JSON.parse(serializerOf(schema)(value))).toEqual(schema.parse(value));
  });
});
