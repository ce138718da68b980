import { agentOperations } from "../../contract/agent.js";
import { type DibsError, isDibsError } from "../../contract/errors.js";
import { holdOperations } from "../../contract/hold.js";
import type { Operation } from "../../contract/operation.js";
import { operations } from "../../contract/operations.js";
import { sessionOperations } from "../../contract/session.js";
import { workspaceOperations } from "../../contract/workspace.js";
import { isSessionLive, sessionEnded, signOfLife } from "../agents/session-life.js";
import { tellOffered } from "../agents/session-open.js";
import { AskAgain, type Context, type Handler, type Reply } from "../context.js";
import { KnownHolds } from "../holds/known-holds.js";
import { Identities, type Known, requireRole } from "../identity.js";
import { serveLine } from "../line/line.js";
import type { SessionRow } from "../port/rows.js";
import type { Tx } from "../port/store.js";
import { taskState } from "../tasks/task-state.js";
import { Ahead } from "./ahead.js";
import { handlers } from "./handlers.js";
import { Forgetting, hashOf, remember, replay, scopeOf } from "./idempotency.js";
import { requireItsProject } from "./its-project.js";
import { checked, type EngineCall, extras, type Outcome, refusal } from "./outcome.js";
import { Prefetched } from "./prefetch.js";
import { ClaimsMade, QueueHeads } from "./read-ahead.js";
import { RefusedClaims } from "./refused-claims.js";
import { undoGrant } from "./undo-grant.js";
import { WOKEN_PER_CALL, wake, wakeTask } from "./wake.js";

/** A refusal that had already written: its transaction must be undone. */
export class RefusalWrote extends Error {
  constructor(readonly refusal: DibsError) {
    super("A refused call had written.");
  }
}

// What these change is remembered by Identities and KnownHolds.
export const CHANGES_IDENTITIES: ReadonlySet<string> = new Set(
  Object.values({ ...agentOperations, ...sessionOperations, ...workspaceOperations, ...holdOperations } as Record<
    string,
    Operation
  >)
    .filter((operation) => operation.effect === "write")
    .map((operation) => operation.name),
);

// These take from the head of the queue, or leave it alone.
const LEAVES_HEADS: ReadonlySet<string> = new Set(["claim_next_task", "heartbeat_task", "complete_task"]);

/** What the calls of one transaction share. */
export interface Shared {
  readonly tx: Tx;
  readonly mode: "read" | "write";
  readonly settled: boolean;
  /** Whether calls may still ask again. */
  readonly patient: boolean;
  readonly effects: { woke: boolean };
  readonly due: { more: boolean };
  /** Sessions of a read whose sign of life is still to be written. */
  readonly touched: SessionRow[];
  readonly heads: QueueHeads;
  readonly prefetched: Prefetched;
}

/** Performs the calls of one transaction, and keeps between transactions what spares the next one a look. */
export class Calls {
  readonly identities = new Identities();
  readonly #holds = new KnownHolds();
  readonly #claimsMade = new ClaimsMade();
  readonly #heads = new QueueHeads();
  readonly #forgetting = new Forgetting();
  readonly #refusedClaims = new RefusedClaims();
  /** Unacknowledged notices by session, while nobody wrote any. */
  readonly #noticeCounts = new Map<string, number>();
  #noticeWrites = 0;
  #nowMs = 0;
  #othersVersion = -1;
  #othersQueueVersion = -1;

  /** What the calls' transaction may send with its begin. */
  ahead(calls: readonly EngineCall[], patient: boolean): Ahead {
    return new Ahead(calls, this.identities, this.#heads, { beforeMs: this.#nowMs, wait: !patient });
  }

  /** In the order of the calls; nothing for those that ask again. */
  async perform(
    tx: Tx,
    calls: readonly EngineCall[],
    asked: Pick<Shared, "mode" | "settled" | "patient" | "effects" | "touched"> & { readonly ahead?: Ahead },
  ): Promise<(Outcome | undefined)[]> {
    if (tx.othersVersion !== this.#othersVersion) {
      this.forget();
      this.#othersVersion = tx.othersVersion;
    }
    if (tx.othersQueueVersion !== this.#othersQueueVersion) {
      this.forgetQueue();
      this.#othersQueueVersion = tx.othersQueueVersion;
    }
    const due = { more: false };
    asked.ahead?.teach(this.#claimsMade);
    if (asked.mode === "write") {
      const woken = await wake(tx, WOKEN_PER_CALL * calls.length);
      due.more = woken.more;
      if (woken.count > 0) {
        asked.effects.woke = true;
        this.#heads.spoil();
      }
    }
    const outcomes: (Outcome | undefined)[] = [];
    this.#heads.expect(calls, !asked.patient);
    this.#nowMs = tx.nowMs;
    const ahead = { identities: this.identities, heads: this.#heads, claimsMade: this.#claimsMade };
    const writes = asked.mode === "write";
    if (writes) await this.#forgetting.now(tx);
    const prefetched = writes ? await Prefetched.of(tx, calls, ahead) : new Prefetched(tx);
    const shared: Shared = { tx, ...asked, due, heads: this.#heads, prefetched };
    for (const call of calls) outcomes.push(await this.#one(shared, call));
    return outcomes;
  }

  async #one(shared: Shared, call: EngineCall): Promise<Outcome | undefined> {
    const { tx } = shared;
    let writesBefore = tx.writes;
    let context: Context | undefined;
    try {
      context = await this.#context(shared, call);
      if (shared.due.more && (await wokeNamed(context, call))) shared.heads.spoil();
      if (tx.freed.length > 0) await serveLine(tx);
      writesBefore = tx.writes;
      const outcome = await this.#answer(context, call);
      if (CHANGES_IDENTITIES.has(call.name)) this.#forgetIdentities();
      // When all of the call is done: what it frees to take at once itself was never free.
      if (tx.freed.length > 0) {
        shared.effects.woke = true;
        await serveLine(tx);
      }
      return outcome;
    } catch (fault) {
      if (fault instanceof AskAgain) return undefined;
      if (!isDibsError(fault)) throw fault;
      if (tx.writes > writesBefore) throw new RefusalWrote(fault);
      if (context && shared.mode === "write" && !isRead(call))
        await this.#refusedClaims.note(context, call.input, fault);
      return refusal(fault, tx.nowMs, 0);
    } finally {
      if (!LEAVES_HEADS.has(call.name) && !isRead(call)) shared.heads.spoil();
    }
  }

  #forgetIdentities(): void {
    this.identities.forget();
    this.#holds.forget();
  }

  forget(): void {
    this.#forgetIdentities();
    this.#noticeCounts.clear();
    this.forgetQueue();
  }

  forgetQueue(): void {
    this.#claimsMade.forget();
    this.#heads.spoil();
  }

  async #context(shared: Shared, call: EngineCall): Promise<Context> {
    const { tx, effects, due, heads } = shared;
    const identities = this.identities;
    const known = await identities.identify(tx, call.caller.identity, shared.mode);
    if (call.name !== "undo_grant") requireRole(operations[call.name], known);
    let session = await this.#session(shared, call, known);
    return {
      tx,
      nowMs: tx.nowMs,
      workspaceId: known.agent.workspace_id,
      settings: known.settings,
      agent: known.agent,
      role: known.role,
      // An implicit one that this very call opened is the caller's from then on: its events name it.
      get session() {
        return session;
      },
      ifVersion: call.caller.ifVersion,
      due,
      heads,
      claimsMade: this.#claimsMade,
      dead: new Map(),
      settled: shared.settled,
      patient: shared.patient,
      prefetched: shared.prefetched,
      project: (idOrKey) => identities.project(tx, known.agent.workspace_id, idOrKey),
      holds: () => this.#holds.live(tx, known.agent.workspace_id),
      noticeCount: (of) => this.#noticeCount(tx, of),
      holder: async () => {
        if (session) return session;
        session = await identities.openImplicit(tx, known.agent);
        const { nowMs } = tx;
        await tellOffered({ tx, nowMs, workspaceId: known.agent.workspace_id, agent: known.agent }, session.id);
        return session;
      },
      woke: () => {
        effects.woke = true;
      },
    };
  }

  async #noticeCount(tx: Tx, session: SessionRow | null): Promise<number> {
    if (!session) return 0;
    if (tx.notes.noticeWrites !== this.#noticeWrites) {
      this.#noticeCounts.clear();
      this.#noticeWrites = tx.notes.noticeWrites;
    }
    let count = this.#noticeCounts.get(session.id);
    if (count === undefined) {
      count = await tx.notes.noticeCount(session.id);
      this.#noticeCounts.set(session.id, count);
    }
    return count;
  }

  async #session({ tx, mode, touched }: Shared, call: EngineCall, known: Known): Promise<SessionRow | null> {
    const { sessionId } = call.caller;
    if (sessionId === undefined) return this.identities.implicitSession(tx, known.agent);
    const session = await this.identities.session(tx, known.agent, sessionId);
    if (!isSessionLive(session, tx.nowMs)) {
      if (isRead(call) || call.name === "end_session" || call.name === "open_session") return session;
      throw sessionEnded(session);
    }
    if (mode === "write") return this.identities.touch(tx, session);
    if (signOfLife(session, tx.nowMs)) touched.push(session);
    return session;
  }

  async #answer(context: Context, call: EngineCall): Promise<Outcome> {
    const notices = await context.noticeCount(context.session);
    const { nowMs } = context;
    if (call.name === "undo_grant") {
      const { task_id, lease_id } = call.input as { task_id: string; lease_id: string };
      const reply = await undoGrant(context, task_id, lease_id);
      return { ok: true, status: 200, text: JSON.stringify(reply.body), notices, nowMs };
    }
    const operation: Operation = operations[call.name];
    const key = operation.effect === "write" ? call.caller.idempotencyKey : undefined;
    const scope = key === undefined ? undefined : scopeOf(context.agent.id, operation, call.input, key);
    const bodyHash = scope === undefined ? "" : hashOf(call.input);
    if (scope !== undefined) {
      const first = await replay(context, scope, bodyHash);
      if (first) {
        const text = first.text ?? checked(operation, first.reply?.body);
        return { ok: true, status: first.status, text, replayed: true, notices, nowMs };
      }
    }
    await requireItsProject(context, operation, call.input);
    const reply = await (handlers[call.name] as Handler<unknown>)(context, call.input);
    if (reply.refusal) return refusal(reply.refusal, nowMs, notices);
    const status = statusOf(operation, reply);
    const text = checked(operation, reply.body);
    if (scope !== undefined) await remember(context, scope, bodyHash, reply, status, text);
    return { ok: true, status, text, notices, nowMs, ...extras(reply, nowMs) };
  }
}

/** The status of a success, which its operation must have promised. */
function statusOf(operation: Operation, reply: Reply): number {
  const { status = 200, otherwise } = operation;
  if (!reply.otherwise) return status;
  if (otherwise === undefined) throw new Error(`${operation.name} answered a status that it never promised.`);
  return otherwise.status;
}

export function isRead(call: EngineCall): boolean {
  return call.name !== "undo_grant" && operations[call.name].effect === "read";
}

/** With more tasks due than were woken, the one a write names is woken first, so that no handler meets a dead lease. */
async function wokeNamed(context: Context, call: EngineCall): Promise<boolean> {
  const id = call.input.task_id;
  if (typeof id !== "string" || isRead(call)) return false;
  const row = await context.tx.tasks.byId(context.workspaceId, id);
  if (row?.status !== "claimed" || taskState(row, context.nowMs).held) return false;
  await wakeTask(context.tx, row);
  return true;
}
