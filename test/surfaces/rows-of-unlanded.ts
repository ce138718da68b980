import { expect } from "vitest";
import type { Row, Stage } from "./stage.js";
import type { Fields } from "./surface.js";

/** Unlanded work of bob's in this row's project, with a word for its id. */
async function declared(at: Stage, fields: Fields = {}) {
  const given = { branch: "feat/login", scopes: ["path:src/auth"], project_id: at.project, ...fields };
  const work = await at.bob.dibs.declareUnlanded(given);
  at.names.set(work.id, `the work on ${work.branch}`);
  return work;
}

const offered = async (at: Stage) => {
  const { id } = await declared(at);
  await at.bob.dibs.transferUnlanded({ unlanded_id: id, to_agent_id: at.ann.agentId });
  return { input: { unlanded_id: id } };
};

/** What was changed on branches that aren't on their base yet (R42). */
export const rowsOfUnlanded: readonly Row[] = [
  {
    does: "says what a branch has changed",
    operation: "declare_unlanded",
    given: (at) => ({
      input: {
        branch: "feat/ünïcode -x",
        scopes: ["path:src/auth", "db:main"],
        project_id: at.project,
        intent: "the new login",
      },
    }),
    answers: {
      branch: "feat/ünïcode -x",
      scopes: ["path:src/auth", "db:main"],
      intent: "the new login",
      agent_name: "ann",
      hops: 0,
      transfer_to_agent_id: null,
      ended_at: null,
    },
  },
  {
    does: "refuses what another looks after",
    operation: "declare_unlanded",
    given: async (at) => {
      await declared(at);
      return { input: { branch: "feat/login", scopes: ["path:x"], project_id: at.project } };
    },
    refused: { code: "already_exists" },
  },
  {
    does: "lists what overlaps a scope, cut at its limit",
    operation: "list_unlanded",
    given: async (at) => {
      for (const branch of ["a", "b", "c"]) await declared(at, { branch });
      await declared(at, { branch: "d", scopes: ["path:docs"] });
      return { input: { project_id: at.project, scope: "path:src", limit: 2 } };
    },
    answers: [
      { branch: "a", agent_name: "bob" },
      { branch: "b", scopes: ["path:src/auth"] },
    ],
    goesOn: true,
  },
  {
    does: "asks another to look after it",
    operation: "transfer_unlanded",
    given: async (at) => {
      const { id } = await at.ann.dibs.declareUnlanded({ branch: "x", scopes: ["path:x"], project_id: at.project });
      at.names.set(id, "the work on x");
      return { input: { unlanded_id: id, to_agent_id: at.bob.agentId } };
    },
    answers: { agent_name: "ann", transfer_to_agent_id: "bob" },
  },
  {
    does: "takes it over, when asked",
    operation: "accept_unlanded",
    given: offered,
    answers: { agent_name: "ann", hops: 1, transfer_to_agent_id: null },
  },
  {
    does: "leaves it to whoever has it",
    operation: "decline_unlanded",
    given: offered,
    answers: { agent_name: "bob", hops: 0, transfer_to_agent_id: null },
  },
  {
    does: "refuses what has ended",
    operation: "accept_unlanded",
    given: async (at) => {
      const call = await offered(at);
      await at.bob.dibs.landUnlanded(call.input);
      return call;
    },
    refused: { code: "unlanded_ended", ended_how: "landed" },
  },
  {
    does: "says that it has landed",
    operation: "land_unlanded",
    given: async (at) => ({ input: { unlanded_id: (await declared(at)).id, how: "merge" } }),
    answers: { ended_how: "landed" },
    leaves: async (at) => expect(await at.ann.dibs.listUnlanded({ project_id: at.project })).toEqual([]),
  },
  {
    does: "ends what is declared for branches that are no more",
    operation: "prune_unlanded",
    given: async (at) => {
      for (const branch of ["gone", "there"]) await declared(at, { branch });
      return { input: { branches: ["main", "there"], project_id: at.project } };
    },
    answers: { pruned: [{ branch: "gone", ended_how: "pruned" }] },
  },
  {
    does: "refuses an empty list",
    operation: "prune_unlanded",
    given: async (at) => {
      await declared(at);
      return { input: { branches: [], project_id: at.project } };
    },
    refused: { code: "invalid_input", fields: [{ field: "branches", message: expect.stringMatching(/force/) }] },
    leaves: async (at) => expect(await at.ann.dibs.listUnlanded({ project_id: at.project })).toHaveLength(1),
  },
  {
    does: "tells of unlanded work that overlaps what is claimed",
    operation: "claim_scopes",
    given: async (at) => {
      await declared(at);
      return { input: { scopes: ["path:src"], project_id: at.project, intent: "x" } };
    },
    answers: { claims: [{ scope: "path:src" }], unlanded: [{ branch: "feat/login", agent_name: "bob" }] },
  },
  {
    does: "tells of it in a refusal, too",
    operation: "claim_scopes",
    given: async (at) => {
      await declared(at);
      await at.bob.dibs.claimScopes({ scopes: ["path:src"], project_id: at.project, intent: "x" });
      return { input: { scopes: ["path:src/auth"], project_id: at.project, intent: "x" } };
    },
    refused: { code: "scope_conflict", unlanded: [{ branch: "feat/login", agent_name: "bob" }] },
  },
];
