import type { CommandRow } from "./commands.js";

/** The commands of plans that are one operation; `dibs plan apply` is written out. */
export const planCommands: readonly CommandRow[] = [
  {
    words: "plan create",
    operation: "create_plan",
    positionals: ["slug"],
    rows: "step",
    examples: [`echo '{"steps":[{"key":"a","content":"one"}]}' | dibs plan create release --json-input -`],
  },
  {
    words: "plan add",
    operation: "add_plan_steps",
    positionals: ["slug"],
    rows: "step",
    examples: [
      `echo '{"steps":[{"key":"b","content":"two","depends_on":["a"]}]}' | dibs plan add release --json-input -`,
    ],
  },
  {
    words: "plan list",
    operation: "list_plans",
    rows: "plan",
    examples: ["dibs plan list", "dibs plan list --project-id web"],
  },
  {
    words: "plan show",
    operation: "get_plan",
    positionals: ["slug"],
    rows: "step",
    examples: ["dibs plan show release"],
  },
  {
    words: "plan graph",
    operation: "get_plan_graph",
    positionals: ["slug"],
    defaults: { format: "mermaid" },
    examples: [
      "dibs plan graph release > release.mmd",
      "dibs plan graph release --format dot | dot -Tsvg > release.svg",
    ],
  },
];
