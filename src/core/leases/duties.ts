import type { Tx } from "../port/store.js";

/** What servers do to leases as a whole, and under one of their own. */

/** Lifts the fences of all tasks, so that the next grant of each is above whatever a lost time granted (R4). */
export async function liftFences(tx: Tx, by: number): Promise<number> {
  return tx.leases.liftFences(by);
}

/**
 * Takes, or keeps, work that one node of a cluster does at a time; false while another has it. A duty is renewed when half
 * its time is over, and is anybody's when it has passed, like any lease.
 */
export async function takeDuty(tx: Tx, name: string, node: string, ms: number): Promise<boolean> {
  const held = await tx.leases.duty(name);
  if (held && held.holder === node && held.until_ms - tx.nowMs > ms / 2) return true;
  if (held && held.holder !== node && held.until_ms > tx.nowMs) return false;
  return tx.leases.takeDuty(name, node, tx.nowMs + ms, tx.nowMs);
}
