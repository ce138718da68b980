import type { CommandRow } from "./commands.js";

const ID = "4f2a…";
const recurrence = { positionals: ["recurrence_id"] } as const;

/** Templates that make a task at every tick. */
export const recurrenceCommands: readonly CommandRow[] = [
  {
    words: "recur add",
    operation: "create_recurrence",
    positionals: ["name", "content"],
    examples: [
      'dibs recur add nightly "Run the long tests" --cron "30 2 * * *" --time-zone Europe/Berlin',
      'dibs recur add triage "Sort new issues" --cron "0 9 * * 1-5" --skip-if-open --label triage --priority 3',
    ],
  },
  {
    words: "recur list",
    operation: "list_recurrences",
    rows: "recurrence",
    examples: ["dibs recur list", "dibs recur list --project-id web --json"],
  },
  { words: "recur show", operation: "get_recurrence", ...recurrence, examples: [`dibs recur show ${ID}`] },
  {
    words: "recur update",
    operation: "update_recurrence",
    ...recurrence,
    examples: [
      `dibs recur update ${ID} --no-enabled`,
      `dibs recur update ${ID} --cron "0 6 * * *" --clear assigned_to_agent_id`,
    ],
  },
  { words: "recur remove", operation: "delete_recurrence", ...recurrence, examples: [`dibs recur remove ${ID}`] },
];
