import { describe, expect, test } from "vitest";
import { planned } from "../../../test/support/planned.js";
import type { UnlandedVerbs } from "../../core/port/unlanded-rows.js";
import { handoffVerbs } from "./handoffs.js";
import { scopeVerbs } from "./scopes.js";
import { unlandedVerbs } from "./unlanded.js";
import { waitVerbs } from "./waits.js";

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

describe("of what is over no more is met than is asked for", () => {
  test("when a name is released that was never held, or was lost", async () => {
    const plan = await planned((db) => scopeVerbs(db).lastEnded("s", "n", "path:a/"));
    expect(plan).toContain("scope_claims_lost (holder_session=? AND namespace=? AND key=?)");
    expect(plan).not.toContain("TEMP B-TREE");
  });

  test("in the history of a folder: each of its names is looked up, and the last claims of those alone", async () => {
    const plan = await planned((db) =>
      scopeVerbs(db).past("n", { at: ["path:"], from: "path:a/", below: "path:a0" }, page),
    );
    expect(plan).toContain("q USING COVERING INDEX scope_claims_past (namespace=? AND index_key>? AND index_key<?)");
    expect(plan).toMatch(
      /q USING COVERING INDEX scope_claims_past \(namespace=\? AND index_key=\? AND seq>\? AND seq<\?\)/,
    );
    expect(plan).not.toMatch(/SCAN (c|scope_claims)\b/);
  });

  test("by lists of what was asked of holders", async () => {
    const yields = (by: object) => planned((db) => waitVerbs(db).yields("w", by, 1, page));
    expect(await yields({ holderSession: "s" })).toContain("yields_holder (holder_session=? AND seq>?)");
    for (const by of [{ open: true }, { open: true, holderSession: "s" }]) {
      const open = await yields(by);
      expect(open).toMatch(/c USING INDEX scope_claims_(held|session)/);
      expect(open).toContain("yields_claim (claim_id=?");
    }
  });

  test("by lists of offers that stand", async () => {
    const offers = (by: object) => planned((db) => handoffVerbs(db).list("w", { ...by, ended: false }, 1, page));
    expect(await offers({})).toContain("handoffs_offered (workspace_id=? AND seq>?)");
    expect(await offers({ toAgent: "a" })).toMatch(/h USING INDEX handoffs_(receiver|offered)/);
    expect(await offers({ either: "a" })).toContain("handoffs_offered (workspace_id=? AND seq>?)");
  });
});
