import { expect, test } from "vitest";
import { operationList } from "../../contract/operations.js";
import { IN_PROJECT } from "./project-here.js";

/** Here a project only narrows what is found, or the task that is named says it. */
const NARROWED = [
  "list_tasks",
  "update_task",
  "delegate_task",
  "list_plans",
  "list_recurrences",
  "list_sessions",
  "get_presence",
  "list_heads",
  "list_events",
  "list_handoffs",
  "list_scope_capacities",
  "list_holds",
  "list_yields",
];

/** What is named by its id is of the project it is of. */
const BY_ID = /:(ticket|claim_id|yield_id|handoff_id|hold_id|unlanded_id|session_id|project_id)/;

test("of every operation that takes a project it is known whether commands say the one of the repository around (R64)", () => {
  const take = operationList.filter(({ input, path }) => "project_id" in input.shape && !BY_ID.test(path));
  const known = [...Object.keys(IN_PROJECT), ...NARROWED];
  expect([...take.map(({ name }) => name), "create_tasks"].sort()).toEqual(known.sort());
});
