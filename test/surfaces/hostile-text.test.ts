import { type Operation, type OperationName, operationList } from "dibs/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { z } from "zod";
import { badCli } from "./bad-ways.js";
import { NOT_IN_TOOLS, pathOf, required, UNKNOWN } from "./open-calls.js";
import { rest } from "./over-http.js";
import { mcp } from "./over-mcp.js";
import type { Fields } from "./surface.js";
import { mistakes, refusedWithoutTrace, withoutTrace } from "./traces.js";
import { openWorld, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

describe("text that no store keeps and no screen shows is refused wherever it stands (R60)", () => {
  const hostile = [
    ["NUL", "a\0b", /must not contain NUL \(U\+0000\); remove it/],
    ["half a surrogate pair", "a\ud800b", /must be well-formed Unicode; it has half of a surrogate pair/],
  ] as const;
  const places = operationList
    .flatMap((operation) => placesOf(operation).map((place) => ({ operation, ...place })))
    // What is wrong with a scope its grammar says, below.
    .filter(({ field, shape }) => !isScope({ [field]: shape("x") }));

  test("there are many such places", () => expect(places.length).toBeGreaterThan(100));

  test.each(hostile)("%s, over REST", async (what, text, says) => {
    const surface = rest("/v1").open(world);
    await withoutTrace(world, async () => {
      for (const { operation, field, shape } of places) {
        // An address has no way to say half a pair.
        if (what !== "NUL" && isInAddress(operation, field)) continue;
        const heard = await surface.ask({
          operation: operation.name as OperationName,
          as: world.people.boss,
          input: { ...pathOf(operation), [field]: shape(text) },
        });
        expect(heard, `${operation.name} ${field}`).toMatchObject({
          code: "invalid_input",
          body: { detail: expect.stringMatching(says) },
        });
        expect(mistakes(heard)[0]?.field).toMatch(new RegExp(`^${field}(\\.|$)`));
      }
    });
  });

  test.each(hostile)("%s, over MCP", async (_what, text, says) => {
    const surface = mcp("HTTP").open(world);
    await withoutTrace(world, async () => {
      for (const { operation, field, shape } of places) {
        const name = operation.name as OperationName;
        if (!mcp("HTTP").tools?.fronts(name) || NOT_IN_TOOLS.has(`${name}.${field}`)) continue;
        if (field === "session_id") continue;
        const input = { ...pathOf(operation), ...required(name), [field]: shape(text) };
        const heard = await surface.ask({
          operation: name,
          as: world.people.boss,
          session: world.people.boss.sessionId,
          input,
        });
        expect(heard, `${name} ${field}`).toMatchObject({
          code: "invalid_input",
          body: { message: expect.stringMatching(says) },
        });
      }
    });
    await surface.close();
  });

  test.each(hostile)("%s, by commands", async (_what, text, says) => {
    const texts: [OperationName, Fields][] = [
      ["create_tasks", { tasks: [{ content: text }] }],
      ["release_task", { task_id: UNKNOWN, handoff: text }],
      ["complete_task", { task_id: UNKNOWN, result: { [text]: 1 } }],
    ];
    for (const [operation, input] of texts) {
      const { task_id, ...others } = input;
      const bad = {
        what: "",
        operation,
        json: JSON.stringify(others),
        path: task_id ? { task_id } : {},
        field: "",
        says,
      };
      const heard = await refusedWithoutTrace(world, () => badCli(world, "file", world.people.boss).send(bad));
      expect(heard).toMatchObject({ code: "invalid_input", exit: 2, body: { detail: expect.stringMatching(says) } });
    }
  });
});

describe("in a scope it is told as all that is wrong with one, with its segment and escaped (R29)", () => {
  const scope = "path:src/a\0b";
  const told = { code: "invalid_scope", body: { scope, segment: "a\0b" } };
  const says = /"a\\u0000b" must not contain NUL .* A segment has/;

  test.each([rest("/v1"), mcp("HTTP")])("over $name", async (way) => {
    const surface = way.open(world);
    const { boss } = world.people;
    for (const [operation, input] of [
      ["create_tasks", { tasks: [{ content: "x", scopes: [scope] }] }],
      ["list_claims", { scope }],
    ] as const) {
      const asked = { operation, as: boss, session: boss.sessionId, input };
      const heard = await refusedWithoutTrace(world, () => surface.ask(asked));
      expect(heard, operation).toMatchObject(told);
      expect(Object.values(heard?.body ?? {})).toContainEqual(expect.stringMatching(says));
    }
    await surface.close();
  });

  test("by commands", async () => {
    const json = JSON.stringify({ tasks: [{ content: "x", scopes: [scope] }] });
    const bad = { what: "", operation: "create_tasks", json, path: {}, field: "", says } as const;
    const heard = await refusedWithoutTrace(world, () => badCli(world, "file", world.people.boss).send(bad));
    expect(heard).toMatchObject({ ...told, exit: 2, body: { detail: expect.stringMatching(says) } });
  });
});

/** Whether the text stands where a scope does: alone, in a list, or with its mode. */
function isScope(input: object): boolean {
  return /^\{("(tasks|steps)":\[\{)?"scopes?":/.test(JSON.stringify(input));
}

function isInAddress({ method, path }: Operation, field: string): boolean {
  return method === "GET" || method === "DELETE" || path.includes(`:${field}`);
}

/** Every field of an operation that can hold text, and how text gets into it. */
function placesOf(operation: Operation): { field: string; shape: (text: string) => unknown }[] {
  return Object.entries(operation.input.shape as Record<string, z.ZodType>).flatMap(([field, schema]) =>
    shapesOf(schema).map((shape) => ({ field, shape })),
  );
}

function shapesOf(schema: z.ZodType): ((text: string) => unknown)[] {
  const { type } = schema.def;
  if (type === "optional" || type === "nullable" || type === "default") {
    return shapesOf((schema as unknown as { unwrap(): z.ZodType }).unwrap());
  }
  if (type === "string") return [(text) => text];
  if (type === "number" || type === "boolean" || type === "enum") return [];
  if (type === "array") {
    const inner = shapesOf((schema as z.ZodArray<z.ZodType>).element);
    return inner.map((shape) => (text: string) => [shape(text)]);
  }
  if (type === "object") {
    const { shape: fields } = schema as z.ZodObject<Record<string, z.ZodType>>;
    return Object.entries(fields).flatMap(([field, one]) =>
      shapesOf(one).map((shape) => (text: string) => ({ [field]: shape(text) })),
    );
  }
  return [(text) => ({ deep: [text] }), (text) => ({ [text]: 1 })];
}
