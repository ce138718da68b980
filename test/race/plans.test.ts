import { expect, onTestFinished, test } from "vitest";
import { ON_SQLITE } from "../support/any-store.js";
import { FreshStore } from "../support/fresh-store.js";

/** Two processes on one store, each with an engine of its own, that write plans at once (R27, R57). */

async function twoProcesses() {
  const fresh = await FreshStore.open();
  const other = await fresh.another();
  onTestFinished(() => other.close());
  return { fresh, stores: [fresh.store, other] };
}

const ended = (call: Promise<{ steps_created: number }>) =>
  call.then(
    ({ steps_created }) => `${steps_created} created`,
    (thrown) => String(thrown.code),
  );
const steps = (...keys: string[]) => keys.map((key) => ({ key, content: `step ${key}` }));

test("the same plan made at once is made once; of two that differ one is refused", async () => {
  const { fresh, stores } = await twoProcesses();
  for (let round = 0; round < 10; round += 1) {
    const both = (b: string) =>
      Promise.all(
        stores.map((store, at) =>
          ended(fresh.ask("create_plan", { slug: `${b}${round}`, steps: steps("a", at ? b : "b") }, fresh.root, store)),
        ),
      );
    expect((await both("b")).sort()).toEqual(["0 created", "2 created"]);
    expect((await both("c")).sort()).toEqual(["2 created", "already_exists"]);
  }
  expect(await fresh.ask("list_tasks", { limit: 1000 }, fresh.root)).toHaveLength(40);
  expect(await fresh.kept.broken()).toEqual([]);
});

test("the same plan twice in one batch is made once", async () => {
  const { fresh } = await twoProcesses();
  const make = () => ended(fresh.ask("create_plan", { slug: "p", steps: steps("a", "b") }, fresh.root));
  expect((await Promise.all([make(), make(), make()])).sort()).toEqual(["0 created", "0 created", "2 created"]);
});

test("steps added at once are all there, each once, while others claim from the plan", async () => {
  const { fresh, stores } = await twoProcesses();
  await fresh.ask("create_plan", { slug: "p", steps: steps("start") }, fresh.root);
  const keys = ["a", "b", "c", "d", "e", "f"];
  for (const key of keys) {
    const added = await Promise.all(
      stores.map((store) =>
        ended(fresh.ask("add_plan_steps", { slug: "p", steps: steps(key, `${key}2`) }, fresh.root, store)),
      ),
    );
    const claimed = await Promise.all(stores.map((store) => fresh.next(fresh.root, { plan: "p" }, store)));
    expect(added.sort()).toEqual(["0 created", "2 created"]);
    expect(new Set(claimed.map((task) => task?.id)).size).toBe(2);
  }
  const plan = await fresh.ask("get_plan", { slug: "p" }, fresh.root);
  expect(plan.steps.map(({ key }) => key)).toEqual(["start", ...keys.flatMap((key) => [key, `${key}2`])]);
});

/** The rules over them are the same; to write so many takes PostgreSQL half a minute. */
const STEPS = ON_SQLITE ? 10_000 : 3_000;

test("a plan of thousands of steps is made, shown and drawn, each in seconds", { timeout: 120_000 }, async () => {
  const { fresh } = await twoProcesses();
  // A hundred chains, each step of which waits for the one before it and for its neighbour's.
  const key = (at: number) => `s${at}`;
  const many = Array.from({ length: STEPS }, (_, at) => ({
    key: key(at),
    content: `step ${at}`,
    // Two of a row's steps touch each file.
    scopes: [`path:src/row${Math.floor(at / 100)}/f${at % 50}.ts`, { scope: "path:docs", mode: "shared" as const }],
    depends_on: at < 100 ? [] : [key(at - 100), key(at - 100 - (at % 100 === 0 ? 0 : 1))],
  }));
  const timed = async <T>(work: Promise<T>): Promise<{ value: T; tookMs: number }> => {
    const startedAt = performance.now();
    return { value: await work, tookMs: performance.now() - startedAt };
  };
  const made = await timed(fresh.ask("create_plan", { slug: "big", steps: many }, fresh.root));
  expect(made.value).toMatchObject({ steps_created: STEPS, progress: { claimable: 100 } });
  expect(made.value).toMatchObject({ claimable_at_once: 50, widest_front: 100, widest_front_with_scopes: 50 });
  expect(made.value.critical_path).toHaveLength(STEPS / 100);
  const again = await timed(fresh.ask("create_plan", { slug: "big", steps: many }, fresh.root));
  expect(again.value.steps_created).toBe(0);
  const shown = await timed(fresh.ask("get_plan", { slug: "big" }, fresh.root));
  const drawn = await timed(fresh.ask("get_plan_graph", { slug: "big", format: "dot" }, fresh.root));
  expect(drawn.value.edges.length).toBe(2 * (STEPS - 100) - (STEPS / 100 - 1));
  // Ten times what they take alone on a small machine: none may grow with the square of the steps.
  expect({ madeMs: made.tookMs < 60_000, againMs: again.tookMs < 20_000 }).toEqual({ madeMs: true, againMs: true });
  expect({ shownMs: shown.tookMs < 20_000, drawnMs: drawn.tookMs < 20_000 }).toEqual({ shownMs: true, drawnMs: true });
});
