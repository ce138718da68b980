import type { CommandRow } from "./commands.js";

const ID = "4f2a…";
const session = { positionals: ["session_id"] } as const;

/** The commands of sessions. */
export const sessionCommands: readonly CommandRow[] = [
  {
    words: "session open",
    operation: "open_session",
    examples: ["export DIBS_SESSION=$(dibs session open --client my-worker --json | jq -r .id)"],
  },
  {
    words: "session list",
    operation: "list_sessions",
    rows: "session",
    examples: ["dibs session list", "dibs session list --state any --has-findings"],
  },
  { words: "session show", operation: "get_session", ...session, examples: [`dibs session show ${ID}`] },
  {
    words: "session heartbeat",
    operation: "heartbeat_session",
    ...session,
    examples: [`dibs session heartbeat ${ID}`],
  },
  {
    words: "session end",
    operation: "end_session",
    ...session,
    examples: [`dibs session end ${ID} --findings "the flaky test needs TZ=UTC"`],
  },
  { words: "session ack", operation: "ack_notices", examples: [`dibs session ack --id ${ID}`] },
];
