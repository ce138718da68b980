import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { Body } from "../support/fresh-store.js";
import type { Offer } from "./handoffs.js";
import type { Grant, Hold, Refusal, Session, Task } from "./records.js";
import { bindReservations } from "./reservations.js";
import type { Rules } from "./rules.js";
import { leaseEndMs, openBlockers } from "./standing.js";

export type Shown = Body<"get_task">;

/** What a task must look like at an instant, with records in place of ids that may not be known yet. */
export interface Snapshot {
  readonly task: Task;
  readonly fields: Partial<Shown>;
  readonly holder: Session | null;
  readonly lease: Grant | null;
  readonly project: string;
}

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

export function snapshot(rules: Rules, task: Task): Snapshot {
  const { live, lapse } = task;
  const last = live ?? lapse?.grant ?? null;
  const endMs = live ? leaseEndMs(live) : (lapse?.atMs ?? null);
  const fields: Partial<Shown> = {
    content: task.content,
    labels: task.labels,
    priority: task.priority,
    status: live ? "claimed" : rules.delegated(task) ? "delegated" : task.status,
    ready: rules.ready(task),
    frozen: rules.frozen(task),
    lapsed: lapse !== null,
    stalled: rules.stalled(task),
    depends_on: idsInOrder(task.waitsFor),
    depends_on_count: task.waitsFor.length,
    blocked_by: idsInOrder(openBlockers(task)),
    blocked_by_count: openBlockers(task).length,
    assigned_to_agent_id: task.assignedTo?.id ?? null,
    accountable_agent_id: task.accountable?.id ?? null,
    created_by_agent_id: task.createdBy.id,
    parent_task_id: task.parent?.id ?? null,
    claimed_by_agent_id: last?.session.agent.id ?? null,
    claimed_at: last ? iso(last.atMs) : null,
    fence: task.grants.at(-1)?.fence ?? 0,
    lease_expires_at: iso(endMs),
    lease_remaining_ms: live && endMs !== null ? endMs - rules.nowMs : null,
    state: task.state as Shown["state"],
    state_detail: task.detail,
    progress: task.progress as never,
    checkpoint: task.checkpoint as never,
    handoff_note: task.handoff,
    cancel_requested: task.cancelAsked !== null,
    attempts: task.attempts,
    max_attempts: task.maxAttempts,
    result: task.result as never,
    closed_by_agent_id: task.closedBy?.id ?? null,
    not_before: iso(task.notBeforeMs),
    completed_at: iso(task.completedAtMs),
  };
  if (task.status === "failed") fields.failure_reason = task.failure;
  return { task, fields, holder: last?.session ?? null, lease: live, project: task.project };
}

const idsInOrder = (tasks: readonly Task[]) =>
  [...tasks].sort((a, b) => a.order - b.order).map(({ id }) => id as string);

/** Compares a shown task with what it must look like, and binds records that it is the first to show. */
export class Comparison {
  readonly #leases = new Set<string>();
  readonly #versions = new Map<Task, { changes: number; version: number }>();

  /** `projects`: their ids by key. */
  constructor(private readonly projects: Readonly<Record<string, string>>) {}

  task(snap: Snapshot, shown: Shown): void {
    snap.task.id ??= shown.id;
    if (snap.lease && snap.lease.id === null) {
      if (this.#leases.has(shown.lease_id ?? "")) throw new Error(`Lease id ${shown.lease_id} was given twice.`);
      snap.lease.id = shown.lease_id;
      this.#leases.add(shown.lease_id ?? "");
    }
    if (snap.holder) snap.holder.id ??= shown.claimed_by_session_id;
    const named = Object.fromEntries(Object.keys(snap.fields).map((field) => [field, shown[field as keyof Shown]]));
    const ids = {
      id: shown.id,
      project_id: shown.project_id,
      lease_id: shown.lease_id,
      claimed_by_session_id: shown.claimed_by_session_id,
    };
    const project_id = this.projects[snap.project];
    const expected = { ...snap.fields, id: snap.task.id, project_id, lease_id: snap.lease?.id ?? null };
    same({ ...named, ...ids }, { ...expected, claimed_by_session_id: snap.holder?.id ?? null });
    this.#version(snap.task, shown.version);
  }

  /** R5: what changes a task moves its version, a renewal doesn't. */
  #version(task: Task, version: number): void {
    const before = this.#versions.get(task);
    const moved = before === undefined || version > before.version;
    const changed = before === undefined || task.changes > before.changes;
    same({ moved, version: changed ? null : version }, { moved: changed, version: changed ? null : before.version });
    this.#versions.set(task, { changes: task.changes, version });
  }

  comments(task: Task, shown: Body<"list_comments">): void {
    const late = task.lateResults.map(({ result, by }) => [JSON.stringify(result), by.id]);
    same(
      [...shown].map((each) => [each.body, each.agent_id]),
      late,
    );
  }

  hold(hold: Hold, shown: Body<"place_hold">): void {
    hold.id ??= shown.id;
    same([shown.id, Date.parse(shown.expires_at)], [hold.id, hold.endsAtMs]);
  }

  offer(offer: Offer, shown: Body<"handoff_task">): void {
    offer.id ??= shown.id;
    const { of, to, note, by, granted } = offer;
    const { task_id, claim_id, from_session_id, to_agent_id, to_session_id } = shown;
    const [taskId, claimId] = of.task ? [of.task.id, null] : [null, of.lease.id];
    same(
      [shown.id, task_id, claim_id, from_session_id, to_agent_id, to_session_id, shown.note],
      [offer.id, taskId, claimId, of.lease.session.id, to.agent.id, to.session?.id ?? null, note ?? null],
    );
    same([shown.state, shown.fence], [offer.state, granted?.fence ?? null]);
    if (by) same([shown.accepted_by_session_id, shown.lease_id], [by.id, granted?.id]);
  }

  refusal(expected: Refusal, actual: { code: string; details: Record<string, unknown> }): void {
    const { reason, holder, inTheWay } = expected.extra;
    const shownHolder = actual.details.holder as Body<"list_claims">[number] | undefined;
    same([actual.code, reason && actual.details.reason], [expected.code, reason]);
    if (inTheWay && actual.details.conflicts) sameInTheWay(actual.details.conflicts, inTheWay);
    if (!["task_claimed", "lease_lost", "handoff_taken"].includes(expected.code)) return;
    // Of what was granted at that instant neither is known yet.
    const isKnown = holder?.id !== null;
    const grantOf = (lease: string | null, fence: number | null) => (isKnown ? [lease, fence] : []);
    same(
      shownHolder && [
        ...grantOf(shownHolder.lease_id, shownHolder.fence),
        shownHolder.session_id,
        shownHolder.expires_at,
      ],
      holder && [...grantOf(holder.id, holder.fence), holder.session.id, iso(leaseEndMs(holder))],
    );
  }
}

/** A refusal lists everybody in the way; of what was granted at that instant the ids aren't known yet. */
function sameInTheWay(conflicts: unknown, expected: readonly { id: string | null }[]): void {
  const holders = (conflicts as { holder: Body<"list_claims">[number] }[]).map(({ holder }) => holder);
  bindReservations(expected, holders);
  const known = expected.flatMap(({ id }) => id ?? []).sort();
  const shown = holders.map(({ id }) => id);
  same([shown.filter((id) => known.includes(id)).sort(), shown.length], [known, expected.length], "who is in the way");
}

/** Looks itself before it asks `expect`, which takes a hundred times as long. */
export const ids = (list: readonly { id: string | null }[]) => list.map((each) => each.id);

export function same(actual: unknown, expected: unknown, what?: string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, what).toEqual(expected);
}
