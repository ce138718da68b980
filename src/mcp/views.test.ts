import { expect, test } from "vitest";
import { agentTextFields, view } from "./views.js";

test("a view leaves out what is null, false or empty", () => {
  const record = { id: "1", priority: 0, labels: [], ready: false, handoff_note: null };
  expect(view(record, undefined, 100)).toEqual({ id: "1", priority: 0 });
});

test("a view cuts long texts, leaves out long JSON, and names both", () => {
  const record = { id: "x".repeat(32), content: "y".repeat(50), context: { a: "z".repeat(50) }, labels: ["short"] };
  expect(view(record, ["id", "content", "context", "labels"], 30)).toEqual({
    id: record.id,
    content: `${"y".repeat(29)}…`,
    labels: ["short"],
    cut: ["content", "context"],
  });
});

test("cutting never leaves half a character", () => {
  const { content } = view({ content: "😀".repeat(40) }, ["content"], 31) as { content: string };
  expect(() => encodeURIComponent(content)).not.toThrow();
});

test("the fields that hold what agents wrote are named wherever they stand, and not looked into (R60)", () => {
  const answer = {
    tasks: [
      { id: "1", content: "a" },
      { id: "2", context: { intent: "x" } },
    ],
    next_cursor: "c",
  };
  expect(agentTextFields(answer)).toEqual(["content", "context"]);
});
