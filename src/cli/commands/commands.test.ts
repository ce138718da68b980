import { describe, expect, test } from "vitest";
import { operationList, operations } from "../../contract/operations.js";
import { buildProgram } from "../program.js";
import { commands } from "./commands.js";
import { clearOption, flagsOf, jsonObject } from "./flags.js";

const flags = (name: keyof typeof operations) => flagsOf(operations[name], []);
const flag = (name: keyof typeof operations, field: string) => {
  const found = flags(name).find((one) => one.field === field);
  if (!found) throw new Error(`no flag for ${field}`);
  return found;
};

describe("the commands", () => {
  test("reach every operation of the contract, each by one command", () => {
    const reached = commands
      .filter((row) => !row.also)
      .flatMap((row) => [row.operation, ...(row.named ? [row.named] : [])]);
    expect(reached.sort()).toEqual(operationList.map(({ name }) => name).sort());
  });

  test("have words of their own, an example that uses them, and positionals that the operation knows", () => {
    expect(new Set(commands.map(({ words }) => words)).size).toBe(commands.length);
    for (const { words, operation, positionals = [], examples } of commands) {
      expect(examples.join("\n")).toContain(`dibs ${words}`);
      expect(Object.keys(operations[operation].input.shape)).toEqual(expect.arrayContaining([...positionals]));
    }
  });

  test("every one has help with its examples, and what it takes (JSON everywhere)", () => {
    const program = buildProgram("1", () => undefined);
    for (const { words } of commands) {
      const path = words.split(" ");
      const command = path.reduce((at, word) => at.commands.find((one) => one.name() === word) ?? at, program);
      expect(command.name()).toBe(path.at(-1));
      let help = "";
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      expect(help).toContain("Examples:");
      expect(help).toContain("--json ");
    }
  });
});

describe("a flag", () => {
  const named = (name: keyof typeof operations, field: string) => flag(name, field).options[0]?.flags;

  test("is made from its field: text, number, list, switch, choice and JSON", () => {
    expect(named("create_task", "description")).toBe("--description <text>");
    expect(named("claim_next_task", "lease_seconds")).toBe("--lease-seconds <n>");
    expect(named("claim_next_task", "labels")).toBe("--label <text>");
    expect(named("claim_task", "takeover")).toBe("--takeover");
    expect(named("set_task_state", "state")).toBe("--state <working|waiting_input|errored>");
    expect(named("complete_task", "result")).toBe("--result <json>");
    expect(named("create_tasks", "tasks")).toBe("--tasks <json>");
  });

  test("says what the field means, its default, and whether it is required", () => {
    expect(flag("list_tasks", "limit").options[0]?.description).toBe("Rows a page, 1..1000. (default: 100)");
    expect(flag("create_task", "content").options[0]?.description).toMatch(/^What is to be done.*\(required\)$/);
  });

  test("leaves what isn't a number to the operation, which names the field and its range", () => {
    const { read } = flag("claim_next_task", "lease_seconds");
    expect([read({ leaseSeconds: "300" }), read({ leaseSeconds: "1e12" }), read({ leaseSeconds: "-5" })]).toEqual([
      300, 1e12, -5,
    ]);
    expect([read({ leaseSeconds: "soon" }), read({ leaseSeconds: "" }), read({})]).toEqual(["soon", "", undefined]);
  });

  test("takes JSON where anything may stand, and plain text where it is none", () => {
    const { read } = flag("complete_task", "result");
    expect(read({ result: '{"a":[1]}' })).toEqual({ a: [1] });
    expect(read({ result: "all green" })).toBe("all green");
  });

  test("can be repeated for a list, in either number of its name", () => {
    const { options, read } = flag("claim_next_task", "labels");
    expect(options.map((option) => option.attributeName())).toEqual(["label", "labels"]);
    expect(read({ label: ["a"], labels: ["b", "c"] })).toEqual(["a", "b", "c"]);
  });

  test("can be said or denied when it is a switch, and is absent else", () => {
    const { read } = flag("list_tasks", "ready");
    expect([read({ ready: true }), read({ ready: false }), read({})]).toEqual([true, false, undefined]);
  });

  test("that clears is offered only where a field can be emptied", () => {
    expect(clearOption(operations.update_task)?.description).toContain("due_date");
    expect(clearOption(operations.update_task)?.description).not.toContain("content");
    expect(clearOption(operations.create_task)).toBeUndefined();
  });
});

test("fields as JSON must be one object", () => {
  expect(jsonObject('{"a":null}')).toEqual({ a: null });
  for (const wrong of ["[1]", "3", "null", "{", ""]) {
    expect(() => jsonObject(wrong)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  }
});
