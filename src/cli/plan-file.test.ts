import { describe, expect, test } from "vitest";
import { DibsError, invalidInput, isDibsError } from "../contract/errors.js";
import { PlanFile } from "./plan-file.js";

const faultOf = (text: string): string => {
  try {
    new PlanFile("plan.yaml", text);
  } catch (thrown) {
    if (isDibsError(thrown, "invalid_input")) return thrown.message;
    throw thrown;
  }
  throw new Error("It was read.");
};
const PLAN = `slug: release
steps:
  - key: build
    content: Build it
  - key: ship
    content: Ship it
    depends_on: [build, nobody]
    priority: 9
`;

describe("a plan's file (R27)", () => {
  test("may be YAML or JSON, with a byte order mark or without", () => {
    const wanted = { slug: "p", steps: [{ key: "a", content: "A", depends_on: ["b"] }] };
    expect(new PlanFile("f", JSON.stringify(wanted)).input).toEqual(wanted);
    expect(new PlanFile("f", `\uFEFF${JSON.stringify(wanted, null, 2)}\r\n`).input).toEqual(wanted);
    const yaml = "# a comment\nslug: p\nsteps:\n- {key: a, content: A, depends_on: [b]}\n";
    expect(new PlanFile("f", `\uFEFF${yaml}`).input).toEqual(wanted);
  });

  test("may name steps by what YAML takes for numbers or for true, and keeps them as they are written", () => {
    const text = "slug: 2026\nsteps:\n- {key: 007, content: 1.10}\n- {key: true, content: x, depends_on: [007, 1e3]}\n";
    expect(new PlanFile("f", text).input).toEqual({
      slug: "2026",
      steps: [
        { key: "007", content: "1.10" },
        { key: "true", content: "x", depends_on: ["007", "1e3"] },
      ],
    });
  });

  test.each([
    [
      "a quote that never ends",
      'slug: "p\nsteps: []\n',
      /^plan\.yaml line 3, column 1: isn't YAML or JSON here: Missing closing/,
    ],
    ["a name twice in one step", "slug: p\nsteps:\n- key: a\n  key: b\n", /^plan\.yaml line 4, column 3: .*unique/],
    ["a tab for spaces", "slug: p\nsteps:\n\t- key: a\n", /^plan\.yaml line 3, column 1: isn't YAML/],
    ["JSON with a comma missing", '{"slug": "p"\n "steps": []}', /^plan\.yaml line 2, column 2: isn't YAML/],
    ["an alias of nothing", "slug: *x\n", /^plan\.yaml line 1, column 7: there is no anchor &x before this$/],
    ["two plans", "slug: p\n---\nslug: q\n", /^plan\.yaml line 2, column 1: .*multiple documents/],
    ["a list", "- a\n", /^plan\.yaml: must hold one plan: slug, title and steps$/],
    ["nothing", "", /^plan\.yaml: must hold one plan/],
  ])("with %s is refused by line and column", (_what, text, says) => expect(faultOf(text)).toMatch(says));

  test("of a few lines that would become gigabytes by its aliases is refused, at once", () => {
    const levels = Array.from({ length: 30 }, (_, at) => `l${at + 1}: &l${at + 1} [${`*l${at},`.repeat(9)}]`);
    expect(faultOf(`slug: p\nl0: &l0 [x]\n${levels.join("\n")}\n`)).toMatch(
      /^plan\.yaml: can't be read as YAML: Excessive alias/,
    );
  });
});

describe("a refused plan is told by where the file says it", () => {
  const file = new PlanFile("plan.yaml", PLAN);
  const located = (refusal: DibsError) => (file.located(refusal) as DibsError).message;

  test("a wrong field, a missing one, and one that the file doesn't have", () => {
    const at = (field: string) => located(invalidInput(field, "is wrong"));
    expect(at("steps.1.priority")).toBe("plan.yaml line 8, column 5: steps.1.priority is wrong");
    expect(at("steps.0.content")).toBe("plan.yaml line 4, column 5: steps.0.content is wrong");
    expect(at("steps.0.labels.0")).toBe("plan.yaml line 3, column 5: steps.0.labels.0 is wrong");
    expect(at("steps.1.depends_on.1")).toBe("plan.yaml line 7, column 25: steps.1.depends_on.1 is wrong");
    expect(at("steps.7.key")).toBe("plan.yaml line 2, column 1: steps.7.key is wrong");
    expect(at("title")).toBe("plan.yaml: title is wrong");
  });

  test("a blocker that nobody knows, with its code and details kept", () => {
    const text = "steps.1.depends_on.1: step ship waits for nobody, which no step has as its key";
    const told = file.located(new DibsError("unknown_dependency", text, { id: "nobody" })) as DibsError;
    expect(told).toMatchObject({
      code: "unknown_dependency",
      details: { id: "nobody" },
      message: "plan.yaml line 7, column 25: step ship waits for nobody, which no step has as its key",
    });
  });

  test("anything else as it is", () => {
    const other = new DibsError("not_found", "There is no plan p.", {});
    expect(file.located(other)).toBe(other);
    const fault = new Error("no");
    expect(file.located(fault)).toBe(fault);
  });
});
