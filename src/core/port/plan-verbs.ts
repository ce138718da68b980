import type { StateColumns, TaskRow } from "./rows.js";
import type { Awaitable, Page } from "./verbs.js";

export interface PlanRow {
  readonly seq: number;
  readonly id: string;
  readonly workspace_id: string;
  readonly project_id: string;
  readonly slug: string;
  readonly title: string | null;
  readonly created_by: string;
  readonly created_at: number;
}

/** A step as it was written, so that the same plan is known again whatever became of its task. */
export interface StepRow {
  readonly key: string;
  /** Null when the task was deleted. */
  readonly task_seq: number | null;
  readonly definition: string;
}

/** A task of a plan, or one that a task of the plan waits for. */
export type NodeRow = StateColumns &
  Pick<
    TaskRow,
    "seq" | "id" | "project_id" | "content" | "priority" | "scopes" | "holder_agent" | "requires_verdict" | "verdict"
  > & {
    readonly key: string | null;
    readonly in_plan: number;
  };

export interface PlanVerbs {
  /** Returns its sequence number. */
  insert(row: Omit<PlanRow, "seq">): Awaitable<number>;
  /** Locked by who adds steps, who does so alone then; not by claims, which would queue behind each other for nothing. */
  bySlug(projectId: string, slug: string, how: { lock: boolean }): Awaitable<PlanRow | undefined>;
  list(workspaceId: string, projectId: string | null, page: Page): Awaitable<PlanRow[]>;
  insertSteps(planSeq: number, steps: readonly (StepRow & { readonly task_seq: number })[]): Awaitable<void>;
  steps(planSeq: number): Awaitable<StepRow[]>;
  /** The plan's tasks and what they wait for outside, as they were written. */
  nodes(plan: PlanRow): Awaitable<NodeRow[]>;
  /** What the plan's tasks wait for. */
  edges(plan: PlanRow): Awaitable<{ task_seq: number; blocker_seq: number }[]>;
}
