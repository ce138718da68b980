import { tmpdir } from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AnyStore, freshStore } from "../support/any-store.js";
import { limit, measured, rounds, spread } from "../support/campaign.js";
import { Injected, told } from "../support/linearizability/broken-histories.js";
import { check } from "../support/linearizability/check.js";
import type { Model, Operation } from "../support/linearizability/history.js";
import { recordTasks } from "../support/linearizability/record.js";
import { taskModel } from "../support/linearizability/task-model.js";
import { ServerProcess } from "../support/server-process.js";

const LOAD = { clients: 8, operations: 200, tasks: 6, ttlMs: 1_000 };

describe("histories of 8 clients with 200 calls each", () => {
  let kept: AnyStore;
  let servers: ServerProcess[];

  beforeEach(async () => {
    kept = await freshStore(tmpdir());
    const { url: store } = kept;
    servers = await Promise.all([ServerProcess.start({ store }), ServerProcess.start({ store })]);
    const http = servers[0]?.client();
    await http?.send("PATCH", "/v1/workspace", { lease_seconds_min: 1 });
    http?.close();
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await kept.remove();
  });

  test.each([
    ["of one server", 1],
    ["of two servers on one store", 2],
  ])(
    "%s have an order that one client alone could have made, and a broken one has none (R1, R3, R4, R7, R56)",
    async (where, count) => {
      const checkMs: number[] = [];
      const injected = new Injected(LOAD.ttlMs);
      for (let round = 0; round < rounds(2, 100); round++) {
        const histories = await recordTasks(servers.slice(0, count), LOAD);
        for (const history of histories.values()) {
          const startedAt = performance.now();
          expect(told(check(history, taskModel))).toBe("linearizable");
          checkMs.push(performance.now() - startedAt);
        }
        injected.breakAll(histories);
      }
      measured(`linearizability of a task's history ${where}, check ms`, {
        histories: checkMs.length,
        ...spread(checkMs),
      });
      injected.expectAllFound(where);
    },
    limit(180_000),
  );
});

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
