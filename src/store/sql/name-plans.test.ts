import { describe, expect, test } from "vitest";
import { planned } from "../../../test/support/planned.js";
import type { UnlandedVerbs } from "../../core/port/unlanded-rows.js";
import { unlandedVerbs } from "./unlanded.js";

const page = { limit: 100, after: null };

// None of these may grow with what is over: of 300,000 rows each read all, up to half a second each time.
describe("unlanded work that has ended is never met", () => {
  const plan = (ask: (of: UnlandedVerbs) => unknown) => planned((db) => ask(unlandedVerbs(db)));
  const list = (by: object) => plan((of) => of.list("w", { ...by, ended: false, nowMs: 1 }, page));

  test("by lists of what lives", async () => {
    expect(await list({})).toContain("unlanded_unended (workspace_id=? AND seq>?)");
    expect(await list({ projectId: "p" })).toContain("unlanded_project (project_id=? AND seq>?)");
    expect(await list({ agentId: "a" })).toContain("unlanded_unended (workspace_id=? AND seq>?)");
    expect(await list({ offeredTo: "a" })).toContain("unlanded_offered (offered_to=? AND seq>?)");
    expect(await list({ projectId: "p", branch: "b" })).toContain("(project_id=? AND branch=?");
  });

  test("by what the clock ends, and by pruning", async () => {
    expect(await plan((of) => of.due(1, 8))).toContain("unlanded_live (expires_at<?)");
    expect(await plan((of) => of.live("p", 1))).toContain("unlanded_project (project_id=?)");
  });
});
