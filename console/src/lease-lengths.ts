interface Lease {
  readonly lease_id: string;
  readonly claimed_at: string;
  readonly expires_at: string;
  readonly remaining_ms: number;
}

/**
 * Learns how long each lease runs from a renewal, which a row of the claims table doesn't say: it is never shorter
 * than what was seen to remain, and never longer than from the claim to the end.
 */
export class LeaseLengths {
  #seenMs = new Map<string, number>();

  /** The rows with `lengthMs` added; leases that are not among them are forgotten. */
  observe<L extends Lease>(leases: readonly L[]): (L & { readonly lengthMs: number })[] {
    const seen = new Map<string, number>();
    const rows = leases.map((lease) => {
      const untilEndMs = Date.parse(lease.expires_at) - Date.parse(lease.claimed_at);
      const firstGuessMs = Math.min(untilEndMs, DEFAULT_LENGTH_MS);
      const lengthMs = Math.max(lease.remaining_ms, this.#seenMs.get(lease.lease_id) ?? firstGuessMs);
      seen.set(lease.lease_id, lengthMs);
      return { ...lease, lengthMs };
    });
    this.#seenMs = seen;
    return rows;
  }
}

/** What a claim that names no length gets unless the workspace says otherwise. */
const DEFAULT_LENGTH_MS = 300_000;
