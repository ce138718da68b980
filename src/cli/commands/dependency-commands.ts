import { brief } from "../shown/brief-task.js";
import type { CommandRow } from "./commands.js";

const ID = "4f2a…";

/** What a task waits for, and whom its parts are given to. */
export const dependencyCommands: readonly CommandRow[] = [
  {
    words: "task block",
    operation: "add_dependencies",
    positionals: ["task_id"],
    fields: brief,
    examples: [`dibs task block ${ID} --depends-on 9b1c…`],
  },
  {
    words: "task unblock",
    operation: "remove_dependency",
    positionals: ["task_id", "blocker_id"],
    fields: brief,
    examples: [`dibs task unblock ${ID} 9b1c…`],
  },
  {
    words: "task blockers",
    operation: "list_dependencies",
    positionals: ["task_id"],
    rows: "task",
    examples: [`dibs task blockers ${ID}`, `dibs task blockers ${ID} --which dependents`],
  },
  {
    words: "task delegate",
    operation: "delegate_task",
    positionals: ["task_id", "content"],
    fields: brief,
    examples: [
      `dibs task delegate ${ID} "Review the migration" --assigned-to-agent-id 77aa…`,
      `dibs task delegate ${ID} "Write the docs" --label docs --handoff "merge when they are there"`,
    ],
  },
  {
    words: "task chain",
    operation: "get_task_chain",
    positionals: ["task_id"],
    examples: [`dibs task chain ${ID}`],
  },
];
