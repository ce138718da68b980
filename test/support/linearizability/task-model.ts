import type { Model, Operation } from "./history.js";

/** What one call showed of one task. Leases are named by their id, holders by their session. */
export type TaskAction =
  /** The task was granted, as claim-next does or by name. */
  | {
      readonly kind: "granted";
      readonly by: string;
      readonly lease: string;
      readonly fence: number;
      readonly ttlMs: number;
    }
  /** A claim by name that found the caller's own live lease. */
  | { readonly kind: "renewed"; readonly lease: string; readonly ttlMs: number }
  /** A claim by name that was refused because of this live lease. */
  | { readonly kind: "held"; readonly by: string; readonly lease: string; readonly fence: number }
  | { readonly kind: "closed" }
  /** A claim-next that found nothing: this task could not be claimed either. */
  | { readonly kind: "nothing" }
  /** A holder's write that was accepted under the lease it named. */
  | {
      readonly kind: "accepted";
      readonly what: "heartbeat" | "complete" | "release";
      readonly lease: string;
      readonly ttlMs: number;
    }
  /** A holder's write that was refused, with the live holder it was told of, if any. */
  | {
      readonly kind: "lost";
      readonly lease: string;
      readonly holder: { readonly lease: string; readonly fence: number } | null;
    }
  | { readonly kind: "reopened" }
  | { readonly kind: "read"; readonly status: string; readonly lease: string | null; readonly fence: number };

/**
 * A task as one client alone would see it. No clock is trusted: a lease ends at an instant nobody saw, somewhere
 * between its length after the call that granted or renewed it and its length after the answer. Before that stretch it
 * lives, after it it is dead, within it both may be said; but once it was said to be dead it stays so.
 */
interface TaskStanding {
  readonly status: "open" | "claimed" | "completed";
  readonly fence: number;
  readonly lease: string;
  readonly holder: string;
  readonly endsFromMs: number;
  readonly endsUntilMs: number;
}

/** The server counts whole milliseconds. */
const TICK_MS = 3;

export const taskModel: Model<TaskStanding, TaskAction> = {
  initial: { status: "open", fence: 0, lease: "", holder: "", endsFromMs: 0, endsUntilMs: 0 },
  next: (task, operation) => [...whileHeld(task, operation), ...whileFree(task, operation)],
  textOf: (task) => JSON.stringify(Object.values(task)),
};

/** What may follow if the task is held at the instant of the operation. */
function whileHeld(task: TaskStanding, operation: Operation<TaskAction>): TaskStanding[] {
  const { action, calledMs, returnedMs } = operation;
  if (task.status !== "claimed" || calledMs > task.endsUntilMs + TICK_MS) return [];
  // It was alive at some time after the call.
  const alive = { ...task, endsFromMs: Math.max(task.endsFromMs, calledMs) };
  const renewed = (ttlMs: number) => ({
    ...alive,
    endsFromMs: Math.max(alive.endsFromMs, calledMs + ttlMs),
    endsUntilMs: Math.max(alive.endsUntilMs, returnedMs + ttlMs),
  });
  const same = (other: { lease: string | null; fence: number }) =>
    other.lease === task.lease && other.fence === task.fence;
  switch (action.kind) {
    case "renewed":
      return action.lease === task.lease ? [renewed(action.ttlMs)] : [];
    case "held":
      return same(action) && action.by === task.holder ? [alive] : [];
    case "nothing":
      return [alive];
    case "accepted": {
      if (action.lease !== task.lease) return [];
      if (action.what === "heartbeat") return [renewed(action.ttlMs)];
      return [{ ...task, status: action.what === "complete" ? "completed" : "open" }];
    }
    case "lost":
      return action.lease !== task.lease && action.holder !== null && same(action.holder) ? [alive] : [];
    case "read":
      return action.status === "claimed" && same(action) ? [alive] : [];
    default:
      return [];
  }
}

/** What may follow if nobody holds the task at the instant of the operation: also because the lease is dead by then. */
function whileFree(task: TaskStanding, { action, calledMs, returnedMs }: Operation<TaskAction>): TaskStanding[] {
  const dead = task.status === "claimed";
  if (dead && returnedMs < task.endsFromMs - TICK_MS) return [];
  const free: TaskStanding = dead ? { ...task, status: "open" } : task;
  const open = free.status === "open";
  switch (action.kind) {
    case "granted": {
      if (!open || action.fence !== task.fence + 1 || action.lease === task.lease) return [];
      const { by: holder, lease, fence, ttlMs } = action;
      const ends = { endsFromMs: calledMs + ttlMs, endsUntilMs: returnedMs + ttlMs };
      return [{ status: "claimed", fence, lease, holder, ...ends }];
    }
    case "closed":
      return open ? [] : [free];
    case "nothing":
      return open ? [] : [free];
    case "lost":
      return action.holder === null ? [free] : [];
    case "reopened":
      return [{ ...free, status: "open" }];
    case "read":
      return action.status === free.status && action.fence === task.fence ? [free] : [];
    default:
      return [];
  }
}
