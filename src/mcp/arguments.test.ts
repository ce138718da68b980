import { describe, expect, test } from "vitest";
import { z } from "zod";
import { DibsError } from "../contract/errors.js";
import { readArguments } from "./arguments.js";

const fields = {
  labels: z.array(z.string()).optional(),
  tasks: z.array(z.strictObject({ content: z.string(), labels: z.array(z.string()).optional() })).optional(),
  context: z.record(z.string(), z.json()).optional(),
  result: z.json().optional(),
  lease_seconds: z.int().optional(),
  limit: z.int().default(20),
  takeover: z.boolean().optional(),
  state: z.enum(["working"]).optional(),
};
const read = (given: Record<string, unknown>) => readArguments(fields, given);

function mistakesOf(given: Record<string, unknown>) {
  try {
    read(given);
  } catch (error) {
    if (error instanceof DibsError) return error.details as { fields: { field: string; message: string }[] };
    throw error;
  }
  throw new Error("Nothing was refused.");
}

describe("arguments as MCP clients send them (C66)", () => {
  test.each([
    ["an array as JSON text", { labels: '["a","b"]' }, { labels: ["a", "b"] }],
    ["a plain text for an array of one", { labels: "a" }, { labels: ["a"] }],
    ["an array as itself", { labels: ["a", "b"] }, { labels: ["a", "b"] }],
    ["an object as JSON text", { context: '{"a":{"b":1}}' }, { context: { a: { b: 1 } } }],
    [
      "a list of records as JSON text",
      { tasks: '[{"content":"x","labels":"[\\"l\\"]"}]' },
      { tasks: [{ content: "x", labels: ["l"] }] },
    ],
    ["a record for a list of one", { tasks: '{"content":"x"}' }, { tasks: [{ content: "x" }] }],
    ["a whole number as text", { lease_seconds: "300" }, { lease_seconds: 300 }],
    ["a number with a default as text", { limit: " 5 " }, { limit: 5 }],
    ["true and false as text", { takeover: "true" }, { takeover: true }],
    [
      "null as absent, also inside records",
      { labels: null, tasks: [{ content: "x", labels: null }] },
      { tasks: [{ content: "x" }] },
    ],
    ["any JSON as JSON text", { result: '{"ok":true}' }, { result: { ok: true } }],
    ["text that only begins like JSON as text", { result: "[draft] see notes" }, { result: "[draft] see notes" }],
    ["a number for any JSON", { result: 0 }, { result: 0 }],
  ])("reads %s", (_what, given, expected) => {
    expect(read(given)).toEqual(expected);
  });

  test.each([
    ["a list that was begun and not ended", { labels: '["a"' }, "labels", '["a","b"]'],
    ["a number for a list", { labels: 5 }, "labels", '["a","b"]'],
    ["a plain text for a list of records", { tasks: "x" }, "tasks", '[{"content":'],
    ["a list for an object", { context: [] }, "context", '{"key":"value"}'],
    ["a broken object", { context: '{"a"' }, "context", '{"key":"value"}'],
    ["an unknown name", { labls: ["a"] }, "labls", "allowed are labels, tasks"],
    ["an unknown name inside a record", { tasks: [{ content: "x", title: "y" }] }, "tasks.0.title", "content, labels"],
  ])("refuses %s and says where and how", (_what, given, field, says) => {
    const { fields: mistakes } = mistakesOf(given);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]?.field).toBe(field);
    expect(mistakes[0]?.message).toContain(says);
  });

  test("names every mistake, not the first alone", () => {
    expect(mistakesOf({ labels: 5, x: 1 }).fields.map((mistake) => mistake.field)).toEqual(["labels", "x"]);
  });

  test("what it can't turn into the right type is left for the contract to refuse", () => {
    expect(read({ lease_seconds: "1e12", takeover: "yes", state: 3 })).toEqual({
      lease_seconds: "1e12",
      takeover: "yes",
      state: 3,
    });
  });

  test("JSON text that nests too deep is refused, as the body's own limit can't see into a text", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    expect(mistakesOf({ result: deep }).fields[0]?.field).toMatch(/^result(\.0){31}$/);
    expect(mistakesOf({ context: `{"a":${deep}}` }).fields[0]?.field).toMatch(/^context\.a(\.0){30}$/);
  });

  test("a member called __proto__ is refused, in JSON text as anywhere", () => {
    expect(mistakesOf({ context: '{"a":{"__proto__":{"polluted":true}}}' }).fields[0]?.field).toBe(
      "context.a.__proto__",
    );
    expect(mistakesOf(JSON.parse('{"__proto__":1}')).fields[0]?.field).toBe("__proto__");
  });
});
