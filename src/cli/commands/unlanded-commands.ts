import type { CommandRow } from "./commands.js";

const ID = "4f2a…";
const unlanded = { positionals: ["unlanded_id"] } as const;

/** Work on branches that aren't on their base yet; `dibs land`, which asks git, is written out. */
export const unlandedCommands: readonly CommandRow[] = [
  {
    words: "unlanded declare",
    operation: "declare_unlanded",
    positionals: ["branch"],
    rest: { field: "scopes" },
    scopes: true,
    examples: ['dibs unlanded declare feat/login src/auth db:main --intent "rewrite the login"'],
  },
  {
    words: "unlanded list",
    operation: "list_unlanded",
    rest: { field: "scope", optional: true },
    scopes: true,
    rows: "unlanded",
    examples: ["dibs unlanded list", "dibs unlanded list src/auth", "dibs unlanded list --ended --json"],
  },
  {
    words: "unlanded transfer",
    operation: "transfer_unlanded",
    ...unlanded,
    examples: [`dibs unlanded transfer ${ID} --to-agent-id 9b1c…`],
  },
  { words: "unlanded accept", operation: "accept_unlanded", ...unlanded, examples: [`dibs unlanded accept ${ID}`] },
  {
    words: "unlanded decline",
    operation: "decline_unlanded",
    ...unlanded,
    examples: [`dibs unlanded decline ${ID} --reason "no time this week"`],
  },
  {
    words: "unlanded land",
    operation: "land_unlanded",
    ...unlanded,
    examples: [`dibs unlanded land ${ID}`, "dibs land   # asks git which have landed"],
  },
  {
    words: "unlanded prune",
    operation: "prune_unlanded",
    rows: "unlanded",
    examples: ["dibs unlanded prune --branch main --branch feat/login"],
  },
];
