import type { Task } from "../contract/task.js";
import { systemClock } from "./clock.js";
import type { DibsSession, Input, Output } from "./dibs.js";
import { isLost, LeaseKeeper, marginOf, type WorkStopped } from "./lease-keeper.js";
import { type HeldTask, proofOf, reclaim } from "./reclaim.js";
import type { WorkOptions } from "./work.js";

type Fields<N extends "complete_task" | "heartbeat_task"> = Omit<Input<N>, "task_id" | "lease_id" | "fence">;

/** A claimed task in the hand of a work loop. Everything it asks carries the lease it was granted. */
export class WorkItem {
  #held: HeldTask;
  readonly #keeper: LeaseKeeper;
  readonly #loopSignal: AbortSignal | undefined;
  #settlement: Promise<unknown> | undefined;

  constructor(held: HeldTask, options: WorkOptions, openSession: (signal: AbortSignal) => Promise<DibsSession>) {
    this.#held = held;
    this.#loopSignal = options.signal;
    const { leaseSeconds, reclaimExpired } = options;
    this.#keeper = new LeaseKeeper({
      clock: options.clock ?? systemClock,
      beat: (fields, signal) => this.session.heartbeatTask({ ...proofOf(this.record), ...fields }, { signal }),
      marginMs: marginOf(options.marginMs),
      reclaim:
        reclaimExpired &&
        (async (loss, signal) => {
          const lost = this.#held;
          this.#held = await reclaim(lost, loss, { leaseSeconds, openSession, signal });
          reclaimExpired(this, lost.record);
          return this.record;
        }),
    });
  }

  /** The task as its claim gave it: the latest, where `reclaimExpired` let it be claimed again. */
  get record(): Task {
    return this.#held.record;
  }

  /** For the loop: the session that holds it. */
  get session(): DibsSession {
    return this.#held.session;
  }

  get sessionId(): string {
    return this.session.record.id;
  }

  get id(): string {
    return this.record.id;
  }

  get content(): string {
    return this.record.content;
  }

  /**
   * Fires when the work has to stop; its `reason` is a `WorkStopped`: `lease_lost`, `lease_unknown` (it can't be
   * known to be held), `cancel_requested` or `stopping` (the loop's own signal).
   */
  get signal(): AbortSignal {
    return this.#keeper.signal;
  }

  /**
   * Finishes the task. `result` is any JSON; beside it may stand what shows it and how it is judged. Throws `lease_lost`
   * when it was not ours any more, and `verdict_required`, still holding it, when the task requires a passing verdict.
   */
  complete(
    result?: Fields<"complete_task">["result"],
    said: Omit<Fields<"complete_task">, "result"> = {},
  ): Promise<Output<"complete_task">> {
    const finish = () => this.session.completeTask({ ...proofOf(this.record), result, ...said });
    return this.#settle(finish, { anew: true });
  }

  /** Says that the work failed; with `retry` the task opens again as long as attempts are left. */
  fail(reason: string, options: { readonly retry?: boolean } = {}): Promise<Output<"fail_task">> {
    return this.#settle(() => this.session.failTask({ ...proofOf(this.record), reason, retry: options.retry }));
  }

  /** Gives the task back to the queue, with a note for the next holder. */
  release(handoff?: string): Promise<Output<"release_task">> {
    return this.#settle(() => this.session.releaseTask({ ...proofOf(this.record), handoff }));
  }

  /** Tells how far the work is; a `checkpoint` is what the next holder would go on from. Renews the lease. */
  progress(fields: Fields<"heartbeat_task">): Promise<Output<"heartbeat_task">> {
    return this.#keeper.beat({ ...fields });
  }

  /** For the loop: begins to keep the lease. False when it is gone already. */
  async start(sentAtMs: number): Promise<boolean> {
    if (!(await this.#keeper.start(sentAtMs, this.record))) return false;
    if (this.#loopSignal?.aborted) this.#stopping();
    this.#loopSignal?.addEventListener("abort", this.#stopping, { once: true });
    return true;
  }

  /** For the loop: settles what the body did not. */
  async leave(wentOn: boolean): Promise<void> {
    this.#loopSignal?.removeEventListener("abort", this.#stopping);
    // A settlement that is still under way was the body's, and so is its error.
    const settled = await this.#settlement?.then(
      () => true,
      () => false,
    );
    const stopped = this.signal.aborted ? (this.signal.reason as WorkStopped).reason : undefined;
    if (settled || stopped === "lease_lost") return this.#keeper.stop();
    try {
      if (stopped !== undefined) await this.release(`The worker stopped: ${stopped}.`);
      else if (wentOn) await this.fail("The worker went on without settling the task.", { retry: true });
      else await this.release("The worker left before the task was settled.");
    } catch (error) {
      // Gone already is settled, too.
      if (!isLost(error)) throw error;
    } finally {
      this.#keeper.stop();
    }
  }

  readonly #stopping = (): void => this.#keeper.abort("stopping");

  #settle<T>(run: () => Promise<T>, how: { readonly anew?: boolean } = {}): Promise<T> {
    const settlement = this.#keeper.settle(run, how);
    this.#settlement = settlement;
    return settlement;
  }
}
