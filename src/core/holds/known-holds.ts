import type { HoldRow } from "../port/hold-rows.js";
import type { Tx } from "../port/store.js";

/** A hold that nobody has recorded the end of, with whom it lets pass. */
export interface Hold extends HoldRow {
  readonly allowed: ReadonlySet<string>;
}

const NONE: readonly Hold[] = [];

/**
 * The holds of workspaces, remembered as identities are: who places or lifts one writes alone, and moves the version that
 * others look at. So a claim asks for none, and what it decides by is exact.
 */
export class KnownHolds {
  readonly #unended = new Map<string, readonly Hold[]>();

  forget(): void {
    this.#unended.clear();
  }

  /** Live at the transaction's time, oldest first. */
  async live(tx: Tx, workspaceId: string): Promise<readonly Hold[]> {
    if (!tx.frozen) return NONE;
    let unended = this.#unended.get(workspaceId);
    if (unended === undefined) {
      const rows = await tx.holds.unended(workspaceId);
      unended = rows.map((row) => ({ ...row, allowed: new Set(JSON.parse(row.allow) as string[]) }));
      this.#unended.set(workspaceId, unended);
    }
    return unended.length === 0 ? NONE : unended.filter((hold) => tx.nowMs < hold.expires_at);
  }
}
