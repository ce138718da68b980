import type { CommandRow } from "./commands.js";

const ID = "4f2a…";

/** Freezing a scope or a project, which is a coordinator's. */
export const holdCommands: readonly CommandRow[] = [
  {
    words: "hold place",
    operation: "place_hold",
    rest: { field: "scope", optional: true },
    scopes: true,
    examples: [
      'dibs hold place src/auth --reason "the release is being cut" --ttl-seconds 3600',
      'dibs hold place --project --project-id web --reason "moving house" --expires-at 2026-08-01T18:00:00Z',
    ],
  },
  {
    words: "hold list",
    operation: "list_holds",
    rows: "hold",
    examples: ["dibs hold list", "dibs hold list --ended --json"],
  },
  { words: "hold lift", operation: "lift_hold", positionals: ["hold_id"], examples: [`dibs hold lift ${ID}`] },
];
