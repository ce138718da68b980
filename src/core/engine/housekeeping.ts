import { takeDuty } from "../leases/duties.js";
import type { Store, Tx } from "../port/store.js";
import { Forgetting } from "./idempotency.js";
import { wake } from "./wake.js";

/** Tasks woken in one transaction; calls that come meanwhile wait for no more than that. */
const WOKEN_AT_ONCE = 128;
const ROUNDS_MAX = 50;
/** What nobody waits for is looked at so often. */
const TIDY_EVERY_MS = 60_000;
const DUTY_MS = 15_000;

/**
 * What servers do when nobody calls: leases that lapsed are put on record within a second, for those who watch; what is
 * too old is dropped. No answer depends on it (R12). Of all nodes one does it at a time, by a lease of its own.
 */
export class Housekeeping {
  readonly #forgetting = new Forgetting();
  #tidiedAtMs = 0;

  constructor(
    private readonly store: Store,
    /** Names this node, as no other. */
    private readonly node: string,
  ) {}

  /** Does what is due; true when something became claimable. */
  async look(): Promise<boolean> {
    const isIdle = await this.store.transaction("read", async (tx) => !tx.mayBeDue && !this.#isUntidy(tx));
    if (isIdle) return false;
    let woke = false;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const { count, more } = await this.store.transaction("write_if_free", (tx) => this.#keep(tx));
      woke ||= count > 0;
      if (!more) break;
    }
    return woke;
  }

  #isUntidy(tx: Tx): boolean {
    return tx.nowMs - this.#tidiedAtMs >= TIDY_EVERY_MS;
  }

  async #keep(tx: Tx): Promise<{ count: number; more: boolean }> {
    if (!(await takeDuty(tx, "housekeeping", this.node, DUTY_MS))) return { count: 0, more: false };
    if (this.#isUntidy(tx)) {
      this.#tidiedAtMs = tx.nowMs;
      await this.#forgetting.now(tx);
      await tx.agents.dropSecretsBefore(tx.nowMs);
    }
    const woken = await wake(tx, WOKEN_AT_ONCE);
    return { count: woken.count, more: woken.count > 0 && woken.more };
  }
}
