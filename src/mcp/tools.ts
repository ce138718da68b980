import { z } from "zod";
import type { Operation } from "../contract/operation.js";
import { operations } from "../contract/operations.js";
import * as answers from "./answers.js";
import type { Fields } from "./field-kinds.js";
import type { JsonSchema } from "./tool-schema.js";

type Args = Readonly<Record<string, unknown>>;

/** One operation behind a tool, and when a call means it. */
export interface Front {
  readonly operation: Operation;
  /** What the arguments have in common, as a refusal says it. */
  readonly label: string;
  readonly when: (args: Args) => boolean;
  /** The tool's names for fields that are called otherwise in the operation. */
  readonly names?: Readonly<Record<string, string>>;
  /** Fields of the operation that the tool leaves out. */
  readonly without?: readonly string[];
  /** Fields that the tool always fills in like this, and doesn't offer. */
  readonly means?: Readonly<Record<string, unknown>>;
  /** Asked with the same input; its answer is shown beside. */
  readonly beside?: Operation;
  /** Asked for one record in full: nothing is cut. */
  readonly whole?: true;
  /** Doesn't make a bridge that has no session yet open its own, as other writes do. */
  readonly opens?: false;
  readonly show: answers.Show;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** Changes nothing (but for signs of life, as every call). */
  readonly reads?: true;
  /** The same call again changes nothing more. */
  readonly repeats?: true;
  readonly fronts: readonly Front[];
  /** Parameters beside those of the operations. */
  readonly own?: Fields;
  readonly hints?: Readonly<Record<string, string>>;
  readonly output: Readonly<Record<string, JsonSchema>>;
}

const always = { label: "always", when: () => true } as const;
const having = (name: string) => ({ label: `with ${name}`, when: (args: Args) => args[name] !== undefined });
const lacking = (name: string) => ({ label: `without ${name}`, when: (args: Args) => args[name] === undefined });
const acting = (action: string) => ({ label: `with action "${action}"`, when: (args: Args) => args.action === action });

/** An answer's fields name themselves; an agent pays for each word of a description before it has asked anything. */
const record = { type: "object" };
const rows = { type: "array" };
const text = { type: "string" };
const leaseHints = { lease_id: "From the claim." };
const cutToOneSession = ["harness_id", "host", "worktree", "share_with_children"] as const;

const leftOutOfScopes = ["claim_ids", "handoff", "lease_id", "fence"] as const;
/** An agent pays for each field's schema; what it gives away it can say in words. */
const leftOutOfDelegating = [
  "plan",
  "labels",
  "priority",
  "due_date",
  "not_before",
  "max_attempts",
  "context",
  "requires_verdict",
  "fence",
  "handoff",
] as const;

/** The tools: which operations each fronts, in the order in which `tools/list` gives them. */
export const TOOLS: readonly Tool[] = [
  {
    name: "claim_task",
    description:
      "Claim a task under a lease, so that nobody else works on it: the next ready one, or task_id. Null when there is none. The lease ends by the clock unless heartbeat_task renews it.",
    fronts: [
      {
        operation: operations.claim_next_task,
        label: "without task_id",
        when: (args) => args.task_id === undefined && args.handoff_id === undefined,
        without: ["count"],
        show: answers.showClaimed,
      },
      { operation: operations.claim_task, ...having("task_id"), show: answers.showClaimed },
      { operation: operations.accept_handoff, ...having("handoff_id"), show: answers.showAccepted },
    ],
    hints: {
      labels: "All of these.",
      lease_seconds: "Default 300.",
      wait_seconds: "Wait for work.",
      takeover: "Take it from your other session; needs reason.",
    },
    output: { task: { type: ["object", "null"] } },
  },
  {
    name: "heartbeat_task",
    description:
      "Keep the lease of a task you hold and report. Refused with lease_lost: stop working on it, it is not yours any more.",
    repeats: true,
    fronts: [
      { operation: operations.heartbeat_task, ...lacking("context"), show: answers.showKept },
      {
        operation: operations.change_task_context,
        ...having("context"),
        without: ["replace"],
        show: answers.showContext,
      },
    ],
    hints: {
      ...leaseHints,
      checkpoint: "What the next holder needs to go on; text or JSON.",
      context: "Alone: merged into the task's context, null removes a key.",
    },
    output: { task: record, context: record },
  },
  {
    name: "release_task",
    description: "Give a task you hold back to the queue, unfinished.",
    repeats: true,
    fronts: [{ operation: operations.release_task, ...always, show: answers.showEnded }],
    hints: { handoff: "Note for the next holder." },
    output: { task: record },
  },
  {
    name: "complete_task",
    description:
      "Finish a task you hold with its result, evidence and verdict; or with failure_reason say that it failed (retry: true opens it again). judge: true only adds verdict or evidence, to any task.",
    repeats: true,
    own: { judge: z.boolean().optional() },
    fronts: [
      {
        operation: operations.judge_task,
        label: "with judge: true",
        when: (args) => args.judge === true,
        show: answers.showJudged,
      },
      { operation: operations.complete_task, ...lacking("failure_reason"), show: answers.showEnded },
      {
        operation: operations.fail_task,
        ...having("failure_reason"),
        names: { failure_reason: "reason" },
        show: answers.showEnded,
      },
    ],
    hints: {
      result: "Text or JSON.",
      is_head: "commit is branch's head.",
    },
    output: { task: record },
  },
  {
    name: "create_tasks",
    description:
      "Add tasks to the queue, all or none: content is the title, description the details, depends_on the tasks to be completed before. With task_id let that task wait for others (depends_on), or for one no more (blocker_id); with content, give that part of your task to another agent: your lease ends until the part is done.",
    fronts: [
      { operation: operations.create_tasks, ...lacking("task_id"), show: answers.showCreated },
      {
        operation: operations.delegate_task,
        ...having("content"),
        without: leftOutOfDelegating,
        show: answers.showDelegated,
      },
      { operation: operations.remove_dependency, ...having("blocker_id"), show: answers.showWaiting },
      { operation: operations.add_dependencies, ...having("task_id"), show: answers.showWaiting },
    ],
    output: { created: { type: "integer" }, tasks: rows, task: record },
  },
  {
    name: "list_tasks",
    description:
      "List tasks, as many as fit a short answer unless limit is given; or one by task_id in full, with why it can't be claimed.",
    reads: true,
    fronts: [
      { operation: operations.list_dependencies, ...having("which"), show: answers.showTasks },
      { operation: operations.list_tasks, ...lacking("task_id"), without: ["verdict"], show: answers.showTasks },
      {
        operation: operations.get_task,
        ...having("task_id"),
        beside: operations.get_task_why,
        whole: true,
        show: answers.showTask,
      },
    ],
    hints: {
      claimed: "false: available.",
      which: "With task_id: what it waits for, or what waits for it.",
      assigned_to: "Agent id.",
    },
    output: { tasks: rows, next_cursor: text, task: record, why: record },
  },
  {
    name: "claim_scopes",
    description:
      "Before you touch files, branches, ports …: claim their names (path:src/auth, port:3000) under a lease, all or none. Refused with who holds what overlaps; wait gets you in line. A task's scopes come with it.",
    repeats: true,
    fronts: [{ operation: operations.claim_scopes, ...always, without: ["priority"], show: answers.showScopes }],
    hints: { ttl_seconds: "Default 300; session heartbeat renews." },
    output: { claims: rows, ticket: text, position: { type: "integer" } },
  },
  {
    name: "release_scopes",
    description: "Give claimed scopes back.",
    repeats: true,
    fronts: [{ operation: operations.release_scopes, ...always, without: leftOutOfScopes, show: answers.showReleased }],
    output: { released: { type: "integer" }, items: rows },
  },
  {
    name: "request_yield",
    description:
      "Ask who holds a scope to let go of it (claim_id, reason), or answer who asked you (yield_id; hold with reason, narrow to scopes).",
    fronts: [
      { operation: operations.answer_yield, ...having("yield_id"), without: leftOutOfScopes, show: answers.showYield },
      { operation: operations.request_yield, ...lacking("yield_id"), show: answers.showYield },
    ],
    output: { yield_id: text },
  },
  {
    name: "who_holds",
    description: "Who holds what now, since when and until when; what overlaps a scope, if one is named.",
    reads: true,
    fronts: [
      {
        operation: operations.list_claims,
        ...always,
        names: { holder_session_id: "session_id" },
        means: { overlapping: true },
        show: answers.showClaims,
      },
    ],
    output: { claims: rows, next_cursor: text },
  },
  {
    name: "session",
    description:
      "Your session holds your claims. open one of its own (for a subagent), heartbeat it (renews all it holds), show it, end it (frees all; leave findings for others), ack notices by ids.",
    own: { action: z.enum(["open", "heartbeat", "show", "end", "ack"]) },
    fronts: [
      {
        operation: operations.open_session,
        ...acting("open"),
        without: cutToOneSession,
        opens: false,
        show: answers.showOpened,
      },
      { operation: operations.heartbeat_session, ...acting("heartbeat"), show: answers.showSession },
      { operation: operations.get_session, ...acting("show"), show: answers.showSession },
      { operation: operations.end_session, ...acting("end"), opens: false, show: answers.showSessionEnd },
      { operation: operations.ack_notices, ...acting("ack"), show: answers.showAcknowledged },
    ],
    hints: {
      ttl_seconds: "Silence that ends it.",
      parent_session_id: "It ends with that one.",
      findings: "What others should know.",
    },
    output: {
      session: record,
      items: rows,
      ended: record,
      acknowledged: { type: "integer" },
    },
  },
  {
    name: "events",
    description: "What happened, oldest first, after the event with the id given.",
    reads: true,
    fronts: [{ operation: operations.list_events, ...always, show: answers.showEvents }],
    output: { events: rows, after: text },
  },
];

/** The tool that stands for an operation, by the operation's name. */
export const TOOL_OF: ReadonlyMap<string, string> = new Map([
  // No tool fronts it; who_holds says as well who is in the way.
  [operations.check_scope.name, "who_holds"],
  ...TOOLS.flatMap((tool) => tool.fronts.map((front) => [front.operation.name, tool.name] as const)),
]);
