import type { Dibs } from "../../client/dibs.js";
import { isLost, WorkStopped } from "../../client/lease-keeper.js";
import type { WorkItem } from "../../client/work-item.js";
import { readConfig } from "../../config.js";
import { type DibsError, EXIT, isDibsError } from "../../contract/errors.js";
import { connect } from "../connect.js";
import { placeOf } from "../git/place.js";
import type { Output } from "../output.js";
import { shown } from "../shown/shown-text.js";
import { Child, type ChildEnd } from "./child.js";
import { requireProgram } from "./spawn-with.js";

export interface WorkPlan {
  readonly program: readonly string[];
  readonly labels: readonly string[] | undefined;
  readonly project: string | undefined;
  /** Slug of the plan whose steps are wanted. */
  readonly steps: string | undefined;
  readonly leaseSeconds: number | undefined;
  /** Sessions at work at once. */
  readonly count: number;
  /** Each session takes one task and ends. */
  readonly once: boolean;
  /** End when there is nothing to claim. */
  readonly drain: boolean;
}

/** Characters of a reason. */
const REASON_MAX = 1000;
/** The child has 5 s to end after its SIGTERM; this leaves it those before the lease is over. */
const MARGIN_MS = 6_000;

/** Runs a program per task until told to stop. Gives the exit status. */
export async function work(plan: WorkPlan, output: Output): Promise<number> {
  const [name = ""] = plan.program;
  requireProgram(name);
  const connection = await connect(readConfig(), { lasting: true });
  const crew = new Crew(plan, output);
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, () => crew.interrupt());
  // Each write to the closed pipe says so again; none of them is a second Ctrl-C.
  process.stdout.on("error", () => crew.windUp());
  try {
    const slots = Array.from({ length: plan.count }, () => crew.run(connection.dibs));
    const failed = (await Promise.allSettled(slots)).find((slot) => slot.status === "rejected");
    const exit = crew.exit();
    if (failed && exit !== EXIT.leaseLost && exit !== EXIT.interrupted) throw failed.reason;
    if (output.json) output.value(crew.counts);
    return exit;
  } finally {
    await connection.close();
  }
}

/** The sessions of one `dibs work`, and what became of what they took. */
class Crew {
  readonly counts = { completed: 0, failed: 0, released: 0, settled_by_command: 0, lost: 0 };
  readonly #plan: WorkPlan;
  readonly #output: Output;
  readonly #stop = new AbortController();
  readonly #children = new Set<Child>();
  readonly #failing = new Set<string>();
  #enough = false;
  #interrupted = false;

  constructor(plan: WorkPlan, output: Output) {
    this.#plan = plan;
    this.#output = output;
  }

  /** The first time everything winds up; the second time it ends at once. */
  interrupt(): void {
    if (this.#interrupted) {
      for (const child of this.#children) child.kill();
      process.exit(EXIT.interrupted);
    }
    this.windUp();
  }

  windUp(): void {
    if (this.#interrupted) return;
    this.#interrupted = true;
    this.#output.say("Stopping: the running commands are told to end, their tasks go back to the queue.");
    this.#stop.abort();
  }

  exit(): number {
    if (this.#interrupted) return EXIT.interrupted;
    if (this.counts.lost > 0) return EXIT.leaseLost;
    if (this.#failing.size > 0) return EXIT.error;
    const idle = Object.values(this.counts).every((count) => count === 0);
    return this.#plan.once && idle ? EXIT.nothing : EXIT.ok;
  }

  async run(dibs: Dibs): Promise<void> {
    const { labels, project, steps, leaseSeconds, drain, once } = this.#plan;
    const { host, worktree, branch } = placeOf(process.cwd());
    const items = dibs.work({
      ...(labels ? { labels: [...labels] } : {}),
      ...(project ? { project_id: project } : {}),
      ...(steps ? { plan: steps } : {}),
      ...(leaseSeconds ? { leaseSeconds } : {}),
      stopWhenEmpty: drain,
      signal: this.#stop.signal,
      marginMs: MARGIN_MS,
      // The command may be in the middle of something that took hours; nobody else had the task, so it goes on (R7).
      reclaimExpired: (item, lost) => {
        const [old, now] = [lost, item.record].map((held) => `lease ${held.lease_id} (fence ${held.fence})`);
        this.#say(item, `${old} ended by the clock; claimed again: ${now}, the command goes on`);
      },
      // A dibs run inside the command is kept out by others, not by the task it is for.
      session: { client: "dibs-work", host, cwd: process.cwd(), worktree, branch, share_with_children: true },
    });
    for await (const item of items) {
      await this.#do(item);
      if (once || this.#enough) break;
    }
  }

  async #do(item: WorkItem): Promise<void> {
    this.#say(item, "claimed");
    const child = new Child({
      program: this.#plan.program,
      variables: variablesFor(item),
      stdin: `${JSON.stringify(item.record)}\n`,
      echo: this.#output.json ? process.stderr : process.stdout,
    });
    this.#children.add(child);
    const stop = () => {
      if (settledByChild(item.signal.reason) && !goesOnElsewhere(item.signal.reason)) return;
      this.#say(item, `stopping the command: ${whyStopped(item.signal.reason)}`);
      child.stop();
    };
    item.signal.addEventListener("abort", stop, { once: true });
    if (item.signal.aborted) stop();
    try {
      await this.#settle(item, await child.ended);
    } catch (error) {
      if (!isLost(error)) throw error;
      if (!settledByChild(error) && !settledByChild(item.signal.reason)) return this.#lost(item);
      this.counts.settled_by_command++;
      this.#say(item, "settled by the command itself");
    } finally {
      this.#children.delete(child);
    }
  }

  async #settle(item: WorkItem, end: ChildEnd): Promise<void> {
    if (item.signal.aborted && !settledByChild(item.signal.reason)) return this.#giveUp(item);
    if (end.status === 0) {
      const refusal = await this.#complete(item, end);
      if (refusal === undefined) return;
      // Not given back: a command that never judges would be run for ever, and this way its attempts are counted.
      return this.#fail(item, "no verdict", refusal.message);
    }
    const how = typeof end.status === "number" ? `exit status ${end.status}` : `signal ${end.status}`;
    return this.#fail(item, how, `The command ended with ${how}.`);
  }

  /** Undefined when it is completed; the refusal of a task that requires a verdict which the command didn't give. */
  async #complete(item: WorkItem, { output, truncated }: ChildEnd): Promise<DibsError | undefined> {
    try {
      await item.complete({ output, ...(truncated ? { output_truncated: true } : {}) });
    } catch (error) {
      if (isDibsError(error, "verdict_required")) return error;
      throw error;
    }
    this.counts.completed++;
    this.#failing.delete(item.id);
    this.#say(item, "completed");
    return undefined;
  }

  async #fail(item: WorkItem, how: string, reason: string): Promise<void> {
    const task = await item.fail(reason.slice(0, REASON_MAX), { retry: true });
    this.counts.failed++;
    this.#failing.add(item.id);
    const then = task.status === "failed" ? "no attempt is left" : "it goes back to the queue";
    this.#say(item, `failed with ${how}; attempt ${task.attempts} of ${task.max_attempts}, ${then}`);
  }

  async #giveUp(item: WorkItem): Promise<void> {
    const { reason } = item.signal.reason as WorkStopped;
    if (reason === "lease_lost" || reason === "lease_unknown") return this.#lost(item);
    const why = reason === "cancel_requested" ? "it is to be cancelled" : "the worker stops";
    const task = await item.release(`The command was stopped: ${why}.`);
    this.counts.released++;
    this.#say(item, `released (${task.status}): ${why}`);
  }

  /** Somebody else may have the task: nothing more is begun, what runs may end. */
  #lost(item: WorkItem): void {
    this.counts.lost++;
    this.#enough = true;
    this.#say(item, "lost: its lease is over or can't be known to be held, the command was stopped");
  }

  #say(item: WorkItem, what: string): void {
    this.#output.say(`${item.id}  ${shown(item.content)}: ${what}`);
  }
}

/** With the server's own words, where there are any: they name who holds the task now. */
function whyStopped({ message, cause }: WorkStopped): string {
  return isDibsError(cause) ? `${message} ${shown(cause.message)}` : message;
}

/** The command may settle its task itself, through DIBS_SESSION, or give it to others; then the lease ended as it should. */
function settledByChild(reason: unknown): boolean {
  const error = reason instanceof WorkStopped ? reason.cause : reason;
  return isDibsError(error, "lease_lost") && ["completed", "released", "transferred"].includes(error.details.reason);
}

/** An offer of the command's that was accepted meanwhile: another works on the task now. */
function goesOnElsewhere({ cause }: WorkStopped): boolean {
  return isDibsError(cause, "lease_lost") && cause.details.reason === "transferred" && !!cause.details.holder;
}

function variablesFor({ record, sessionId }: WorkItem): Record<string, string> {
  return {
    DIBS_TASK_ID: record.id,
    DIBS_TASK_CONTENT: record.content,
    DIBS_LEASE_ID: record.lease_id ?? "",
    DIBS_FENCE: String(record.fence),
    DIBS_SESSION: sessionId,
  };
}
