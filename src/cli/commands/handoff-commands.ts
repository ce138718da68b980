import type { CommandRow } from "./commands.js";

const ID = "4f2a…";
const AGENT = "9b1c…";
const handoff = { positionals: ["handoff_id"] } as const;

/** Passing what one holds to another session. */
export const handoffCommands: readonly CommandRow[] = [
  {
    words: "task handoff",
    operation: "handoff_task",
    positionals: ["task_id"],
    examples: [
      `dibs task handoff ${ID} --to-agent-id ${AGENT} --note "the tests are written, the code isn't"`,
      `dibs task handoff ${ID} --to-session-id 77d0… --offer-seconds 60`,
    ],
  },
  {
    words: "scope handoff",
    operation: "handoff_claim",
    positionals: ["claim_id"],
    examples: [`dibs scope handoff ${ID} --to-agent-id ${AGENT}   # the claim's id: dibs who --json`],
  },
  {
    words: "handoff list",
    operation: "list_handoffs",
    rows: "handoff",
    examples: ["dibs handoff list", "dibs handoff list --whose all --ended"],
  },
  { words: "handoff accept", operation: "accept_handoff", ...handoff, examples: [`dibs handoff accept ${ID}`] },
  {
    words: "handoff decline",
    operation: "decline_handoff",
    ...handoff,
    examples: [`dibs handoff decline ${ID} --reason "no time today"`],
  },
];
