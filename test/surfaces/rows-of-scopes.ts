import { expect } from "vitest";
import type { Row, Stage } from "./stage.js";

const claimed = async (at: Stage, scopes: readonly string[], by = at.bob) =>
  (await by.dibs.claimScopes({ scopes: [...scopes], project_id: at.project, intent: "mend it" })).claims;

/** Names under leases. */
export const rowsOfScopes: readonly Row[] = [
  {
    does: "claims scopes, all or none (R33)",
    operation: "claim_scopes",
    given: (at) => ({
      input: {
        scopes: ["path:src/auth", "path:docs"],
        project_id: at.project,
        intent: "rewrite the login",
        ttl_seconds: 600,
      },
    }),
    answers: {
      claims: [
        { scope: "path:src/auth", mode: "exclusive", intent: "rewrite the login", remaining_ms: "within 10 min" },
        { scope: "path:docs", agent_name: "ann" },
      ],
    },
  },
  {
    does: "refuses what overlaps, naming who holds it and what for (R34)",
    operation: "claim_scopes",
    given: async (at) => {
      await claimed(at, ["path:src"]);
      return { input: { scopes: ["path:free", "path:src/auth"], project_id: at.project, intent: "x" } };
    },
    refused: {
      code: "scope_conflict",
      conflicts: [{ requested: "path:src/auth", holder: { scope: "path:src", agent_name: "bob", intent: "mend it" } }],
      conflicts_count: 1,
    },
    leaves: async (at) =>
      expect(await at.ann.dibs.listClaims({ project_id: at.project })).toMatchObject([{ scope: "path:src" }]),
  },
  {
    does: "refuses what is no scope, with the segment at fault (R29)",
    operation: "claim_scopes",
    given: (at) => ({ input: { scopes: ["path:src/../x"], project_id: at.project, intent: "x" } }),
    refused: { code: "invalid_scope", scope: "path:src/../x", segment: ".." },
  },
  {
    does: "renews scopes, with an answer for each",
    operation: "heartbeat_scopes",
    given: async (at) => {
      await claimed(at, ["path:src"], at.ann);
      return { input: { scopes: ["path:src", "path:docs"], project_id: at.project } };
    },
    answers: {
      items: [
        { scope: "path:src", outcome: "renewed" },
        { scope: "path:docs", outcome: "lost", reason: "never_held" },
      ],
    },
  },
  {
    does: "gives scopes back",
    operation: "release_scopes",
    given: async (at) => {
      await claimed(at, ["path:src", "path:docs"], at.ann);
      return { input: { scopes: ["path:src"], project_id: at.project } };
    },
    answers: { released: 1, items: [{ scope: "path:src", outcome: "released" }] },
    leaves: async (at) =>
      expect(await at.ann.dibs.listClaims({ project_id: at.project })).toMatchObject([{ scope: "path:docs" }]),
  },
  {
    does: "tells who would refuse a scope, claiming nothing",
    operation: "check_scope",
    given: async (at) => {
      await claimed(at, ["path:src"]);
      return { input: { scope: "path:src/a", project_id: at.project } };
    },
    answers: { free: false },
  },
  {
    does: "tells who held a scope before, newest first",
    operation: "list_scope_history",
    given: async (at) => {
      await claimed(at, ["path:src"]);
      await at.bob.dibs.releaseScopes({ all: true });
      await claimed(at, ["path:src/a"], at.ann);
      return { input: { scope: "path:src", project_id: at.project } };
    },
    answers: [
      { scope: "path:src/a", agent_name: "ann", ended_how: null },
      { scope: "path:src", agent_name: "bob", ended_how: "released" },
    ],
  },
  {
    does: "gives a flat scope places (R32)",
    operation: "set_scope_capacity",
    as: "lead",
    given: async (at) => {
      await at.ann.dibs.claimScopes({ scopes: ["slot:gpu"], project_id: at.project, intent: "train" });
      return { input: { scope: "slot:gpu", capacity: 3, project_id: at.project } };
    },
    answers: { scope: "slot:gpu", capacity: 3, taken: 1, free: 2 },
    leaves: async (at) => {
      const { free } = await at.bob.dibs.checkScope({ scope: "slot:gpu", project_id: at.project });
      expect(free).toBe(true);
    },
  },
  {
    does: "refuses places for what is no flat name",
    operation: "set_scope_capacity",
    as: "lead",
    given: (at) => ({ input: { scope: "slot:*", capacity: 3, project_id: at.project } }),
    refused: { code: "invalid_input", fields: [{ field: "scope" }] },
  },
  {
    does: "leaves the places of scopes to coordinators (R46)",
    operation: "set_scope_capacity",
    given: (at) => ({ input: { scope: "slot:gpu", capacity: 3, project_id: at.project } }),
    refused: { code: "forbidden" },
    about: "roles",
  },
  {
    does: "lists the scopes that have places",
    operation: "list_scope_capacities",
    given: async (at) => {
      await at.lead.dibs.setScopeCapacity({ scope: "slot:gpu", capacity: 2, project_id: at.project });
      return { input: { project_id: at.project } };
    },
    answers: [{ scope: "slot:gpu", capacity: 2, taken: 0, free: 2 }],
  },
  {
    does: "passes over a task whose scopes aren't free, and says so (R16)",
    operation: "claim_next_task",
    given: async (at) => {
      await claimed(at, ["path:src"]);
      await at.task({ content: "auth", scopes: ["path:src/auth"], priority: 4 });
      await at.task({ content: "docs", scopes: ["path:docs"] });
      return { input: { project_id: at.project } };
    },
    answers: { task: { content: "docs" } },
  },
  {
    does: "refuses a task whose scopes aren't free, naming who holds them (R17)",
    operation: "claim_task",
    given: async (at) => {
      await claimed(at, ["path:src"]);
      return { input: { task_id: (await at.task({ content: "auth", scopes: ["path:src/auth"] })).id } };
    },
    refused: { code: "scope_conflict", conflicts: [{ requested: "path:src/auth", holder: { agent_name: "bob" } }] },
  },
];
