import type { CommandRow } from "./commands.js";

/** The commands of scopes; `dibs run` is written out. */
export const scopeCommands: readonly CommandRow[] = [
  {
    words: "scope claim",
    operation: "claim_scopes",
    rest: { field: "scopes" },
    scopes: true,
    rows: "claim",
    examples: [
      'dibs scope claim src/auth docs/auth.md --intent "rewrite the login"',
      'dibs scope claim port:3000 migration:0042 --intent "try the new table" --ttl-seconds 600',
      'dibs scope claim src/auth --intent "rewrite the login" --wait --wait-seconds 60   # in line, if it isn\'t free',
    ],
  },
  {
    words: "scope heartbeat",
    operation: "heartbeat_scopes",
    rest: { field: "scopes", optional: true },
    scopes: true,
    rows: "item",
    examples: ["dibs scope heartbeat --all", "dibs scope heartbeat src/auth --ttl-seconds 900"],
  },
  {
    words: "scope release",
    operation: "release_scopes",
    rest: { field: "scopes", optional: true },
    scopes: true,
    rows: "item",
    examples: ["dibs scope release src/auth", "dibs scope release --all"],
  },
  {
    words: "scope check",
    operation: "check_scope",
    positionals: ["scope"],
    scopes: true,
    examples: ["dibs scope check src/auth/login.ts", "dibs scope check db:main --mode shared"],
  },
  {
    words: "scope capacity",
    operation: "set_scope_capacity",
    positionals: ["scope"],
    scopes: true,
    examples: ["dibs scope capacity slot:gpu --capacity 4"],
  },
  {
    words: "scope capacities",
    operation: "list_scope_capacities",
    rows: "places",
    examples: ["dibs scope capacities"],
  },
  {
    words: "scope list",
    operation: "list_claims",
    also: true,
    always: { overlapping: true },
    rest: { field: "scope", optional: true },
    scopes: true,
    rows: "claim",
    examples: ["dibs scope list", "dibs scope list src"],
  },
  {
    words: "scope history",
    operation: "list_scope_history",
    positionals: ["scope"],
    scopes: true,
    rows: "past",
    examples: ["dibs scope history src/auth"],
  },
];
