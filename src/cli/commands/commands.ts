import type { OperationName } from "../../contract/operations.js";
import type { FromGit } from "../git/from-git.js";
import { brief } from "../shown/brief-task.js";
import type { Noun } from "../shown/rows.js";
import { dependencyCommands } from "./dependency-commands.js";
import { evidenceCommands } from "./evidence-commands.js";
import { handoffCommands } from "./handoff-commands.js";
import { holdCommands } from "./hold-commands.js";
import { planCommands } from "./plan-commands.js";
import { recurrenceCommands } from "./recurrence-commands.js";
import { scopeCommands } from "./scope-commands.js";
import { sessionCommands } from "./session-commands.js";
import { unlandedCommands } from "./unlanded-commands.js";
import { waitCommands } from "./wait-commands.js";

/** One command that is an operation: its words, and what stands on the line without a flag. */
export interface CommandRow {
  readonly words: string;
  readonly operation: OperationName;
  /** Fields given by position, each required. */
  readonly positionals?: readonly string[];
  /** A field given by all that stands behind those, one or more; none where it may be given otherwise. */
  readonly rest?: { readonly field: string; readonly optional?: true };
  /** What stands there names scopes: files of this worktree, where no kind is said. */
  readonly scopes?: true;
  /** The operation that is meant when a task's id is given by position. */
  readonly named?: OperationName;
  readonly examples: readonly string[];
  readonly rows?: Noun;
  /** Which fields of a single record people see; all without it. */
  readonly fields?: readonly string[];
  /** What people get where nothing is said. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** What the command means beside what is said, and has no flag for. */
  readonly always?: Readonly<Record<string, unknown>>;
  /** With `--follow` it goes on with what comes. */
  readonly follow?: true;
  /** Takes what isn't given from the git repository around it. */
  readonly fromGit?: FromGit;
  /** Another word for what a command does already. */
  readonly also?: true;
  /** An older form, kept out of help. */
  readonly hidden?: true;
}

const ID = "4f2a…";
const task = { positionals: ["task_id"], fields: brief } as const;
const agent = { positionals: ["agent_id"] } as const;

/** Every command that is one operation. `dibs work`, `up`, `mcp`, `demo` and `workspace add` are written out elsewhere. */
export const commands: readonly CommandRow[] = [
  {
    words: "task add",
    operation: "create_task",
    positionals: ["content"],
    fields: brief,
    examples: [
      'dibs task add "Fix the login test" --label tests --priority 3',
      'dibs task add "Rewrite the login" --scope src/auth --scope db:main',
      `dibs task add "Release it" --depends-on ${ID} --depends-on 9b1c…`,
      `dibs task add "Nightly report" --not-before 2026-08-01T02:00:00Z --context '{"report":7}'`,
    ],
  },
  {
    words: "task add-many",
    operation: "create_tasks",
    rows: "task",
    examples: [`echo '{"tasks":[{"content":"one"},{"content":"two"}]}' | dibs task add-many --json-input -`],
  },
  {
    words: "task list",
    operation: "list_tasks",
    rows: "task",
    examples: [
      "dibs task list --ready --label tests",
      "dibs task list --stalled",
      "dibs task list --status completed --verdict none",
      "dibs task list --status failed --json",
    ],
  },
  { words: "task show", operation: "get_task", positionals: ["task_id"], examples: [`dibs task show ${ID}`] },
  { words: "task why", operation: "get_task_why", positionals: ["task_id"], examples: [`dibs task why ${ID}`] },
  {
    words: "task claim",
    operation: "claim_next_task",
    named: "claim_task",
    fields: brief,
    rows: "task",
    examples: [
      "dibs task claim --label tests --wait-seconds 30",
      `dibs task claim ${ID} --lease-seconds 600`,
      `dibs task claim ${ID} --takeover --reason "my laptop died"`,
    ],
  },
  {
    words: "task heartbeat",
    operation: "heartbeat_task",
    ...task,
    examples: [`dibs task heartbeat ${ID} --progress '{"done":3,"of":9}'`],
  },
  {
    words: "task release",
    operation: "release_task",
    ...task,
    examples: [`dibs task release ${ID} --handoff "half done, see branch feat/login"`],
  },
  {
    words: "task complete",
    operation: "complete_task",
    ...task,
    fromGit: "said",
    examples: [
      `dibs task complete ${ID} --result '{"pages":12}'`,
      `dibs task complete ${ID} --verdict pass   # in a git repository: at its commit and branch`,
    ],
  },
  {
    words: "task fail",
    operation: "fail_task",
    ...task,
    examples: [`dibs task fail ${ID} --reason "no network" --retry`],
  },
  {
    words: "task cancel",
    operation: "cancel_task",
    ...task,
    examples: [`dibs task cancel ${ID} --reason "no longer needed"`],
  },
  {
    words: "task reopen",
    operation: "reopen_task",
    ...task,
    examples: [`dibs task reopen ${ID} --reason "came back"`],
  },
  {
    words: "task state",
    operation: "set_task_state",
    positionals: ["task_id", "state"],
    fields: brief,
    examples: [`dibs task state ${ID} waiting_input --detail "which branch?"`],
  },
  {
    words: "task force-release",
    operation: "force_release_task",
    ...task,
    examples: [`dibs task force-release ${ID} --reason "its agent hangs"`],
  },
  {
    words: "task retry",
    operation: "retry_task",
    ...task,
    examples: [`dibs task retry ${ID} --reason "server mended"`],
  },
  {
    words: "task update",
    operation: "update_task",
    ...task,
    examples: [`dibs task update ${ID} --priority 4`, `dibs task update ${ID} --clear due_date --if-version 3`],
  },
  {
    words: "task delete",
    operation: "delete_task",
    positionals: ["task_id"],
    examples: [`dibs task delete ${ID}`, `dibs task delete ${ID} --force`],
  },
  ...dependencyCommands,
  {
    words: "task comment",
    operation: "add_comment",
    positionals: ["task_id", "body"],
    examples: [`dibs task comment ${ID} "fails on Node 20 only"`],
  },
  {
    words: "task comments",
    operation: "list_comments",
    positionals: ["task_id"],
    rows: "comment",
    examples: [`dibs task comments ${ID}`],
  },
  {
    words: "task link",
    operation: "add_link",
    positionals: ["task_id", "url"],
    examples: [`dibs task link ${ID} https://example.org/pull/7 --kind pull_request`],
  },
  {
    words: "task links",
    operation: "list_links",
    positionals: ["task_id"],
    rows: "link",
    examples: [`dibs task links ${ID}`],
  },
  {
    words: "task history",
    operation: "get_task_history",
    positionals: ["task_id"],
    rows: "history",
    examples: [`dibs task history ${ID}`],
  },
  ...evidenceCommands,
  ...planCommands,
  {
    words: "agent add",
    operation: "create_agent",
    positionals: ["name"],
    examples: ["dibs agent add builder-1", "dibs agent add lead --role coordinator --json"],
  },
  { words: "agent list", operation: "list_agents", rows: "agent", examples: ["dibs agent list"] },
  { words: "agent me", operation: "get_me", examples: ["dibs agent me"] },
  { words: "agent show", operation: "get_agent", ...agent, examples: [`dibs agent show ${ID}`] },
  {
    words: "agent update",
    operation: "update_agent",
    ...agent,
    examples: [`dibs agent update ${ID} --role coordinator`],
  },
  { words: "agent delete", operation: "delete_agent", ...agent, examples: [`dibs agent delete ${ID} --force`] },
  {
    words: "agent rotate",
    operation: "rotate_agent_key",
    ...agent,
    examples: [`dibs agent rotate ${ID} --grace-seconds 600`],
  },
  { words: "agent revoke", operation: "revoke_agent_key", ...agent, examples: [`dibs agent revoke ${ID} --release`] },
  ...sessionCommands,
  { words: "project add", operation: "create_project", positionals: ["key"], examples: ["dibs project add web"] },
  { words: "project list", operation: "list_projects", rows: "project", examples: ["dibs project list"] },
  { words: "project show", operation: "get_project", positionals: ["project_id"], examples: ["dibs project show web"] },
  {
    words: "project here",
    operation: "project_for_repository",
    fromGit: "repository",
    examples: ["dibs project here", "dibs project here --remote git@github.com:acme/shop.git"],
  },
  {
    words: "project update",
    operation: "update_project",
    positionals: ["project_id"],
    examples: ['dibs project update web --name "The web shop"'],
  },
  ...recurrenceCommands,
  ...scopeCommands,
  ...handoffCommands,
  ...holdCommands,
  ...unlandedCommands,
  ...waitCommands,
  { words: "workspace show", operation: "get_workspace", examples: ["dibs workspace show"] },
  {
    words: "workspace set",
    operation: "update_workspace",
    examples: [
      "dibs workspace set --lease-seconds-default 600 --max-attempts 3",
      `dibs workspace set --kinds '{"ticket":{"tree":false},"rack":{"tree":true,"shared":true}}'`,
    ],
  },
  {
    words: "presence",
    operation: "get_presence",
    rows: "present",
    examples: ["dibs presence", "dibs presence --project-id shop --json"],
  },
  {
    words: "who",
    operation: "list_claims",
    always: { overlapping: true },
    rest: { field: "scope", optional: true },
    scopes: true,
    rows: "claim",
    examples: ["dibs who", "dibs who src/auth", "dibs who port:3000 --json"],
  },
  { words: "claims", operation: "count_claims", examples: ["dibs claims --json"], hidden: true },
  {
    words: "events",
    operation: "list_events",
    rows: "event",
    follow: true,
    examples: ["dibs events --follow --type task.claimed"],
  },
];

/** What the groups of commands are about. */
export const groups: Readonly<Record<string, string>> = {
  task: "Tasks: add, find, claim, keep, finish.",
  plan: "Plans: named sets of tasks that wait for each other.",
  wait: "Waiting in line for scopes that somebody holds.",
  yield: "Asking who holds a scope to let go, and answering.",
  head: "Heads of branches: where they are, so that verdicts on older commits read stale.",
  agent: "Agents and their keys.",
  session: "Sessions: who works, and holds what it claimed.",
  project: "Projects: a queue of its own per repository.",
  hold: "Holds: freeze a scope or a project until a time.",
  unlanded: "Unlanded work: what branches have changed that aren't on their base yet.",
  scope: "Scopes: announce what you are about to touch.",
  handoff: "Handoffs: what is offered to you, and what you offer.",
  recur: "Recurring tasks: one at every tick of a clock.",
  workspace: "The workspace and its settings.",
};
