import { DibsError } from "../../contract/errors.js";
import type { Call, Caller, Operation, TextCall } from "../../contract/operation.js";
import type { OperationName } from "../../contract/operations.js";
import { parseInput } from "./input.js";
import { KeyedCalls } from "./keyed-calls.js";
import { Lane, type RunBatch } from "./lane.js";
import type { EngineCall, Outcome, Success } from "./outcome.js";
import { isEmpty, WaitingCalls } from "./waiting.js";

export interface AppOptions {
  /** Runs batches that write. */
  readonly write: RunBatch;
  /** Runs batches that only read, where they have a way of their own to the store; else they go with the writes. */
  readonly read?: RunBatch;
  /** While calls wait, somebody must watch for other processes' changes and call `hint`. */
  readonly onWatch: (watch: boolean) => void;
  /** Told the cause of every `internal` answer. */
  readonly onFault?: (operation: string, cause: string) => void;
}

const CLAIMS: ReadonlySet<string> = new Set(["claim_next_task", "claim_task"] satisfies OperationName[]);
/** What may wait for what it can't have now. */
const WAITS: ReadonlySet<string> = new Set(["claim_next_task", "claim_scopes", "get_wait"] satisfies OperationName[]);

/** Everything that may be asked, for every surface: validate, send to the engine in company, wait if asked to. */
export class App {
  readonly #writes: Lane;
  readonly #reads: Lane;
  readonly #waiting: WaitingCalls;
  readonly #keyed = new KeyedCalls();
  readonly #calls = new Set<Promise<unknown>>();
  #finished = false;
  /** Calls that wait, or will if they find nothing. */
  #willWait = 0;
  #arrivals = 0;

  constructor(private readonly options: AppOptions) {
    // One at a time while calls wait: what a batch frees is theirs before the next batch looks.
    const underWayMax = () => (options.read && this.#willWait === 0 ? 2 : 1);
    const first = (max: number) => this.#waiting.take(max);
    this.#writes = new Lane(options.write, () => this.#hintSoon(), underWayMax, first);
    this.#reads = options.read ? new Lane(options.read, () => undefined, underWayMax) : this.#writes;
    this.#waiting = new WaitingCalls(() => this.#writes.kick(), options.onWatch);
  }

  /** Something may have become claimable, in this process or another. */
  hint(): void {
    this.#waiting.hint();
  }

  /**
   * After the answers of the batch were handed on, so that a call it left empty waits by now; and before the next batch,
   * so that no newer call overtakes those that wait.
   */
  #hintSoon(): Promise<void> | undefined {
    if (this.#willWait === 0) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.hint();
        resolve();
      });
    });
  }

  /** Ends every wait at once with what it has. */
  drain(): void {
    this.#waiting.drain();
  }

  /** Takes no more calls, and resolves when all that were taken are answered. */
  async finish(): Promise<void> {
    this.#finished = true;
    this.drain();
    await Promise.allSettled(this.#calls);
  }

  readonly call: Call = async <O extends Operation>(operation: O, input: unknown, caller: Caller) => {
    const { text, status, nextCursor, replayed, notices, serverNowMs } = await this.callText(operation, input, caller);
    return { body: JSON.parse(text) as never, status, nextCursor, replayed, notices, serverNowMs };
  };

  readonly callText: TextCall = (operation, input, caller) => {
    if (this.#finished) {
      return Promise.reject(new DibsError("store_unavailable", "The store was closed; open it again.", {}));
    }
    const answer = this.#answer(operation, input, caller);
    this.#calls.add(answer);
    const over = () => this.#calls.delete(answer);
    answer.then(over, over);
    return answer;
  };

  async #answer(...[operation, input, caller]: Parameters<TextCall>): ReturnType<TextCall> {
    const { identity, sessionId, idempotencyKey, ifVersion } = caller;
    const from = { identity, sessionId, idempotencyKey, ifVersion };
    const parsed = await this.#parsed(operation, input, identity);
    const call: EngineCall = { name: operation.name as OperationName, input: parsed, caller: from };
    // A surface may make the signal when it is asked for: only what grants or waits needs one.
    const signal = CLAIMS.has(operation.name) || WAITS.has(operation.name) ? caller.signal : undefined;
    const outcome = await this.#outcome(operation, call, signal);
    if (!outcome.ok) throw this.#error(operation, outcome);
    if (outcome.granted && signal && caller.idempotencyKey === undefined)
      this.#undoIfUndelivered(call, outcome, signal);
    const { text, status, nextCursor, replayed, notices, nowMs } = outcome;
    return { text, status, nextCursor, replayed, notices, serverNowMs: nowMs };
  }

  /** The input, checked. What is wrong with it is only told to who may ask at all. */
  async #parsed(operation: Operation, input: unknown, identity: Caller["identity"]): Promise<Record<string, unknown>> {
    try {
      return parseInput(operation, input);
    } catch (refusal) {
      const who = await this.#reads.submit({ name: "get_me", input: {}, caller: { identity } });
      throw who.ok ? refusal : this.#error(operation, who);
    }
  }

  #outcome(operation: Operation, call: EngineCall, signal: AbortSignal | undefined): Promise<Outcome> {
    if (operation.effect === "read") return this.#reads.submit(call);
    const { idempotencyKey } = call.caller;
    if (idempotencyKey === undefined) return this.#perform(call, signal);
    const identity = JSON.stringify([call.name, call.caller, call.input]);
    return this.#keyed.answer(identity, signal, (gone) => this.#perform(call, gone));
  }

  async #perform(call: EngineCall, signal: AbortSignal | undefined): Promise<Outcome> {
    const waitMs = WAITS.has(call.name) ? Number(call.input.wait_seconds ?? 0) * 1000 : 0;
    if (waitMs === 0) return this.#writes.submit(call);
    this.#willWait += 1;
    try {
      return await this.#claimOrWait(call, waitMs, signal);
    } finally {
      this.#willWait -= 1;
    }
  }

  async #claimOrWait(call: EngineCall, waitMs: number, signal: AbortSignal | undefined): Promise<Outcome> {
    const { identity, sessionId } = call.caller;
    // A ticket is its session's own; tasks are for whoever may have them.
    const own = call.name === "claim_next_task" ? [] : [call.name, sessionId];
    const signature = JSON.stringify([identity, call.input, ...own]);
    this.#arrivals += 1;
    const waiting = { call, signature, arrival: this.#arrivals, waitMs, signal };
    // Nobody who waits is overtaken by a newer call that would wait as well.
    if (this.#waiting.size > 0) return this.#waiting.wait({ ...waiting, empty: undefined });
    const outcome = await this.#writes.submit(call);
    if (!isEmpty(outcome)) return outcome;
    return this.#waiting.wait({ ...waiting, empty: outcome });
  }

  /** A grant whose answer reaches nobody is taken back (R21), also when the connection breaks while it is written. */
  #undoIfUndelivered(call: EngineCall, outcome: Success, signal: AbortSignal): void {
    const undo = () => {
      for (const { taskId, leaseId } of outcome.granted ?? []) {
        const input = { task_id: taskId, lease_id: leaseId };
        // Should even this fail, the lease still ends by the clock.
        this.#writes.submit({ name: "undo_grant", input, caller: call.caller }).catch(() => {});
      }
    };
    if (signal.aborted) undo();
    else signal.addEventListener("abort", undo, { once: true });
  }

  #error(operation: Operation, outcome: Extract<Outcome, { ok: false }>): DibsError {
    const { code, message, details } = outcome.error;
    if (outcome.cause !== undefined) this.options.onFault?.(operation.name, outcome.cause);
    return DibsError.fromProblem({ code, detail: message, ...details });
  }
}
