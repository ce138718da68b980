import { describe, expect, test } from "vitest";
import { QUEUE, type TaskRow } from "../port/rows.js";
import { fate, queuePlace, type TaskState, taskState } from "./task-state.js";

const NOW = 1_000_000;
const row = (change: Partial<TaskRow>) =>
  ({
    status: "open",
    attempts: 1,
    max_attempts: 5,
    cancel_requested: 0,
    not_before: null,
    lease_until: null,
    session_expires_at: null,
    lapsed: 0,
    open_blockers: 0,
    ...change,
  }) as TaskRow;
const held = (change: Partial<TaskRow> = {}) => row({ status: "claimed", lease_until: NOW + 1, ...change });

const CASES: readonly [what: string, row: TaskRow, state: Partial<TaskState>][] = [
  ["open", row({}), { status: "open", ready: true, held: false, lapsed: false, leaseEndMs: null }],
  ["open, not before a later time", row({ not_before: NOW + 1 }), { status: "open", ready: false }],
  ["open, not before this instant", row({ not_before: NOW }), { status: "open", ready: true }],
  ["open, and waits for another task", row({ open_blockers: 1 }), { status: "open", ready: false, blocked: true }],
  ["held, and waits again", held({ open_blockers: 1 }), { status: "claimed", held: true, blocked: false }],
  [
    "held, waiting again, until this instant",
    held({ lease_until: NOW, open_blockers: 1 }),
    { ready: false, blocked: true },
  ],
  ["held", held(), { status: "claimed", held: true, ready: false, lapsed: false, leaseEndMs: NOW + 1 }],
  ["held until this instant", held({ lease_until: NOW }), { status: "open", held: false, lapsed: true, ready: true }],
  [
    "held in a session that ends at this instant",
    held({ lease_until: NOW + 999, session_expires_at: NOW }),
    { status: "open", held: false, lapsed: true, leaseEndMs: NOW },
  ],
  ["held in a session that lives longer", held({ session_expires_at: NOW + 9 }), { held: true, leaseEndMs: NOW + 1 }],
  [
    "lapsed on its last attempt",
    held({ lease_until: NOW, attempts: 5 }),
    { status: "failed", ready: false, lapsed: true, held: false },
  ],
  [
    "lapsed after a request to cancel",
    held({ lease_until: NOW, cancel_requested: 1, attempts: 5 }),
    { status: "cancelled", ready: false, lapsed: true },
  ],
  ["held on its last attempt", held({ attempts: 5 }), { status: "claimed", held: true }],
  [
    "a lapse on record, whatever became of the session since",
    row({ lapsed: 1, lease_until: NOW - 5, session_expires_at: NOW - 900 }),
    { status: "open", ready: true, lapsed: true, leaseEndMs: NOW - 5 },
  ],
  [
    "completed",
    row({ status: "completed", lease_until: NOW + 1 }),
    { status: "completed", ready: false, leaseEndMs: null },
  ],
];

describe("the one definition of a task's state (R1, R14, R20)", () => {
  test.each(CASES)("%s", (_what, task, state) => {
    expect(taskState(task, NOW)).toMatchObject(state);
  });

  test("what becomes of it when its lease ends: a request to cancel first, then whether attempts are left", () => {
    expect(fate(held({ cancel_requested: 1, attempts: 9 }), true)).toBe("cancelled");
    expect([fate(held({ attempts: 5 }), true), fate(held({ attempts: 4 }), true)]).toEqual(["failed", "open"]);
    // An end that doesn't count gives the attempt back; one beyond the last doesn't open it again.
    expect([fate(held({ attempts: 5 }), false), fate(held({ attempts: 6 }), false)]).toEqual(["open", "failed"]);
  });

  test("its place in the queue is asleep until its time", () => {
    const at = (not_before: number | null, open_blockers = 0) => queuePlace({ not_before, open_blockers }, NOW);
    expect(at(NOW + 1)).toEqual({ queue: QUEUE.sleeping, wakes_at: NOW + 1, parked_by: null });
    expect([at(NOW), at(null)]).toEqual(Array(2).fill({ queue: QUEUE.ready, wakes_at: null, parked_by: null }));
    // What waits for others has no time of its own: whatever completes the last of them moves it.
    expect([at(NOW + 1, 1), at(null, 2)]).toEqual(
      Array(2).fill({ queue: QUEUE.blocked, wakes_at: null, parked_by: null }),
    );
  });
});
