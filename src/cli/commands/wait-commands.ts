import type { CommandRow } from "./commands.js";

const TICKET = "0199…";

/** The commands of those who wait for scopes, and of those who are asked to let go. */
export const waitCommands: readonly CommandRow[] = [
  {
    words: "wait list",
    operation: "list_waits",
    rows: "wait",
    examples: ["dibs wait list", "dibs wait list --scope path:src"],
  },
  {
    words: "wait show",
    operation: "get_wait",
    positionals: ["ticket"],
    examples: [`dibs wait show ${TICKET}`, `dibs wait show ${TICKET} --wait-seconds 60   # takes what it is offered`],
  },
  { words: "wait accept", operation: "accept_wait", positionals: ["ticket"], examples: [`dibs wait accept ${TICKET}`] },
  { words: "wait leave", operation: "cancel_wait", positionals: ["ticket"], examples: [`dibs wait leave ${TICKET}`] },
  {
    words: "wait grant",
    operation: "grant_wait",
    positionals: ["ticket"],
    examples: [`dibs wait grant ${TICKET} --reason "the release can't wait"`],
  },
  {
    words: "yield ask",
    operation: "request_yield",
    positionals: ["claim_id"],
    examples: ['dibs yield ask 0199… --reason "a two-line fix in src/auth/login.ts"'],
  },
  {
    words: "yield answer",
    operation: "answer_yield",
    positionals: ["yield_id", "answer"],
    examples: [
      "dibs yield answer 0199… yield",
      'dibs yield answer 0199… hold --reason "done in five minutes"',
      "dibs yield answer 0199… narrow --scopes path:src/auth/session.ts",
    ],
  },
  {
    words: "yield list",
    operation: "list_yields",
    rows: "yield",
    examples: ["dibs yield list --open true"],
  },
];
