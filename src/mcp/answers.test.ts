import { expect, test } from "vitest";
import { showAccepted, showClaimed } from "./answers.js";

const LOOK = { textLimit: 200 };
const task = { id: "t1", content: "mend it", lease_id: "l", fence: 1, lease_remaining_ms: 60_000 };
const claim = { id: "c1", scope: "path:src", fence: 2, remaining_ms: 60_000 };
const unlanded = [{ branch: "feat/login", scopes: ["path:src/auth"], agent_name: "cat", intent: "the new login" }];

test.each([
  ["a task that is claimed", () => showClaimed({ task, unlanded }, LOOK)],
  ["a task that is taken over", () => showAccepted({ task, claim: null, unlanded }, LOOK)],
  ["a scope that is taken over", () => showAccepted({ task: null, claim, unlanded }, LOOK)],
])("beside %s stands what overlaps it and has not landed (R42)", (_what, show) => {
  const { data, says } = show();
  expect(data.unlanded).toEqual(unlanded);
  expect(says).toContain('Not landed yet, and overlapping: "feat/login" (cat).');
});

test("beside what nothing overlaps stands nothing", () => {
  expect(showClaimed({ task }, LOOK).data).not.toHaveProperty("unlanded");
});
