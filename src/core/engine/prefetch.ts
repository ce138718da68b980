import type { Operation } from "../../contract/operation.js";
import { operations } from "../../contract/operations.js";
import type { Identities, Known } from "../identity.js";
import type { TaskRow } from "../port/rows.js";
import type { Tx } from "../port/store.js";
import type { Remembered } from "../port/verbs.js";
import { REMEMBERED_MS, scopeOf } from "./idempotency.js";
import type { EngineCall } from "./outcome.js";
import type { ClaimsMade, QueueHeads } from "./read-ahead.js";

/**
 * What calls that share a transaction need to know, read for all of them at once: fifty claims ask four questions
 * together, not two hundred one after another. What it doesn't hold is asked for when it is needed.
 */
export class Prefetched {
  readonly #remembered = new Map<string, Remembered | null>();
  readonly #expiring = new Map<string, readonly TaskRow[]>();

  constructor(private readonly tx: Tx) {}

  static async of(
    tx: Tx,
    calls: readonly EngineCall[],
    known: { identities: Identities; heads: QueueHeads; claimsMade: ClaimsMade },
  ): Promise<Prefetched> {
    const prefetched = new Prefetched(tx);
    if (calls.length < 2) return prefetched;
    const callers: { call: EngineCall; caller: Known }[] = [];
    for (const call of calls) {
      const caller = await known.identities.lookUp(tx, call.caller.identity);
      if (caller) callers.push({ call, caller });
    }
    const claiming = new Map<string, Set<string>>();
    for (const { call, caller } of callers) {
      if (call.name !== "claim_next_task") continue;
      const { id, workspace_id } = caller.agent;
      const agents = claiming.get(workspace_id) ?? new Set();
      claiming.set(workspace_id, agents.add(id));
    }
    const sessionIds = callers.flatMap(({ call }) => call.caller.sessionId ?? []);
    await Promise.all([
      ...[...claiming].map(([workspaceId, agents]) => known.heads.learnOwn(tx, workspaceId, [...agents])),
      known.claimsMade.learn(
        tx,
        [...claiming.values()].flatMap((agents) => [...agents]),
      ),
      prefetched.#readRemembered(callers),
      prefetched.#readExpiring([...new Set(sessionIds)]),
    ]);
    return prefetched;
  }

  async #readRemembered(callers: readonly { call: EngineCall; caller: Known }[]): Promise<void> {
    const names = callers.flatMap(({ call, caller }) => {
      const key = call.caller.idempotencyKey;
      if (key === undefined || call.name === "undo_grant") return [];
      const operation: Operation = operations[call.name];
      // A key that can't be one is refused when its call has its turn.
      return operation.effect === "write" && key.length > 0
        ? scopeOf(caller.agent.id, operation, call.input, key).name
        : [];
    });
    if (names.length === 0) return;
    const found = await this.tx.notes.rememberedOf(names, this.tx.nowMs - REMEMBERED_MS);
    for (const name of names) this.#remembered.set(name, null);
    for (const row of found) this.#remembered.set(row.scope, row);
  }

  async #readExpiring(sessionIds: readonly string[]): Promise<void> {
    if (sessionIds.length === 0) return;
    const rows = await this.tx.tasks.expiring(sessionIds, this.tx.nowMs);
    for (const id of sessionIds) {
      this.#expiring.set(
        id,
        rows.filter((row) => row.holder_session === id),
      );
    }
  }

  /** The first answer to an idempotency key, also of a call before in this transaction. */
  async remembered(scope: string): Promise<Remembered | undefined> {
    const found = this.#remembered.get(scope);
    if (found !== undefined) return found ?? undefined;
    return this.tx.notes.remembered(scope, this.tx.nowMs - REMEMBERED_MS);
  }

  /** A call before has been remembered just now. */
  remember(row: Remembered): void {
    this.#remembered.set(row.scope, row);
  }

  /** A call before has granted or renewed a lease that ends soon, as its session does. */
  expires(row: TaskRow): void {
    const id = row.holder_session ?? "";
    const found = this.#expiring.get(id);
    if (found) this.#expiring.set(id, [...found.filter(({ seq }) => seq !== row.seq), row]);
  }

  /** Tasks of the session whose leases end soon, as they are now. */
  async expiring(workspaceId: string, sessionId: string): Promise<TaskRow[]> {
    const found = this.#expiring.get(sessionId) ?? (await this.tx.tasks.expiring([sessionId], this.tx.nowMs));
    const rows: TaskRow[] = [];
    for (const { id } of found) {
      const row = await this.tx.tasks.byId(workspaceId, id);
      if (row?.holder_session === sessionId) rows.push(row);
    }
    return rows;
  }
}
