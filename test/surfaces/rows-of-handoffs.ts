import { expect } from "vitest";
import type { Row, Stage } from "./stage.js";

/** A task of bob's, which he offers to ann. */
async function offered(at: Stage) {
  const lease = await at.held(at.bob, { content: "login" });
  const offer = { ...lease, to_session_id: at.ann.sessionId, note: "tests are written" };
  return { ...lease, handoff_id: (await at.bob.dibs.handoffTask(offer)).id };
}

async function claimed(at: Stage, by = at.ann): Promise<string> {
  const input = { scopes: ["path:src"], project_id: at.project, intent: "mend it" };
  return (await by.dibs.claimScopes(input)).claims[0]?.id as string;
}

const OFFER = { intent: "login", from_agent_name: "bob", to_agent_name: "ann", state: "offered" };

/** What is passed on to another session. */
export const rowsOfHandoffs: readonly Row[] = [
  {
    does: "offers a held task to an agent (R39)",
    operation: "handoff_task",
    given: async (at) => {
      const { task_id, lease_id } = await at.held(at.ann, { content: "login" });
      return { input: { task_id, lease_id, to_agent_id: at.bob.agentId, note: "yours?", offer_seconds: 60 } };
    },
    answers: {
      scope: "task:task 1",
      intent: "login",
      to_agent_name: "bob",
      to_session_id: null,
      note: "yours?",
      state: "offered",
      remaining_ms: "within 1 min",
      lease_id: null,
    },
    leaves: async (at) =>
      expect(await at.bob.dibs.listHandoffs({ whose: "to_me", project_id: at.project })).toMatchObject([
        { intent: "login", from_agent_name: "ann" },
      ]),
  },
  {
    does: "refuses to offer what another holds, naming who (R3)",
    operation: "handoff_task",
    given: async (at) => {
      const { task_id } = await at.held(at.bob);
      return { input: { task_id, to_agent_id: at.lead.agentId } };
    },
    refused: { code: "lease_lost", reason: "never_held", holder: { agent_name: "bob" } },
  },
  {
    does: "refuses an offer to nobody",
    operation: "handoff_task",
    given: async (at) => ({ input: { task_id: (await at.held(at.ann)).task_id } }),
    refused: { code: "invalid_input", fields: [{ field: "to_session_id" }] },
  },
  {
    does: "offers a claimed scope to a session",
    operation: "handoff_claim",
    given: async (at) => ({ input: { claim_id: await claimed(at), to_session_id: at.bob.sessionId } }),
    answers: { scope: "path:src", intent: "mend it", task_id: null, to_session_id: "bob's session", state: "offered" },
  },
  {
    does: "lists what is offered to the asker",
    operation: "list_handoffs",
    given: async (at) => {
      await offered(at);
      return { input: { project_id: at.project } };
    },
    answers: [{ ...OFFER, scope: "task:task 1", note: "tests are written" }],
  },
  {
    does: "takes a task that is offered, under a new lease (R4, R39)",
    operation: "accept_handoff",
    given: async (at) => ({ input: { handoff_id: (await offered(at)).handoff_id, lease_seconds: 600 } }),
    answers: {
      task: {
        id: "task 1",
        status: "claimed",
        claimed_by_session_id: "ann's session",
        fence: 2,
        lease_remaining_ms: "within 10 min",
        handoff_note: "tests are written",
      },
    },
    leaves: async (at) =>
      expect(await at.bob.dibs.listClaims({ project_id: at.project })).toMatchObject([{ agent_name: "ann" }]),
  },
  {
    does: "takes a scope that is offered",
    operation: "accept_handoff",
    given: async (at) => {
      const { id } = await at.bob.dibs.handoffClaim({
        claim_id: await claimed(at, at.bob),
        to_session_id: at.ann.sessionId,
      });
      return { input: { handoff_id: id } };
    },
    answers: { task: null, claim: { scope: "path:src", agent_name: "ann", remaining_ms: "within 5 min" } },
    tools: false,
  },
  {
    does: "refuses who comes too late, naming who has it (R39)",
    operation: "accept_handoff",
    given: async (at) => {
      const { handoff_id, task_id } = await offered(at);
      await at.bob.dibs.releaseTask({ task_id });
      await at.claim(at.lead, task_id);
      return { input: { handoff_id } };
    },
    refused: { code: "handoff_taken", state: "expired", holder: { agent_name: "lead" } },
  },
  {
    does: "refuses to whom it isn't offered",
    operation: "accept_handoff",
    as: "lead",
    given: async (at) => ({ input: { handoff_id: (await offered(at)).handoff_id } }),
    refused: { code: "forbidden" },
  },
  {
    does: "declines what is offered; its holder keeps it",
    operation: "decline_handoff",
    given: async (at) => ({ input: { handoff_id: (await offered(at)).handoff_id, reason: "no time" } }),
    answers: { ...OFFER, state: "declined" },
    leaves: async (at) =>
      expect(await at.ann.dibs.listClaims({ project_id: at.project })).toMatchObject([{ agent_name: "bob" }]),
  },
];
