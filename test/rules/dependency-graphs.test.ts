import { beforeEach, describe, expect, test, vi } from "vitest";
import { ON_SQLITE } from "../support/any-store.js";
import { type Actor, FreshStore } from "../support/fresh-store.js";

/**
 * Graphs so large that anything that walks every way, asks task by task or recurs would be seen (C39, C41). What is made
 * by calls elsewhere is put into the store at once here. The bounds are many times
 * what it takes on an idle machine: what they find takes minutes.
 */

vi.setConfig({ testTimeout: 180_000 });

let fresh: FreshStore;
let ann: Actor;
beforeEach(async () => {
  fresh = await FreshStore.open();
  ann = await fresh.worker("ann");
});

const idOf = (at: number) => String(at).padStart(32, "0");

/** Tasks 1..count; edges as [task, blocker]. Written as they are to be: updates of 50,000 rows take longer than all else. */
async function graph(count: number, edges: readonly (readonly [number, number])[]): Promise<void> {
  const blockers = new Map<number, number>();
  for (const [task] of edges) blockers.set(task, (blockers.get(task) ?? 0) + 1);
  const waitedFor = new Set(edges.map(([, blocker]) => blocker));
  const tasks = Array.from({ length: count }, (_, nth) => {
    const waits = blockers.get(nth + 1) ?? 0;
    return [FROM + nth + 1, `'${idOf(nth + 1)}'`, waits > 0 ? 3 : 1, waits, waits, waitedFor.has(nth + 1) ? 1 : 0];
  });
  await fresh.kept.exec(
    [
      `CREATE TEMPORARY TABLE new_tasks (seq bigint, id text, queue bigint, blockers bigint, open_blockers bigint,
         has_dependents bigint)`,
      ...inserts("new_tasks (seq, id, queue, blockers, open_blockers, has_dependents)", tasks),
      `INSERT INTO tasks (seq, id, queue, blockers, open_blockers, has_dependents, workspace_id, project_id, priority,
         status, assigned_to, created_by, max_attempts, created_at, updated_at)
       SELECT n.*, p.workspace_id, p.id, 2, 'open', '', 'x', 5, 1, 1 FROM new_tasks n, projects p WHERE p.key = 'default'`,
      `INSERT INTO task_texts (seq, content, labels) SELECT seq, 'task ' || (seq - ${FROM}), '[]' FROM new_tasks`,
      ...inserts(
        "dependencies (task_seq, blocker_seq)",
        edges.map(([task, blocker]) => [FROM + task, FROM + blocker]),
      ),
      "DROP TABLE new_tasks",
    ].join("; "),
  );
  // What no server keeps right here (postgres-statistics.ts): one that looked meanwhile has seen nothing of all this.
  if (!ON_SQLITE) await fresh.kept.exec("ANALYZE tasks, task_texts, dependencies");
}

/** A thousand rows a statement. */
function inserts(into: string, rows: readonly (readonly (number | string)[])[]): string[] {
  const statements: string[] = [];
  for (let at = 0; at < rows.length; at += 1000) {
    const values = rows.slice(at, at + 1000).map((row) => `(${row.join(", ")})`);
    statements.push(`INSERT INTO ${into} VALUES ${values.join(", ")}`);
  }
  return statements;
}

/** Behind whatever the database that was emptied for this test has given out before. */
const FROM = 1_000_000;

const BOUND_MS = 20_000;
async function timed<T>(what: string, limitMs: number, work: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const result = await work();
  const tookMs = performance.now() - startMs;
  expect(tookMs, what).toBeLessThan(limitMs);
  return result;
}

const close = (task: number, blocker: number) =>
  fresh.refusal("add_dependencies", { task_id: idOf(task), depends_on: [idOf(blocker)] }, fresh.root);
const add = (task: number, ...blockers: number[]) =>
  fresh.ask("add_dependencies", { task_id: idOf(task), depends_on: blockers.map(idOf) }, fresh.root);

describe("a ladder of 1,000 diamonds, with more ways through it than atoms", () => {
  /** Task 3n+1 is the top of a diamond, 3n+2 and 3n+3 its arms; the next top waits for both. */
  const DIAMONDS = 1000;
  const ladder = Array.from({ length: DIAMONDS }, (_, n) => 3 * n + 1).flatMap((top) => [
    [top + 1, top] as const,
    [top + 2, top] as const,
    [top + 3, top + 1] as const,
    [top + 3, top + 2] as const,
  ]);
  const last = 3 * DIAMONDS + 1;

  test("takes a new edge at its end, and refuses the one that closes it by a shortest way", async () => {
    await graph(last + 1, [...ladder, [last + 1, last]]);
    // Task `last + 1` has a dependent from now on, and so a graph to look through.
    await timed("an edge at the end", BOUND_MS, () => add(last + 1, 1));
    const refused = await timed("the closing edge", BOUND_MS, () => close(1, last));
    expect(refused).toMatchObject({ code: "dependency_cycle", cycle_length: 2 * DIAMONDS + 1 });
    expect(refused.message).toMatch(/^The tasks would wait for each other: "task 1" .* … 1994 more … .*"task 1"/);
  });
});

test("a chain of 50,000 is closed by nobody, and lets its end be moved", async () => {
  // Putting as many rows there takes Postgres several times as long.
  const LENGTH = ON_SQLITE ? 50_000 : 20_000;
  const chain = Array.from({ length: LENGTH - 1 }, (_, at) => [at + 2, at + 1] as const);
  await graph(LENGTH + 2, [...chain, [LENGTH + 2, LENGTH + 1]]);
  const refused = await timed("the closing edge", BOUND_MS, () => close(1, LENGTH));
  expect(refused).toMatchObject({ code: "dependency_cycle", cycle_length: LENGTH });
  // Only both ends are told.
  expect((refused.cycle as unknown[]).length).toBe(1000);
  await timed("an edge above all of it", BOUND_MS, () => add(LENGTH + 1, LENGTH));
});

test("10,000 blockers of one task, added by the thousand", async () => {
  const BLOCKERS = 10_000;
  await graph(BLOCKERS + 2, [[BLOCKERS + 2, BLOCKERS + 1]]);
  const ids = Array.from({ length: BLOCKERS }, (_, at) => at + 1);
  for (let at = 0; at < BLOCKERS; at += 1000)
    await timed("a thousand more", BOUND_MS, () => add(BLOCKERS + 1, ...ids.slice(at, at + 1000)));
  const shown = await timed("reading it", BOUND_MS, () => fresh.read(idOf(BLOCKERS + 1)));
  expect(shown).toMatchObject({ depends_on_count: BLOCKERS, blocked_by_count: BLOCKERS, ready: false });
  expect(shown.depends_on.length).toBe(1000);
  expect(await timed("a cycle through it", BOUND_MS, () => close(7, BLOCKERS + 2))).toMatchObject({ cycle_length: 3 });
  const refused = await timed("claiming it", BOUND_MS, () =>
    fresh.refusal("claim_task", { task_id: idOf(BLOCKERS + 1) }, ann),
  );
  expect(refused).toMatchObject({ code: "task_blocked", blockers_count: BLOCKERS });
  expect((refused.blockers as unknown[]).length).toBe(20);
});

test("completing the blocker of 10,000 tasks frees them all at once, and opening it again takes them back", async () => {
  const DEPENDENTS = 10_000;
  await graph(
    DEPENDENTS + 1,
    Array.from({ length: DEPENDENTS }, (_, at) => [at + 2, 1] as const),
  );
  await fresh.claim(idOf(1), ann);
  await timed("completing", BOUND_MS, () => fresh.ask("complete_task", { task_id: idOf(1) }, ann));
  const counted = () =>
    fresh.kept.rows("SELECT queue, open_blockers AS open, count(*) AS n FROM tasks WHERE blockers > 0 GROUP BY 1, 2");
  expect(await counted()).toEqual([{ queue: 1, open: 0, n: DEPENDENTS }]);
  const log =
    "SELECT type, count(*) AS n FROM events WHERE type IN ('task.ready', 'task.blocked') GROUP BY 1 ORDER BY 1";
  expect(await fresh.kept.rows(log)).toEqual([{ type: "task.ready", n: DEPENDENTS }]);
  await timed("opening again", BOUND_MS, () => fresh.ask("reopen_task", { task_id: idOf(1) }, fresh.root));
  expect(await counted()).toEqual([{ queue: 3, open: 1, n: DEPENDENTS }]);
});
