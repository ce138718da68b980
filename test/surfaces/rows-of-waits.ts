import { expect } from "vitest";
import type { Row, Stage } from "./stage.js";

/** bob holds path:src, ann waits for a part of it. */
async function waiting(at: Stage) {
  const { claims } = await at.bob.dibs.claimScopes({ scopes: ["path:src"], project_id: at.project, intent: "mend it" });
  const wanted = {
    scopes: ["path:src/auth"],
    project_id: at.project,
    intent: "rewrite the login",
    wait: true,
  };
  const { ticket = "" } = await at.ann.dibs.claimScopes(wanted);
  return { ticket, claim: claims[0]?.id ?? "", wanted };
}

const free = (at: Stage) => at.bob.dibs.releaseScopes({ all: true });

/** Waiting in line, and asking a holder to let go. */
export const rowsOfWaits: readonly Row[] = [
  {
    does: "waits in line for what isn't free, and keeps its place when it asks again (R35)",
    operation: "claim_scopes",
    given: async (at) => ({ input: (await waiting(at)).wanted }),
    status: 202,
    answers: { claims: [], position: 1 },
    leaves: async (at) =>
      expect(await at.bob.dibs.listWaits({ project_id: at.project })).toMatchObject([{ agent_name: "ann" }]),
  },
  {
    does: "takes what is offered when it asks again (R36)",
    operation: "claim_scopes",
    given: async (at) => {
      const { wanted } = await waiting(at);
      await free(at);
      return { input: wanted };
    },
    answers: { claims: [{ scope: "path:src/auth", agent_name: "ann" }] },
  },
  {
    does: "refuses to wait for one who waits for the asker, with the cycle (R37)",
    operation: "claim_scopes",
    given: async (at) => {
      await at.ann.dibs.claimScopes({ scopes: ["path:docs"], project_id: at.project, intent: "write" });
      await at.bob.dibs.claimScopes({ scopes: ["path:src"], project_id: at.project, intent: "mend it" });
      await at.bob.dibs.claimScopes({ scopes: ["path:docs"], project_id: at.project, intent: "read", wait: true });
      return { input: { scopes: ["path:src"], project_id: at.project, intent: "x", wait: true } };
    },
    refused: {
      code: "would_deadlock",
      cycle: [
        { agent_name: "ann", waits_for: "path:src" },
        { agent_name: "bob", waits_for: "path:docs" },
      ],
    },
  },
  {
    does: "tells who waits, first those who are next",
    operation: "list_waits",
    given: async (at) => {
      await waiting(at);
      return { input: { project_id: at.project } };
    },
    answers: [{ agent_name: "ann", state: "waiting", position: 1, intent: "rewrite the login" }],
  },
  {
    does: "tells who does what, where, in which state (R53)",
    operation: "get_presence",
    given: async (at) => {
      await waiting(at);
      const { id } = await at.task({ content: "Fix the login" });
      await at.ann.dibs.claimTask({ task_id: id });
      await at.ann.dibs.setTaskState({ task_id: id, state: "waiting_input", detail: "which key?" });
      return { input: { session_id: at.ann.sessionId, project_id: at.project } };
    },
    answers: {
      sessions: [
        {
          agent_name: "ann",
          tasks: [{ content: "Fix the login", state: "waiting_input", state_detail: "which key?" }],
          claims: [],
          waits: [{ scopes: [{ scope: "path:src/auth" }], state: "waiting", position: 1 }],
        },
      ],
    },
  },
  {
    does: "tells where a ticket is in line, and who is in its way",
    operation: "get_wait",
    given: async (at) => ({ input: { ticket: (await waiting(at)).ticket } }),
    answers: { state: "waiting", position: 1, behind: [{ scope: "path:src", agent_name: "bob" }], claims: [] },
  },
  {
    does: "takes what a ticket is offered",
    operation: "accept_wait",
    given: async (at) => {
      const { ticket } = await waiting(at);
      await free(at);
      return { input: { ticket } };
    },
    answers: { state: "granted", claims: [{ scope: "path:src/auth", agent_name: "ann" }] },
  },
  {
    does: "leaves the line",
    operation: "cancel_wait",
    given: async (at) => ({ input: { ticket: (await waiting(at)).ticket } }),
    answers: { state: "ended", ended_how: "cancelled" },
    leaves: async (at) => expect(await at.bob.dibs.listWaits({ project_id: at.project })).toEqual([]),
  },
  {
    does: "gives a ticket its scopes before others, with a reason (R40)",
    operation: "grant_wait",
    as: "boss",
    given: async (at) => ({ input: { ticket: (await waiting(at)).ticket, reason: "the release" } }),
    answers: { state: "granted", claims: [{ scope: "path:src/auth", agent_name: "ann" }] },
  },
  {
    does: "refuses that to a worker",
    operation: "grant_wait",
    about: "roles",
    given: async (at) => ({ input: { ticket: (await waiting(at)).ticket, reason: "me first" } }),
    refused: { code: "forbidden" },
  },
  {
    does: "asks a holder to yield (R38)",
    operation: "request_yield",
    given: async (at) => ({ input: { claim_id: (await waiting(at)).claim, reason: "two lines" } }),
    answers: { scope: "path:src", reason: "two lines", answer: null },
  },
  {
    does: "answers who asks to yield: what is yielded goes to the first in line",
    operation: "answer_yield",
    given: async (at) => {
      const { claims } = await at.ann.dibs.claimScopes({ scopes: ["path:a"], project_id: at.project, intent: "x" });
      await at.bob.dibs.claimScopes({ scopes: ["path:a"], project_id: at.project, intent: "y", wait: true });
      const asked = await at.bob.dibs.requestYield({ claim_id: claims[0]?.id ?? "", reason: "please" });
      return { input: { yield_id: asked.id, answer: "yield" } };
    },
    answers: { answer: "yield", scope: "path:a" },
    leaves: async (at) =>
      expect(await at.bob.dibs.listWaits({ project_id: at.project })).toMatchObject([{ state: "offered" }]),
  },
  {
    does: "tells what holders were asked to yield",
    operation: "list_yields",
    given: async (at) => {
      const { claim } = await waiting(at);
      const asked = await at.ann.dibs.requestYield({ claim_id: claim, reason: "two lines" });
      return { input: { holder_session_id: asked.holder_session_id } };
    },
    answers: [{ scope: "path:src", reason: "two lines", answer: null }],
  },
];
