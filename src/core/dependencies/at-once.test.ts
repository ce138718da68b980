import fc from "fast-check";
import { expect, test } from "vitest";
import { keyOf } from "../../../test/support/scopes.js";
import type { Wanted } from "../scopes/scope-names.js";
import { overlap } from "../scopes/scope-overlap.js";
import { heldAtOnce } from "./at-once.js";

const TEXTS = ["path:a", "path:a/b", "path:a/c", "path:a/*", "path:**/c", "path:b", "slot:x", "slot:y", "slot:*"];
const named = (text: string, mode: Wanted["mode"]): Wanted => ({
  scope: { text, key: keyOf(text), kind: { name: text.slice(0, text.indexOf(":")) } },
  mode,
  namespace: "project",
});
const task = (seq: number, priority = 2) => ({ id: `t${seq}`, seq, project_id: "project", scopes: "", priority });

const modes = fc.constantFrom<Wanted["mode"]>("exclusive", "shared");
const declares = fc.uniqueArray(
  fc.tuple(fc.constantFrom(...TEXTS), modes).map(([text, mode]) => named(text, mode)),
  { maxLength: 3, selector: ({ scope }) => scope.key },
);
const plan = fc.record({
  steps: fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), declares), { maxLength: 8 }),
  held: fc.array(declares, { maxLength: 2 }),
  slots: fc.integer({ min: 1, max: 3 }),
});

/** R31 and R32 said again, by trying each pair: slot:x has `slots` places. */
function fitBeside(wanted: readonly Wanted[], taken: readonly Wanted[], slots: number): boolean {
  return wanted.every((each) => {
    const met = taken.filter(({ scope }) => overlap(scope.key, each.scope.key));
    const inTheWay = met.filter(({ mode }) => mode === "exclusive" || each.mode === "exclusive");
    const has = (text: string) => (w: Wanted) => w.mode === "exclusive" && w.scope.text === text;
    if (has("slot:x")(each) && inTheWay.every(has("slot:x"))) return inTheWay.length < slots;
    return inTheWay.length === 0;
  });
}

test("of tasks those can be held at once that are free in hand-out order: as found by trying each pair (R27)", () => {
  fc.assert(
    fc.property(plan, ({ steps, held, slots }) => {
      const tasks = steps.map(([priority], at) => task(at, priority));
      const beside = held.map((_, at) => task(100 + at));
      const wanted = new Map<number, readonly Wanted[]>([
        ...steps.map(([, names], at) => [at, names] as const),
        ...held.map((names, at) => [100 + at, names] as const),
      ]);
      const capacities = new Map([[`project ${keyOf("slot:x")}`, slots]]);
      const taken = held.flat();
      let count = 0;
      for (const priority of [4, 3, 2, 1])
        for (const [own, names] of steps)
          if (own === priority && fitBeside(names, taken, slots)) {
            taken.push(...names);
            count += 1;
          }
      expect(heldAtOnce({ wanted, capacities }, tasks, beside)).toBe(count);
    }),
    { numRuns: 2000 },
  );
});

test.each<[string, number, (at: number) => Wanted]>([
  ["their own files", 10_000, (at) => named(`path:src/m${at % 100}/f${at}.ts`, "exclusive")],
  ["patterns in folders of their own", 10_000, (at) => named(`path:src/m${at}/*.ts`, "exclusive")],
  ["one tree shared", 10_000, () => named("path:src", "shared")],
  ["the tree over the files of others", 1, (at) => named(at === 0 ? "path:src/a" : "path:src", "exclusive")],
  ["one name with 4 places", 4, () => named("slot:gpu", "exclusive")],
])("of 10,000 tasks that declare %s %i, found in well under the square of them", (_what, count, name) => {
  const tasks = Array.from({ length: 10_000 }, (_, at) => task(at));
  const wanted = new Map(tasks.map(({ seq }) => [seq, [name(seq)]]));
  const capacities = new Map([[`project ${keyOf("slot:gpu")}`, 4]]);
  const startedAt = performance.now();
  expect(heldAtOnce({ wanted, capacities }, tasks)).toBe(count);
  // Twenty times what it takes alone on a small machine; each against each takes minutes.
  expect(performance.now() - startedAt).toBeLessThan(4_000);
});

test("patterns that begin with a wildcard are tried each against each 200,000 times, not for minutes: at least so many", () => {
  const tasks = Array.from({ length: 10_000 }, (_, at) => task(at));
  const wanted = new Map(tasks.map(({ seq }) => [seq, [named(`path:**/f${seq}.ts`, "exclusive")]]));
  const count = heldAtOnce({ wanted, capacities: new Map() }, tasks);
  // The n-th is tried against n - 1.
  expect(count).toBe(633);
});
