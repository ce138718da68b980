import { expect, test } from "vitest";
import { planned } from "../../../test/support/planned.js";
import { claimVerbs } from "./claims.js";
import { dependencyVerbs } from "./dependencies.js";
import { planVerbs } from "./plans.js";
import { recurrenceVerbs } from "./recurrences.js";
import { taskVerbs } from "./tasks.js";

const filter = { workspaceId: "w", projectId: null, agentId: "a", labels: [], plan: null };
const page = { limit: 100, after: null };

// None of these may grow with the tasks that are closed, or that wait behind the first.
test("an empty claim asks when to look again of what sleeps alone", async () => {
  const plan = await planned((db) => taskVerbs(db).nextWake("w", 1));
  expect(plan).toContain("USING INDEX tasks_wake (wakes_at>?)");
  expect(plan).not.toContain("workspace_id");
});

test("a claim looks for lapsed leases ahead of the first ready task, and not at what comes after it", async () => {
  const plan = await planned((db) => taskVerbs(db).nextLapsed(filter, 1, { seq: 7, priority: 2 }));
  expect(plan).toMatch(/tasks_handout \(workspace_id=\? AND priority>\?\)/);
  expect(plan).toMatch(/tasks_handout \(workspace_id=\? AND priority=\? AND seq<\?\)/);
});

test("the claims table is read from what is held, one agent's from what that agent holds, a task's from the task", async () => {
  const table = (by: object) => planned((db) => claimVerbs(db).list("w", by, 1, page));
  expect(await table({})).toContain("t USING INDEX tasks_held");
  expect(await table({ agentId: "a" })).toContain("tasks_held (holder_agent=?)");
  expect(await table({ taskId: "t" })).toMatch(/\(id=\?/);
});

test("what waits and what it waits for are found by the edges' indexes, never by walking tasks or edges", async () => {
  const verbs = (ask: (of: ReturnType<typeof dependencyVerbs>) => unknown) => planned((db) => ask(dependencyVerbs(db)));
  expect(await verbs((of) => of.blockersOf([1, 2], 1, 100))).toMatch(
    /dependencies USING PRIMARY KEY \(task_seq=\?\)|SEARCH d USING PRIMARY KEY \(task_seq=\?\)/,
  );
  expect(await verbs((of) => of.dependentsOf(1, { lock: true }))).toContain("dependencies_blocker (blocker_seq=?)");
  const climbed = await verbs((of) => of.reaches([1, 2], 3));
  expect(climbed).toContain("SEARCH d USING PRIMARY KEY (task_seq=?)");
  for (const plan of [
    climbed,
    await verbs((of) => of.edgesAbove([1])),
    await verbs((of) => of.list(1, "dependents", page)),
  ])
    expect(plan).not.toMatch(/SCAN (d|t|q|tasks|dependencies)\b/);
  const blocked = await planned((db) =>
    taskVerbs(db).list("w", { blocked: true, stalled: true, sort: "handout" }, page, 1),
  );
  expect(blocked).toContain("tasks_blocked (workspace_id=?");
});

test("a claim of a plan reads that plan's queue in hand-out order, and nothing of what else there is", async () => {
  const ofPlan = { ...filter, projectId: "p", plan: "release" };
  const ready = await planned((db) => taskVerbs(db).ready(ofPlan, "", 8, false));
  expect(ready).toContain("tasks_plan_queue (project_id=? AND plan=? AND assigned_to=?)");
  // The few that were found are put in order behind it; the queue itself is read in order.
  expect(ready.match(/TEMP B-TREE/g)).toHaveLength(1);
});

test("a plan is shown from its own tasks and their edges, found by indexes", async () => {
  const row = {
    seq: 1,
    id: "i",
    workspace_id: "w",
    project_id: "p",
    slug: "s",
    title: null,
    created_by: "a",
    created_at: 1,
  };
  const nodes = await planned((db) => planVerbs(db).nodes(row));
  expect(nodes).toContain("tasks_plan (project_id=? AND plan=?)");
  expect(nodes).toContain("SEARCH p USING COVERING INDEX plan_steps_task (task_seq=?");
  const edges = await planned((db) => planVerbs(db).edges(row));
  expect(edges).toContain("tasks_plan (project_id=? AND plan=?)");
  expect(edges).toContain("SEARCH d USING PRIMARY KEY (task_seq=?)");
  for (const plan of [nodes, edges]) expect(plan).not.toMatch(/SCAN (d|t|q|p|x|s|tasks|dependencies)\b/);
});

test("what recurs is found by its next tick, and its open tasks without those that are closed", async () => {
  expect(await planned((db) => recurrenceVerbs(db).due(1, 64))).toContain(
    "USING INDEX recurrences_due (next_at>? AND next_at<?)",
  );
  const unclosed = await planned((db) => recurrenceVerbs(db).unclosed("r", 9, 16));
  expect(unclosed).toContain("t USING INDEX tasks_recurring (recurrence_id=? AND seq<?)");
  expect(await planned((db) => recurrenceVerbs(db).hasTask("r", 1))).toContain(
    "tasks_tick (recurrence_id=? AND tick_at=?)",
  );
});
