import { Dibs, type Output } from "../../src/client/index.js";
import { type EventRow, EventTail } from "./event-tail.js";
import { LeaseLengths } from "./lease-lengths.js";
import { TaskTitles } from "./task-titles.js";

export type Claim = Output<"list_claims">[number];
export type Hold = Output<"list_holds">[number];
export type Unlanded = Output<"list_unlanded">[number];
export type Wait = Output<"list_waits">[number];
export type Task = Output<"list_tasks">[number];

/** A number that is exact up to a bound and "at least" beyond it. */
export interface Count {
  readonly value: number;
  readonly more: boolean;
}

/** A claim with its end on this page's monotonic clock. */
export interface HeldRow extends Claim {
  /** In `performance.now()` terms; the wall clocks of server and viewer don't come into it. */
  readonly deadlineMs: number;
  /** How long the lease runs from a renewal, as far as the page has seen. */
  readonly lengthMs: number;
  /** To whom it is offered, if it is: its holder has it until that one accepts. */
  readonly offeredTo: string | undefined;
}

/** What the page shows of one moment. */
export interface Snapshot {
  readonly held: readonly HeldRow[];
  readonly moreHeld: boolean;
  readonly holds: readonly Hold[];
  readonly unlanded: readonly Unlanded[];
  readonly waits: readonly Wait[];
  readonly ready: readonly Task[];
  readonly readyCount: Count;
  /** The newest first. */
  readonly events: readonly EventRow[];
  readonly titles: ReadonlyMap<string, string>;
  /** `performance.now()` when the answer came. */
  readonly receivedAtMs: number;
  /** The server's clock at that moment: ages are told by it, so that a viewer's wrong clock can't bend them. */
  readonly serverNowMs: number;
}

export interface QueueCounts {
  readonly lapsed: Count;
  readonly later: Count;
  readonly failed: Count;
  readonly stalled: Count;
  /** The first of those that wait for other tasks, as they would be handed out; then those that wait for their parts. */
  readonly blocked: readonly Task[];
}

/** One try a question: the page asks again every second anyway, and must say at once that nobody answers. */
export const dibs = new Dibs({ url: location.origin, retry: { attempts: 1 }, attemptTimeoutMs: 8_000 });

const SHOWN_CLAIMS = 500;
const SHOWN_OFFERS = 200;
const SHOWN_HOLDS = 100;
const SHOWN_UNLANDED = 50;
const SHOWN_WAITS = 50;
const SHOWN_READY = 100;
const SHOWN_BLOCKED = 10;
const tail = new EventTail(dibs, 60);
const lengths = new LeaseLengths();
const titles = new TaskTitles(dibs);

/** Asks the server for the present. Throws `DibsError`. */
export async function loadSnapshot(signal: AbortSignal): Promise<Snapshot> {
  const [claims, holds, unlanded, waits, ready, offers, events] = await Promise.all([
    dibs.call("list_claims", { limit: SHOWN_CLAIMS }, { signal }),
    dibs.listHolds({ limit: SHOWN_HOLDS }, { signal }),
    dibs.listUnlanded({ limit: SHOWN_UNLANDED }, { signal }),
    dibs.listWaits({ limit: SHOWN_WAITS }, { signal }),
    dibs.call("list_tasks", { ready: true, limit: SHOWN_READY }, { signal }),
    dibs.listHandoffs({ whose: "all", limit: SHOWN_OFFERS }, { signal }),
    tail.newest(signal),
  ]);
  const offeredTo = new Map(
    offers.map((offer) => [offer.scope.startsWith("task:") ? offer.scope : offer.claim_id, offer.to_agent_name]),
  );
  const receivedAtMs = performance.now();
  for (const { task_id, data } of events)
    if (task_id !== null && typeof data.content === "string") titles.learn(task_id, data.content);
  for (const task of ready.body) titles.learn(task.id, task.content);
  for (const claim of claims.body)
    if (claim.kind === "task" && claim.task_id !== null) titles.learn(claim.task_id, claim.intent);
  await titles.lookUp(
    events.flatMap((event) => event.task_id ?? []),
    signal,
  );
  return {
    held: lengths
      .observe(claims.body)
      .map((claim) => ({
        ...claim,
        deadlineMs: receivedAtMs + claim.remaining_ms,
        offeredTo: offeredTo.get(claim.kind === "task" ? claim.scope : claim.id),
      }))
      .sort((a, b) => b.claimed_at.localeCompare(a.claimed_at) || b.id.localeCompare(a.id)),
    moreHeld: claims.nextCursor !== undefined,
    holds,
    unlanded,
    waits,
    ready: ready.body,
    readyCount: { value: ready.body.length, more: ready.nextCursor !== undefined },
    events,
    titles: titles.known,
    receivedAtMs,
    serverNowMs: claims.serverNowMs,
  };
}

interface CountFilter {
  readonly lapsed?: true;
  readonly stalled?: true;
  readonly ready?: false;
  readonly status?: "open" | "failed";
}

/** The queue's other counts; they cost a list each and are asked for less often. */
export async function loadCounts(signal: AbortSignal): Promise<QueueCounts> {
  const count = async (filter: CountFilter): Promise<Count> => {
    const { body, nextCursor } = await dibs.call("list_tasks", { ...filter, limit: 100 }, { signal });
    return { value: body.length, more: nextCursor !== undefined };
  };
  const [lapsed, open, failed, stalled, blocked, delegated] = await Promise.all([
    count({ lapsed: true, status: "open" }),
    count({ status: "open", ready: false }),
    count({ status: "failed" }),
    count({ stalled: true }),
    dibs.listTasks({ blocked: true, limit: SHOWN_BLOCKED }, { signal }),
    dibs.listTasks({ status: "delegated", limit: 100 }, { signal }),
  ]);
  const later = { value: open.value + delegated.length, more: open.more || delegated.length === 100 };
  const waiting = [...blocked, ...delegated].slice(0, SHOWN_BLOCKED);
  return { lapsed, later, failed, stalled, blocked: waiting };
}
