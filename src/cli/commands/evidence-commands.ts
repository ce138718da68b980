import type { CommandRow } from "./commands.js";

const ID = "4f2a…";
const task = { positionals: ["task_id"] } as const;

/** A task's context and its versions; verdicts, evidence, and where branches are. */
export const evidenceCommands: readonly CommandRow[] = [
  {
    words: "task context",
    operation: "get_task_context",
    ...task,
    examples: [`dibs task context ${ID}`, `dibs task context ${ID} --version 2 --json`],
  },
  {
    words: "task context-set",
    operation: "change_task_context",
    ...task,
    examples: [
      `dibs task context-set ${ID} --context '{"report":{"year":2026},"draft":null}'`,
      `dibs task context-set ${ID} --context '{}' --replace --if-version 3`,
    ],
  },
  {
    words: "task context-versions",
    operation: "list_context_versions",
    ...task,
    rows: "version",
    examples: [`dibs task context-versions ${ID}`],
  },
  {
    words: "task judge",
    operation: "judge_task",
    ...task,
    fromGit: "said",
    fields: ["id", "requires_verdict", "verdict", "evidence"],
    examples: [
      `dibs task judge ${ID} --verdict pass`,
      `dibs task judge ${ID} --verdict fail --verdict-note "breaks on Node 20" --commit 1f3c9ab --branch feat/pay`,
      `dibs task judge ${ID} --evidence '[{"kind":"check","ref":"ci/test","url":"https://ci.example/8"}]'`,
    ],
  },
  {
    words: "head report",
    operation: "report_head",
    fromGit: "head",
    examples: ["dibs head report", "dibs head report --branch main --commit $(git rev-parse origin/main)"],
  },
  {
    words: "head list",
    operation: "list_heads",
    rows: "head",
    examples: ["dibs head list", "dibs head list --branch main"],
  },
];
