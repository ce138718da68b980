import { expect } from "vitest";
import { measured } from "../campaign.js";
import { check } from "./check.js";
import type { Operation, Verdict } from "./history.js";
import type { Histories } from "./record.js";
import { type TaskAction, taskModel } from "./task-model.js";

type Kind<K> = Extract<TaskAction, { kind: K }>;
type TaskOperation = Operation<TaskAction>;
type History = readonly TaskOperation[];

/** Breaks recorded histories in ways a faulty store would, and counts which of them the check finds: it must find all. */
export class Injected {
  readonly #counts = new Map<string, { injected: number; caught: number }>();

  constructor(
    /** Of every lease. */
    readonly ttlMs: number,
  ) {}

  /** Breaks every history that offers the occasion. */
  breakAll(histories: Histories): void {
    for (const history of histories.values()) {
      this.#tally("double grant", withDoubleGrant(history, this.ttlMs));
      this.#tally("second grant", withSecondGrant(history, this.ttlMs));
      this.#tally("stale write", withStaleWrite(history));
    }
  }

  expectAllFound(where: string, kinds: readonly string[] = ["double grant", "second grant", "stale write"]): void {
    for (const kind of kinds) {
      const { injected, caught } = this.#counts.get(kind) ?? { injected: 0, caught: 0 };
      measured(`linearizability ${where}, injected ${kind}`, { injected, caught });
      expect([kind, injected]).not.toEqual([kind, 0]);
      expect([kind, caught]).toEqual([kind, injected]);
    }
  }

  #tally(kind: string, broken: History | undefined): void {
    if (broken === undefined) return;
    const counts = this.#counts.get(kind) ?? { injected: 0, caught: 0 };
    counts.injected += 1;
    if (check(broken, taskModel).kind === "violation") counts.caught += 1;
    this.#counts.set(kind, counts);
  }
}

/** The grant of a lease, if it was answered before the operation was asked for: then the two can't change places. */
function grantBefore(history: History, lease: string, operation: TaskOperation) {
  return history.find(
    ({ action, returnedMs }) => action.kind === "granted" && action.lease === lease && returnedMs < operation.calledMs,
  );
}

/** A refusal that named the live holder becomes a grant of the next fence. */
function withDoubleGrant(history: History, ttlMs: number): TaskOperation[] | undefined {
  // Well before the lease could have ended by itself.
  const at = history.findIndex((operation) => {
    if (operation.action.kind !== "held") return false;
    const grant = grantBefore(history, operation.action.lease, operation);
    return grant !== undefined && operation.returnedMs < grant.calledMs + ttlMs / 2;
  });
  const refused = history[at]?.action as Kind<"held"> | undefined;
  if (refused === undefined) return undefined;
  const action = { kind: "granted", by: "thief", lease: "stolen", fence: refused.fence + 1, ttlMs } as const;
  return history.map((operation, place) => (place === at ? { ...operation, action } : operation));
}

/** Between a grant and its holder's completion another client is granted the task as well, under the next fence. */
function withSecondGrant(history: History, ttlMs: number): TaskOperation[] | undefined {
  for (const completion of history) {
    const { action } = completion;
    if (action.kind !== "accepted" || action.what !== "complete") continue;
    const grant = grantBefore(history, action.lease, completion);
    if (!grant || completion.returnedMs > grant.calledMs + ttlMs / 2) continue;
    const fence = (grant.action as Kind<"granted">).fence + 1;
    const stolen = { kind: "granted", by: "thief", lease: "stolen", fence, ttlMs } as const;
    const atMs = (grant.returnedMs + completion.calledMs) / 2;
    // Dozens that found nothing at one time could stand in any order: 2 million steps, and of 10,000 one was undecided.
    const rest = history.filter((each) => each.action.kind !== "nothing");
    return [...rest, { client: -1, calledMs: atMs, returnedMs: atMs, action: stolen }];
  }
  return undefined;
}

/** A holder's write that was refused because another held the task by then becomes an accepted one. */
function withStaleWrite(history: History): TaskOperation[] | undefined {
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
export function told(verdict: Verdict<TaskAction>): string {
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
