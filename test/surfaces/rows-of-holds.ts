import { expect } from "vitest";
import type { Row, Stage } from "./stage.js";
import type { Fields } from "./surface.js";

/** A hold of the coordinator's in this row's project, with a word for its id. */
async function placed(at: Stage, fields: Fields = {}) {
  const given = { scope: "path:src", reason: "the release", ttl_seconds: 600, project_id: at.project, ...fields };
  const hold = await at.lead.dibs.placeHold(given);
  at.names.set(hold.id, `the hold on ${hold.scope}`);
  return hold;
}

/** Freezing a scope or a project (R41). */
export const rowsOfHolds: readonly Row[] = [
  {
    does: "freezes a scope until a time, for all but those named",
    operation: "place_hold",
    as: "lead",
    given: (at) => ({
      input: {
        scope: "path:src/auth",
        project_id: at.project,
        reason: "the release: ünïcode 🦉",
        ttl_seconds: 600,
        allow_agent_ids: [at.bob.agentId],
      },
    }),
    answers: {
      scope: "path:src/auth",
      project_id: "the project",
      reason: "the release: ünïcode 🦉",
      agent_name: "lead",
      allow_agent_ids: ["bob"],
      remaining_ms: "within 10 min",
      ended_at: null,
    },
  },
  {
    does: "freezes a whole project",
    operation: "place_hold",
    as: "lead",
    given: (at) => ({ input: { project: true, project_id: at.project, reason: "x", expires_at: soon() } }),
    answers: { scope: null, project_id: "the project" },
  },
  {
    does: "refuses a worker (R46)",
    operation: "place_hold",
    about: "roles",
    given: (at) => ({ input: { project: true, project_id: at.project, reason: "x", ttl_seconds: 60 } }),
    refused: { code: "forbidden" },
  },
  {
    does: "refuses a hold without a reason (R41, R46)",
    operation: "place_hold",
    as: "lead",
    given: (at) => ({ input: { scope: "path:src", project_id: at.project, ttl_seconds: 60 } }),
    refused: { code: "reason_required", fields: [{ field: "reason" }] },
    leaves: async (at) => expect(await at.ann.dibs.listHolds({ project_id: at.project })).toEqual([]),
  },
  {
    does: "refuses a hold without an end",
    operation: "place_hold",
    as: "lead",
    given: (at) => ({ input: { scope: "path:src", project_id: at.project, reason: "x" } }),
    refused: {
      code: "invalid_input",
      fields: [{ field: "expires_at", message: expect.stringMatching(/ttl_seconds/) }],
    },
    leaves: async (at) => expect(await at.ann.dibs.listHolds({ project_id: at.project })).toEqual([]),
  },
  {
    does: "lists what is frozen, cut at its limit",
    operation: "list_holds",
    given: async (at) => {
      for (const scope of ["path:a", "path:b", "path:c"]) await placed(at, { scope });
      return { input: { project_id: at.project, limit: 2 } };
    },
    answers: [
      { scope: "path:a", reason: "the release" },
      { scope: "path:b", agent_name: "lead" },
    ],
    goesOn: true,
  },
  {
    does: "lifts one by its id, and no other",
    operation: "lift_hold",
    as: "lead",
    given: async (at) => {
      await placed(at);
      return { input: { hold_id: (await placed(at, { scope: "path:docs" })).id, reason: "done" } };
    },
    answers: { id: "the hold on path:docs", ended_how: "lifted" },
    leaves: async (at) =>
      expect(await at.ann.dibs.listHolds({ project_id: at.project })).toMatchObject([{ scope: "path:src" }]),
  },
  {
    does: "refuses what is frozen, naming every hold (R41)",
    operation: "claim_scopes",
    given: async (at) => {
      await placed(at);
      return { input: { scopes: ["path:src/auth"], mode: "shared", project_id: at.project, intent: "x" } };
    },
    refused: { code: "frozen", holds: [{ scope: "path:src", reason: "the release", agent_name: "lead" }] },
  },
  {
    does: "refuses a task that is frozen (R17)",
    operation: "claim_task",
    given: async (at) => {
      await placed(at, { scope: undefined, project: true });
      return { input: { task_id: (await at.task({ content: "auth" })).id } };
    },
    refused: { code: "frozen", holds: [{ scope: null, reason: "the release" }] },
  },
  {
    does: "passes over what is frozen (R41)",
    operation: "claim_next_task",
    given: async (at) => {
      await placed(at);
      await at.task({ content: "auth", scopes: ["path:src/auth"], priority: 4 });
      await at.task({ content: "docs", scopes: ["path:docs"] });
      return { input: { project_id: at.project } };
    },
    answers: { task: { content: "docs" } },
  },
];

const soon = () => new Date(Date.now() + 3_600_000).toISOString();
