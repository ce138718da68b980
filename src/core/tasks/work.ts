import type { z } from "zod";
import { DibsError } from "../../contract/errors.js";
import type { Operations } from "../../contract/operations.js";
import { noticesOf } from "../agents/notices.js";
import type { Context, Handler, Reply } from "../context.js";
import { viewOf } from "../dependencies/blockers.js";
import { blockerMoved } from "../dependencies/dependencies.js";
import { record } from "../events.js";
import { roleAtLeast } from "../identity.js";
import {
  endByForce,
  endByHolder,
  holds,
  isHolder,
  type LeaseProof,
  leaseSecondsOf,
  notifyLost,
  renew,
} from "../leases/leases.js";
import { refuseLost } from "../leases/stale-writes.js";
import { type TaskRow, withChange } from "../port/rows.js";
import type { TaskChange } from "../port/verbs.js";
import { quoted } from "../quoted.js";
import { requireReason } from "../required-reason.js";
import { withoutGoneAssignee } from "./assignments.js";
import { tellCancelRequest } from "./cancel-requests.js";
import { withoutPass } from "./evidence.js";
import { endReservation } from "./passed-over.js";
import { heldByOther, refusalToClaim } from "./refusals.js";
import { fate, OUT_OF_QUEUE, queuePlace, taskState } from "./task-state.js";
import { ATTEMPTS_EXHAUSTED } from "./task-view.js";
import { mayChange, taskOf } from "./tasks.js";

type Input<N extends keyof Operations> = z.output<Operations[N]["input"]>;

const view = async (context: Context, row: TaskRow): Promise<Reply> => ({ body: await viewOf(context, row) });
/** The lease as the events that end it name it. */
export const leaseOf = (row: TaskRow) => ({
  lease_id: row.lease_id,
  fence: row.fence,
  agent_id: row.holder_agent,
  session_id: row.holder_session,
});

export const heartbeat_task: Handler<Input<"heartbeat_task">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  const leaseSeconds =
    input.lease_seconds === undefined ? (row.lease_seconds ?? 0) : leaseSecondsOf(context, input.lease_seconds);
  if (!holds(context, row, input)) return refuseLost(context, row, input);
  let after = await renew(context, row, leaseSeconds, input.progress !== undefined);
  const said = { ...stateChange(input), ...noteChange(input) };
  if (Object.keys(said).length > 0) after = await say(context, after, said);
  const beat = { taskId: after.id, leaseId: after.lease_id ?? "" };
  return { body: { ...(await viewOf(context, after)), notices: await noticesOf(context) }, beat };
};

function stateChange(input: { state?: string; detail?: string }): TaskChange {
  if (input.state === undefined) return input.detail === undefined ? {} : { state_detail: input.detail };
  return { state: input.state, state_detail: input.detail ?? null };
}

function noteChange(input: Input<"heartbeat_task">): TaskChange {
  return {
    ...(input.progress === undefined ? {} : { progress: JSON.stringify(input.progress) }),
    ...(input.checkpoint === undefined ? {} : { checkpoint: JSON.stringify(input.checkpoint) }),
  };
}

/** Writes what the holder says of its work; a new state is a change of the task, progress and checkpoint are not. */
async function say(context: Context, row: TaskRow, said: TaskChange): Promise<TaskRow> {
  const moved =
    (said.state !== undefined && said.state !== row.state) ||
    (said.state_detail !== undefined && said.state_detail !== row.state_detail);
  const change = moved ? { ...said, version: row.version + 1, updated_at: context.nowMs } : said;
  await context.tx.tasks.update(row, change);
  const after = withChange(row, change);
  if (moved) await record(context, "task.state_changed", after, { state: after.state, detail: after.state_detail });
  return after;
}

export const set_task_state: Handler<Input<"set_task_state">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  if (!holds(context, row, input)) return refuseLost(context, row, input);
  return view(context, await say(context, row, stateChange(input)));
};

export const release_task: Handler<Input<"release_task">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  if (!holds(context, row, input)) {
    return (await isRepeat(context, row, input, "open", "task.released"))
      ? view(context, row)
      : refuseLost(context, row, input);
  }
  return view(context, await giveBack(context, row, input.handoff, {}));
};

/** Its holder gives a task back, with a note for the next one; no attempt is counted. */
export async function giveBack(
  context: Context,
  row: TaskRow,
  handoff: string | undefined,
  data: object,
): Promise<TaskRow> {
  const note = handoff === undefined ? {} : { handoff_note: handoff };
  const change = { ...givenBack(context, row, false), attempts: row.attempts - 1, ...note };
  const after = await endByHolder(context, row, change);
  await recordGivenBack(context, row, after, { handoff: handoff !== undefined, ...data });
  return after;
}

/** What a task is when it goes back to the queue. */
function reopened(context: Context, row: TaskRow) {
  const status = "open" as const;
  const none = { state: null, state_detail: null, cancel_requested: 0, closed_at: null, closed_by: null };
  return { status, ...none, ...queuePlace(row, context.nowMs) };
}

function closed(context: Context, status: "completed" | "failed" | "cancelled") {
  return {
    status,
    ...OUT_OF_QUEUE,
    closed_at: context.nowMs,
    closed_by: context.agent.id,
    cancel_requested: 0,
    state: null,
  };
}

/** What a held task becomes when its lease ends without a result (see `fate`). */
export function givenBack(context: Context, row: TaskRow, counted: boolean) {
  const status = fate(row, counted);
  if (status === "open") return reopened(context, row);
  const end = { ...closed(context, status), closed_by: status === "cancelled" ? row.closed_by : context.agent.id };
  return status === "failed" ? { ...end, failure_reason: ATTEMPTS_EXHAUSTED } : end;
}

/** The events of a lease that ended without a result, and of what became of its task. */
export async function recordGivenBack(context: Context, before: TaskRow, after: TaskRow, data: object): Promise<void> {
  await record(context, "task.released", after, { ...leaseOf(before), ...data });
  if (after.status === "cancelled") await record(context, "task.cancelled", after, { reason: after.cancel_reason });
  if (after.status === "failed") await record(context, "task.failed", after, { reason: after.failure_reason });
  await blockerMoved(context, before, after);
  context.woke();
}

/** The same call again by the session (and under the lease) whose call had its effect: a repeat, answered alike. */
export async function isRepeat(
  context: Context,
  row: TaskRow,
  proof: LeaseProof,
  status: string,
  type: string,
): Promise<boolean> {
  if (!isHolder(context, row) || row.lease_id === null || row.status !== status || row.lapsed === 1) return false;
  if (proof.lease_id !== undefined && proof.lease_id !== row.lease_id) return false;
  if (proof.fence !== undefined && proof.fence !== row.fence) return false;
  const [last] = await context.tx.events.lastOf(row.id, [type, "task.claimed", "task.retried", "task.reopened"], 1);
  return last?.type === type && last.session_id === context.session?.id;
}

export const fail_task: Handler<Input<"fail_task">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  requireReason(input.reason);
  if (!holds(context, row, input)) return refuseLost(context, row, input);
  const becomes = input.retry ? givenBack(context, row, true) : closed(context, "failed");
  const exhausted = input.retry === true && becomes.status === "failed";
  const reason = exhausted ? ATTEMPTS_EXHAUSTED : input.reason;
  const after = await endByHolder(context, row, { ...becomes, failure_reason: reason });
  const type = { open: "task.retried", failed: "task.failed", cancelled: "task.cancelled" }[becomes.status as "open"];
  const data = { ...leaseOf(row), reason: input.reason };
  await record(context, type, after, exhausted ? { ...data, exhausted: true, attempts: row.attempts } : data);
  await blockerMoved(context, row, after);
  if (after.status === "open") context.woke();
  return view(context, after);
};

export const cancel_task: Handler<Input<"cancel_task">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  const state = taskState(row, context.nowMs);
  const cancelReason = input.reason ?? null;
  if (holds(context, row, input)) {
    const after = await endByHolder(context, row, { ...closed(context, "cancelled"), cancel_reason: cancelReason });
    await record(context, "task.cancelled", after, { ...leaseOf(row), reason: cancelReason });
    await blockerMoved(context, row, after);
    return view(context, after);
  }
  if (input.lease_id !== undefined || input.fence !== undefined) return refuseLost(context, row, input);
  if (state.held) return requestCancel(context, row, cancelReason);
  if (state.status === "cancelled") return view(context, row);
  if (!state.free) throw (await refusalToClaim(context, row)) ?? new Error("A closed task gave no refusal.");
  await mayChange(context, row);
  const change = { ...closed(context, "cancelled"), cancel_reason: cancelReason };
  const after = await changeUnheld(context, row, change);
  await record(context, "task.cancelled", after, { reason: cancelReason });
  await blockerMoved(context, row, after);
  return view(context, after);
};

/** Cancelling what somebody holds is a request to the holder (R19). */
async function requestCancel(context: Context, row: TaskRow, reason: string | null): Promise<Reply> {
  const own = row.created_by === context.agent.id || roleAtLeast(context.role, "coordinator");
  if (!own) throw await heldByOther(context, row);
  if (row.cancel_requested === 1) return { ...(await view(context, row)), otherwise: true };
  // Who asked is kept where the closing agent stands, for when the request takes effect.
  const asked = { cancel_requested: 1, cancel_reason: reason, closed_by: context.agent.id };
  const change = { ...asked, version: row.version + 1, updated_at: context.nowMs };
  await context.tx.tasks.update(row, change);
  const after = withChange(row, change);
  await record(context, "task.cancel_requested", after, { reason, lease_id: row.lease_id });
  await tellCancelRequest(context, after);
  return { ...(await view(context, after)), otherwise: true };
}

/** Changes a task nobody holds; a lease that lapsed unnoticed is put on record first. */
async function changeUnheld(context: Context, row: TaskRow, change: TaskChange): Promise<TaskRow> {
  const versioned = { ...change, version: row.version + 1, updated_at: context.nowMs };
  await context.tx.tasks.update(row, versioned);
  await endReservation(context.tx, row);
  return withChange(row, versioned);
}

/** What a closed task is once it is open again: as new, and no one's who is no more. */
async function openedAgain(context: Context, row: TaskRow): Promise<TaskChange> {
  const gone = await withoutGoneAssignee(context, row);
  return { ...reopened(context, row), attempts: 0, failure_reason: null, ...withoutPass(row), ...gone };
}

export const reopen_task: Handler<Input<"reopen_task">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  const state = taskState(row, context.nowMs);
  if (state.held) throw await heldByOther(context, row);
  if (state.free) return view(context, row);
  await mayChange(context, row);
  const fresh = { ...(await openedAgain(context, row)), result: null, cancel_reason: null };
  const after = await changeUnheld(context, row, fresh);
  await record(context, "task.reopened", after, { reason: input.reason ?? null, was: state.status });
  await blockerMoved(context, row, after);
  context.woke();
  return view(context, after);
};

export const retry_task: Handler<Input<"retry_task">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  requireReason(input.reason);
  const state = taskState(row, context.nowMs);
  if (state.held) throw await heldByOther(context, row);
  if (state.free) return view(context, row);
  if (state.status !== "failed")
    throw (await refusalToClaim(context, row)) ?? new Error("A closed task gave no refusal.");
  const after = await changeUnheld(context, row, await openedAgain(context, row));
  await record(context, "task.retried", after, { reason: input.reason });
  context.woke();
  return view(context, after);
};

export const force_release_task: Handler<Input<"force_release_task">> = async (context, input) => {
  const row = await taskOf(context, input.task_id);
  requireReason(input.reason);
  const state = taskState(row, context.nowMs);
  if (state.free) return view(context, row);
  if (!state.held)
    throw new DibsError("task_closed", `${quoted(row)} is ${state.status}; nobody holds it.`, {
      status: state.status,
      by: row.closed_by,
      at: null,
      next: ["Open it again: reopen_task, or retry_task if it failed."],
    });
  return view(context, await releaseByForce(context, row, input.reason));
};

/** Ends a live lease against its holder, who is told. */
export async function releaseByForce(context: Context, row: TaskRow, reason: string): Promise<TaskRow> {
  const after = await endByForce(context, row, givenBack(context, row, true));
  await recordGivenBack(context, row, after, { forced: true, reason });
  await notifyLost(context.tx, row, "revoked", `${context.agent.name} released ${quoted(row)}: ${reason}`);
  return after;
}
