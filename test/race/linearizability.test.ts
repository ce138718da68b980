import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { limit, measured, rounds, spread } from "../support/campaign.js";
import { check } from "../support/linearizability/check.js";
import type { Model, Operation, Verdict } from "../support/linearizability/history.js";
import { type Histories, recordTasks } from "../support/linearizability/record.js";
import { type TaskAction, taskModel } from "../support/linearizability/task-model.js";
import { ScratchFolder } from "../support/scratch-folder.js";
import { ServerProcess } from "../support/server-process.js";

type Kind<K> = Extract<TaskAction, { kind: K }>;
type TaskOperation = Operation<TaskAction>;

const LOAD = { clients: 8, operations: 200, tasks: 6, ttlMs: 1_000 };

describe("histories of 8 clients with 200 calls each", () => {
  let folder: ScratchFolder;
  let servers: ServerProcess[];

  beforeEach(async () => {
    folder = new ScratchFolder();
    const file = folder.file("dibs.db");
    servers = await Promise.all([ServerProcess.start({ file }), ServerProcess.start({ file })]);
    const http = servers[0]?.client();
    await http?.send("PATCH", "/v1/workspace", { lease_seconds_min: 1 });
    http?.close();
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    folder.remove();
  });

  test.each([
    ["of one server", 1],
    ["of two servers on one file", 2],
  ])(
    "%s have an order that one client alone could have made, and a broken one has none (R1, R3, R4, R7, R56)",
    async (where, count) => {
      const checkMs: number[] = [];
      const found = { "double grant": [0, 0], "stale write": [0, 0] };
      for (let round = 0; round < rounds(2, 100); round++) {
        const histories = await recordTasks(servers.slice(0, count), LOAD);
        for (const history of histories.values()) {
          const startedAt = performance.now();
          expect(told(check(history, taskModel))).toBe("linearizable");
          checkMs.push(performance.now() - startedAt);
        }
        tally(found["double grant"], histories, withDoubleGrant);
        tally(found["stale write"], histories, withStaleWrite);
      }
      measured(`linearizability of a task's history ${where}, check ms`, {
        histories: checkMs.length,
        ...spread(checkMs),
      });
      for (const [what, [injected, caught]] of Object.entries(found)) {
        measured(`linearizability ${where}, injected ${what}`, {
          injected: injected as number,
          caught: caught as number,
        });
        expect(injected).toBeGreaterThan(0);
        expect(caught).toBe(injected);
      }
    },
    limit(180_000),
  );
});

/** Breaks every history that offers the occasion, and counts those and the ones found broken. */
function tally(
  counts: number[],
  histories: Histories,
  broken: (history: readonly TaskOperation[]) => TaskOperation[] | undefined,
): void {
  for (const history of histories.values()) {
    const bad = broken(history);
    if (bad === undefined) continue;
    counts[0] = (counts[0] ?? 0) + 1;
    if (check(bad, taskModel).kind === "violation") counts[1] = (counts[1] ?? 0) + 1;
  }
}

/** The grant of a lease, if it was answered before the operation was asked for: then the two can't change places. */
function grantBefore(history: readonly TaskOperation[], lease: string, operation: TaskOperation) {
  return history.find(
    ({ action, returnedMs }) => action.kind === "granted" && action.lease === lease && returnedMs < operation.calledMs,
  );
}

/** A refusal that named the live holder becomes a grant of the next fence. */
function withDoubleGrant(history: readonly TaskOperation[]): TaskOperation[] | undefined {
  // Well before the lease could have ended by itself.
  const at = history.findIndex((operation) => {
    if (operation.action.kind !== "held") return false;
    const grant = grantBefore(history, operation.action.lease, operation);
    return grant !== undefined && operation.returnedMs < grant.calledMs + LOAD.ttlMs / 2;
  });
  const refused = history[at]?.action as Kind<"held"> | undefined;
  if (refused === undefined) return undefined;
  const action = { kind: "granted", by: "thief", lease: "stolen", fence: refused.fence + 1, ttlMs: 1_000 } as const;
  return history.map((operation, place) => (place === at ? { ...operation, action } : operation));
}

/** A holder's write that was refused because another held the task by then becomes an accepted one. */
function withStaleWrite(history: readonly TaskOperation[]): TaskOperation[] | undefined {
  const at = history.findIndex((operation) => {
    const holder = operation.action.kind === "lost" ? operation.action.holder : null;
    return holder !== null && grantBefore(history, holder.lease, operation) !== undefined;
  });
  const lost = history[at]?.action as Kind<"lost"> | undefined;
  if (lost === undefined) return undefined;
  const action = { kind: "accepted", what: "complete", lease: lost.lease, ttlMs: 1_000 } as const;
  return history.map((operation, place) => (place === at ? { ...operation, action } : operation));
}

/** A verdict as a test's message: what fits in no order, after what. */
function told(verdict: Verdict<TaskAction>): string {
  if (verdict.kind !== "violation") return verdict.kind;
  const line = ({ client, calledMs, returnedMs, action }: TaskOperation) =>
    `${calledMs.toFixed(1)}..${returnedMs.toFixed(1)} client ${client} ${JSON.stringify(action)}`;
  return [
    "violation. The last that fit:",
    ...verdict.legal.slice(-12).map(line),
    "None of these does:",
    ...verdict.stuck.map(line),
  ].join("\n");
}

describe("the check itself", () => {
  type Register = { readonly wrote: number } | { readonly read: number };
  const register: Model<number, Register> = {
    initial: 0,
    next: (value, { action }) => ("wrote" in action ? [action.wrote] : action.read === value ? [value] : []),
    textOf: String,
  };
  const operation = (client: number, calledMs: number, returnedMs: number, action: Register) => ({
    client,
    calledMs,
    returnedMs,
    action,
  });
  const lost = Number.POSITIVE_INFINITY;
  const cases: [what: string, history: Operation<Register>[], kind: string][] = [
    ["nothing at all", [], "linearizable"],
    [
      "a read of what was written before",
      [operation(1, 0, 1, { wrote: 1 }), operation(2, 2, 3, { read: 1 })],
      "linearizable",
    ],
    [
      "a read of what was overwritten before it was asked",
      [operation(1, 0, 1, { wrote: 1 }), operation(1, 2, 3, { wrote: 2 }), operation(2, 4, 5, { read: 1 })],
      "violation",
    ],
    [
      "a read beside a write, of the old",
      [operation(1, 0, 9, { wrote: 1 }), operation(2, 2, 3, { read: 0 })],
      "linearizable",
    ],
    [
      "a read beside a write, of the new",
      [operation(1, 0, 9, { wrote: 1 }), operation(2, 2, 3, { read: 1 })],
      "linearizable",
    ],
    [
      "the new and then the old, beside a write",
      [operation(1, 0, 9, { wrote: 1 }), operation(2, 2, 3, { read: 1 }), operation(2, 4, 5, { read: 0 })],
      "violation",
    ],
    [
      "a write without an answer that had its effect late",
      [operation(1, 0, lost, { wrote: 1 }), operation(2, 2, 3, { read: 0 }), operation(2, 4, 5, { read: 1 })],
      "linearizable",
    ],
    [
      "a write without an answer that had none",
      [operation(1, 0, lost, { wrote: 1 }), operation(2, 2, 3, { read: 0 }), operation(2, 4, 5, { read: 0 })],
      "linearizable",
    ],
    [
      "a write without an answer that was there, and then not",
      [operation(1, 0, lost, { wrote: 1 }), operation(2, 2, 3, { read: 1 }), operation(2, 4, 5, { read: 0 })],
      "violation",
    ],
  ];
  test.each(cases)("of %s is right", (_what, history, kind) => {
    expect(check(history, register).kind).toBe(kind);
    expect(check([...history].reverse(), register).kind).toBe(kind);
  });

  test("says what it could not decide in its time", () => {
    const many = Array.from({ length: 40 }, (_, at) => operation(at, 0, 100, { wrote: at }));
    expect(check([...many, operation(99, 101, 102, { read: -1 })], register, 1_000).kind).toBe("undecided");
  });
});
