import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DrawnNode, dot, mermaid } from "./plan-drawing.js";

const node = (content: string, more: Partial<DrawnNode> = {}): DrawnNode => ({
  task_id: "0123456789abcdef0123456789abcdef",
  key: "a",
  content,
  status: "open",
  ready: true,
  blocked: false,
  frozen: false,
  stalled: false,
  verdict: null,
  verdict_stale: false,
  ...more,
});
/** Titles that would be more than text, were they written as they are. */
const HOSTILE = [
  '"]\n  click n0 "javascript:alert(1)"',
  '"]; click n0 call alert()',
  "a]--> b",
  "</text><script>alert(1)</script>",
  "%%{init: {'theme':'dark'}}%%",
  "#quot;",
  "`**bold**`",
  'x", URL="javascript:alert(1)',
  "ends in a backslash \\",
  "a\r\nb\u2028c\u0000d",
  "\\N \\G \\E",
];

describe("a plan drawn", () => {
  test("for Mermaid: a line for each node, edge and state in use", () => {
    const nodes = [
      node("first", { status: "completed", verdict: "pass" }),
      node("second", { task_id: "b", stalled: true }),
    ];
    expect(mermaid(nodes, [{ from: nodes[0]?.task_id as string, to: "b" }])).toBe(
      [
        "flowchart TD",
        '  n0["first · completed · pass"]:::completed',
        '  n1["second · stalled"]:::stalled',
        "  n0 --> n1",
        "  classDef completed fill:#d3f0d8,stroke:#2f7d3e,color:#111",
        "  classDef stalled fill:#fbe0c4,stroke:#b3590a,color:#111",
        "",
      ].join("\n"),
    );
  });

  test.each(HOSTILE)("for Mermaid: %j is text and nothing else", (title) => {
    const lines = mermaid([node(title)], []).split(/\r\n|[\n\r\u2028\u2029]/);
    expect(lines).toHaveLength(4);
    expect(lines[1]).toMatch(/^ {2}n0\["[^"[\]{}<>`%\\&]*"\]:::ready$/);
    // A number sign begins an entity, and only that.
    expect(lines[1]?.replace(/#\d+;/g, "")).not.toContain("#");
  });

  test.each(HOSTILE)("for Graphviz: %j is text and nothing else", (title) => {
    const lines = dot([node(title)], []).split(/\r\n|[\n\r\u2028\u2029]/);
    expect(lines).toHaveLength(5);
    expect(lines[2]).toMatch(
      /^ {2}"[0-9a-f]{32}" \[label="(?:[^"\\]|\\\\|\\")*", fillcolor="#ffffff", color="#1f5fae"\];$/,
    );
  });

  test("no title, whatever it is, makes a line of its own or ends its quotes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (title) => {
        expect(mermaid([node(title)], []).split("\n")).toHaveLength(4);
        expect(mermaid([node(title)], []).match(/"/g)).toHaveLength(2);
        expect(dot([node(title)], []).split("\n")).toHaveLength(5);
      }),
    );
  });
});
