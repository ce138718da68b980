import { isDibsError } from "../../contract/errors.js";
import type { OperationName } from "../../contract/operations.js";
import { LooksDead } from "../context.js";
import { NeedsWrite } from "../identity.js";
import type { SessionRow } from "../port/rows.js";
import { type Store, StoreBusy, type TransactionMode } from "../port/store.js";
import { Calls, CHANGES_IDENTITIES, isRead, RefusalWrote } from "./calls.js";
import type { Housekeeping } from "./housekeeping.js";
import { type BatchResult, type EngineCall, internalFault, type Outcome, type Refusal, refusal } from "./outcome.js";
import { pause, retried, told } from "./retried.js";

/** So long after the store took no sign of life none is tried, or every read would wait for it. */
const KEEP_ALIVE_AGAIN_MS = 1_000;

/** Of the calls that name a task those whose task holds the same names afterwards. */
const LEAVES_NAMES: ReadonlySet<string> = new Set([
  "heartbeat_task",
  "set_task_state",
  "change_task_context",
  "judge_task",
  "add_comment",
  "add_link",
] satisfies OperationName[]);

/** What became of calls; nothing yet of those that ask again. */
interface Tried {
  readonly outcomes: readonly (Outcome | undefined)[];
  readonly woke: boolean;
}

/** So often a call looks for what another node has in hand, some 0.3 s; then it waits until that node has let go. */
const ASKS_MAX = 24;

/** Runs batches of calls, each batch in one transaction and so one commit (R55). One batch at a time. */
export class Engine {
  readonly #calls = new Calls();
  #keepAliveFromMs = 0;

  constructor(readonly store: Store) {}

  /** Does what is due when nobody calls. */
  async tend(housekeeping: Housekeeping): Promise<boolean> {
    try {
      return await housekeeping.look();
    } finally {
      // Written past the calls: what they keep of the queue may be no more. What they keep of the callers is.
      this.#calls.forgetQueue();
    }
  }

  /**
   * A batch means the same as its calls one after another. Those that ask again, as another node has in hand what they
   * want, go once more when the others are done.
   */
  async run(calls: readonly EngineCall[]): Promise<BatchResult> {
    const outcomes: Outcome[] = [];
    let left = calls.map((call, at) => ({ call, at }));
    let woke = false;
    for (let tries = 1; ; tries += 1) {
      const patient = tries < ASKS_MAX;
      const result = await this.#together(
        left.map(({ call }) => call),
        patient,
      );
      woke ||= result.woke;
      left = left.filter(({ at }, nth) => {
        const outcome = result.outcomes[nth];
        if (outcome) outcomes[at] = outcome;
        return !outcome;
      });
      if (left.length === 0) return { outcomes, woke };
      await pause(tries);
    }
  }

  /**
   * On a fault of the store a batch is undone and each call tried alone, so that nobody fails because of a neighbour;
   * when the store is busy or lost, all have waited for it together.
   */
  async #together(calls: readonly EngineCall[], patient: boolean): Promise<Tried> {
    try {
      return await retried(() => this.#inOneTransaction(calls, patient));
    } catch (fault) {
      this.#calls.forget();
      if (calls.length === 1 || fault instanceof StoreBusy)
        return { outcomes: calls.map(() => this.#refused(fault)), woke: false };
    }
    const outcomes: (Outcome | undefined)[] = [];
    let woke = false;
    for (const call of calls) {
      const alone = await this.#together([call], patient);
      outcomes.push(...alone.outcomes);
      woke ||= alone.woke;
    }
    return { outcomes, woke };
  }

  async #inOneTransaction(calls: readonly EngineCall[], patient: boolean): Promise<Tried> {
    if (!calls.every((call) => isRead(call))) return this.#write(calls, patient);
    try {
      return await this.#read(calls, patient, false);
    } catch (fault) {
      if (fault instanceof LooksDead) return this.#settle(calls, patient);
      if (fault instanceof NeedsWrite) return this.#write(calls, patient);
      throw fault;
    }
  }

  async #read(calls: readonly EngineCall[], patient: boolean, settled: boolean): Promise<Tried> {
    const touched: SessionRow[] = [];
    const asked = { mode: "read", settled, patient, effects: { woke: false }, touched } as const;
    const outcomes = await this.store.transaction("read", (tx) => this.#calls.perform(tx, calls, asked));
    if (touched.length > 0) await this.#keepAlive(touched, outcomes[0]?.nowMs ?? 0);
    return { outcomes, woke: false };
  }

  /**
   * A lease that looks dead may be renewed by a write that read the clock before its end and has not committed: a reader
   * who was told of its end would see it alive a moment later. So it is looked at behind the writes, under its lock. A
   * store that takes none now doesn't keep anybody from reading.
   */
  async #settle(calls: readonly EngineCall[], patient: boolean): Promise<Tried> {
    try {
      return await this.#write(calls, patient, "write_if_free");
    } catch (fault) {
      if (!isDibsError(fault)) throw fault;
      return this.#read(calls, patient, true);
    }
  }

  /**
   * Keeps what a read showed of its callers: that they live. A store that takes no writes now doesn't keep them from
   * reading; then their next call is the sign.
   */
  async #keepAlive(touched: readonly SessionRow[], nowMs: number): Promise<void> {
    if (nowMs < this.#keepAliveFromMs) return;
    try {
      await this.store.transaction("write_if_free", async (tx) => {
        for (const session of touched) await this.#calls.identities.touch(tx, session);
      });
    } catch (fault) {
      if (!isDibsError(fault)) throw fault;
      this.#calls.forget();
      this.#keepAliveFromMs = nowMs + KEEP_ALIVE_AGAIN_MS;
    }
  }

  async #write(calls: readonly EngineCall[], patient: boolean, mode: TransactionMode = "write"): Promise<Tried> {
    const effects = { woke: false };
    const taskIds = [...new Set(calls.flatMap(tasksNamed))];
    const withNames = calls.filter(({ name }) => !LEAVES_NAMES.has(name));
    const taskIdsWithNames = [...new Set(withNames.flatMap(tasksNamed))];
    const changesIdentities = calls.some((call) => CHANGES_IDENTITIES.has(call.name));
    const ahead = this.#calls.ahead(calls, patient);
    try {
      const outcomes = await this.store.transaction(
        mode,
        (tx) => this.#calls.perform(tx, calls, { mode: "write", settled: true, patient, effects, touched: [], ahead }),
        { taskIds, taskIdsWithNames, changesIdentities, ahead: (reads) => ahead.read(reads) },
      );
      return { outcomes, woke: effects.woke };
    } catch (fault) {
      this.#calls.forget();
      throw fault;
    }
  }

  #refused(thrown: unknown): Refusal {
    const fault = told(thrown);
    if (fault instanceof RefusalWrote) return refusal(fault.refusal, 0, 0);
    if (isDibsError(fault)) return refusal(fault, 0, 0);
    return internalFault(fault);
  }
}

/** The tasks that a call names, also as blockers: locked together at the start, in one order for everybody. */
function tasksNamed({ input }: EngineCall): string[] {
  const { task_id, blocker_id, depends_on, tasks } = input as Naming;
  const named = [task_id, blocker_id, ...(depends_on ?? []), ...(tasks ?? []).flatMap((task) => task.depends_on ?? [])];
  return named.filter((id) => typeof id === "string");
}

interface Naming {
  readonly task_id?: string;
  readonly blocker_id?: string;
  readonly depends_on?: readonly string[] | null;
  readonly tasks?: readonly { readonly depends_on?: readonly string[] | null }[];
}
