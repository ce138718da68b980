import { isDibsError } from "../contract/errors.js";
import type { Task } from "../contract/task.js";
import { type Clock, pause, systemClock } from "./clock.js";
import type { Dibs, DibsSession, Input } from "./dibs.js";
import { isLost } from "./lease-keeper.js";
import { WorkItem } from "./work-item.js";

export interface WorkOptions {
  /** Only tasks that carry all of these. */
  readonly labels?: string[];
  readonly project_id?: string;
  /** Only steps of this plan. */
  readonly plan?: string;
  /** Length of each lease; the workspace's default without it. */
  readonly leaseSeconds?: number;
  /** How long one claim waits for something to do: 0..60, 25 unless `stopWhenEmpty`. */
  readonly waitSeconds?: number;
  /** Ends the loop; the item in hand gets its signal and is released unless the body settles it. */
  readonly signal?: AbortSignal;
  /** Ends the loop when there is nothing to claim. */
  readonly stopWhenEmpty?: boolean;
  /** What the session shows of the program: client, cwd, branch … */
  readonly session?: Input<"open_session">;
  /** How much earlier than the lease's last known end an item's signal fires. */
  readonly marginMs?: number;
  /**
   * Given, a lease that the clock ended (a laptop's sleep) is claimed again, once, before an item's signal fires, if
   * nobody held the task in between; told then, with the task as it was held before. Only for work that may have gone on
   * for a while without a lease: without this the signal fires, so that no code runs on unawares.
   */
  readonly reclaimExpired?: (item: WorkItem, lost: Task) => void;
  readonly clock?: Clock;
}

const IDLE_MS = 1_000;

/**
 * Claims one task after the other in a session of its own and keeps each lease while the loop's body works on it.
 *
 * The body settles its item: `complete`, `fail` or `release`. An item it leaves unsettled when it goes on fails
 * with a retry that counts as an attempt (a plain release would hand the same task to the same loop for ever);
 * one that is left by `break`, `return` or a throw, or after its signal fired, is released with a note. When the
 * loop ends, so does its session. Throws `DibsError` when the server refuses, or can't be reached for long.
 */
export async function* work(dibs: Dibs, options: WorkOptions): AsyncGenerator<WorkItem, void, undefined> {
  let session = await openSession(dibs, options);
  let failed = true;
  try {
    while (!options.signal?.aborted) {
      try {
        const item = await claim(dibs, session, options);
        if (item === "empty") break;
        if (item === "idle") continue;
        let wentOn = false;
        try {
          yield item;
          wentOn = true;
        } finally {
          await item.leave(wentOn).finally(() => {
            session = item.session;
          });
        }
      } catch (error) {
        if (options.signal?.aborted && error === options.signal.reason) break;
        if (!isDibsError(error, "session_ended")) throw error;
        session = await openSession(dibs, options);
      }
    }
    failed = false;
  } finally {
    await endSession(session, failed);
  }
}

function openSession(dibs: Dibs, options: WorkOptions, signal?: AbortSignal): Promise<DibsSession> {
  // A lease never outlives its session, so the session must be able to stay silent for a whole lease.
  const ttlSeconds = Math.max(900, options.leaseSeconds ?? 0);
  const input = { client: "dibs-client", ttl_seconds: ttlSeconds, ...options.session };
  return dibs.session(input, signal ? { signal } : {});
}

async function endSession(session: DibsSession, failed: boolean): Promise<void> {
  try {
    await session.end();
  } catch (error) {
    // What ended the loop says more than that the session could not be ended either.
    if (!failed && !isLost(error)) throw error;
  }
}

async function claim(dibs: Dibs, session: DibsSession, options: WorkOptions): Promise<WorkItem | "idle" | "empty"> {
  const clock = options.clock ?? systemClock;
  const sentAtMs = clock.nowMs();
  const input: Input<"claim_next_task"> = {
    wait_seconds: options.waitSeconds ?? (options.stopWhenEmpty ? 0 : 25),
    ...(options.labels && { labels: options.labels }),
    ...(options.project_id && { project_id: options.project_id }),
    ...(options.plan && { plan: options.plan }),
    ...(options.leaseSeconds && { lease_seconds: options.leaseSeconds }),
  };
  const task = await claimed(session, input, options.signal);
  if (task) {
    const item = new WorkItem({ session, record: task }, options, (signal) => openSession(dibs, options, signal));
    return (await item.start(sentAtMs)) ? item : "idle";
  }
  if (options.stopWhenEmpty) return "empty";
  await pause(clock, Math.max(0, IDLE_MS - (clock.nowMs() - sentAtMs)), options.signal);
  return "idle";
}

async function claimed(session: DibsSession, input: Input<"claim_next_task">, signal: AbortSignal | undefined) {
  try {
    const answer = await session.claimNextTask(input, signal ? { signal } : {});
    return answer.task ?? undefined;
  } catch (error) {
    // A claim that was sent twice found its grant dead already: there may be other work.
    if (isDibsError(error, "lease_lost")) return undefined;
    throw error;
  }
}
