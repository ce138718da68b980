import type { TaskStatus } from "../../contract/task.js";
import { QUEUE, type StateColumns, type TaskRow } from "../port/rows.js";

/** What a task is at an instant, whatever its row says and whether or not anybody noticed (R1, R14, R20). */
export interface TaskState {
  readonly status: TaskStatus;
  /** Somebody's lease is live. */
  readonly held: boolean;
  /** The last lease ended by the clock and nobody took the task since. */
  readonly lapsed: boolean;
  /** Neither held nor closed, whatever it waits for. */
  readonly free: boolean;
  readonly ready: boolean;
  /** It would be ready, and a hold keeps who asks from claiming it (R41). */
  readonly frozen: boolean;
  /** Open, and a task it depends on isn't completed (R23). No blocker is completed by the clock, so none is looked at. */
  readonly blocked: boolean;
  /** The same of what is delegated, too. */
  readonly waits: boolean;
  /** When the current or lapsed lease ends or ended, ms; the earlier of its own and its session's end. */
  readonly leaseEndMs: number | null;
}

/**
 * The one definition of a task's state; list, claim, `why` and page agree with it. Whether it is frozen is for who asks to
 * know (core/holds/frozen.ts), where that matters: a hold is on its project, or on what it declares.
 */
export function taskState(row: StateColumns, nowMs: number, frozen = false): TaskState {
  const leaseEndMs = leaseEnd(row);
  const claimed = row.status === "claimed";
  const held = claimed && leaseEndMs !== null && nowMs < leaseEndMs;
  const died = claimed && !held;
  const kept = died ? fate(row, true) : row.status;
  const free = kept === "open";
  const waits = free && row.open_blockers > 0;
  const startable = free && !waits && (row.not_before === null || row.not_before <= nowMs);
  // What is delegated is an open task that waits for its parts, so that all that frees or stalls such a task holds of it.
  const delegated = waits && row.delegated === 1;
  return {
    status: delegated ? "delegated" : kept,
    held,
    lapsed: died || row.lapsed === 1,
    free,
    ready: startable && !frozen,
    frozen: startable && frozen,
    blocked: waits && !delegated,
    waits,
    leaseEndMs: held || died || row.lapsed === 1 ? leaseEndMs : null,
  };
}

/**
 * What becomes of a held task when its lease ends without a result: a cancellation that was asked for takes effect, and
 * a task without attempts left has failed (R19, R20). An open task has always an attempt left.
 */
export function fate(
  row: Pick<TaskRow, "cancel_requested" | "attempts" | "max_attempts">,
  counted: boolean,
): "cancelled" | "failed" | "open" {
  if (row.cancel_requested === 1) return "cancelled";
  const used = counted ? row.attempts : row.attempts - 1;
  return used >= row.max_attempts ? "failed" : "open";
}

function leaseEnd(row: StateColumns): number | null {
  if (row.lease_until === null) return null;
  // Once the lapse is recorded, the row has the true end; its session may have lived on or died since.
  if (row.status !== "claimed" || row.session_expires_at === null) return row.lease_until;
  return Math.min(row.lease_until, row.session_expires_at);
}

/** Where an open task stands in the queue. */
export function queuePlace(
  row: Pick<TaskRow, "not_before" | "open_blockers">,
  nowMs: number,
): { queue: number; wakes_at: number | null; parked_by: null } {
  if (row.open_blockers > 0) return { queue: QUEUE.blocked, wakes_at: null, parked_by: null };
  return row.not_before !== null && row.not_before > nowMs
    ? { queue: QUEUE.sleeping, wakes_at: row.not_before, parked_by: null }
    : { queue: QUEUE.ready, wakes_at: null, parked_by: null };
}

/** Whether a blocker will never be completed unless somebody acts: what waits for it is stalled (R23). */
export function isBroken(blocker: StateColumns, nowMs: number): boolean {
  const { status } = taskState(blocker, nowMs);
  return status === "failed" || status === "cancelled";
}

/** What leaves the queue. */
export const OUT_OF_QUEUE = { queue: null, wakes_at: null, parked_by: null } as const;

/** Those that aren't completed; no clock completes one. */
export const openAmong = <R extends Pick<StateColumns, "status">>(blockers: readonly R[]): R[] =>
  blockers.filter((blocker) => blocker.status !== "completed");
