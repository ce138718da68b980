import { type Clock, pause } from "./clock.js";

/** How often and how long a call is tried again. Only what is safe to repeat may go through here. */
export interface RetryPolicy {
  readonly attempts: number;
  /** No retry starts later than this after the first attempt. */
  readonly budgetMs: number;
  readonly baseMs: number;
  readonly capMs: number;
}

export const RETRY_DEFAULT: RetryPolicy = { attempts: 8, budgetMs: 30_000, baseMs: 100, capMs: 5_000 };

/** An attempt that may be made again: what to throw if it isn't, and how long the server asked to wait. */
export interface Again {
  readonly error: Error;
  readonly retryAfterMs: number;
}

interface RetryContext {
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  /** 0..1, as `Math.random`. */
  readonly random: () => number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `attempt` until it gives a value. Between attempts it waits with full jitter, at least as long as the
 * server asked; when attempts or time are used up it throws the last error.
 */
export async function retrying<T>(
  context: RetryContext,
  attempt: () => Promise<{ value: T } | { again: Again }>,
): Promise<T> {
  const { policy, clock, random, signal } = context;
  const startedMs = clock.nowMs();
  for (let tries = 1; ; tries++) {
    const outcome = await attempt();
    if ("value" in outcome) return outcome.value;
    const jitterMs = random() * Math.min(policy.capMs, policy.baseMs * 2 ** (tries - 1));
    const delayMs = outcome.again.retryAfterMs + jitterMs;
    if (tries >= policy.attempts || clock.nowMs() - startedMs + delayMs > policy.budgetMs) throw outcome.again.error;
    await pause(clock, delayMs, signal);
  }
}

/** Milliseconds of a `Retry-After` header: seconds or an HTTP date; 0 when there is none. */
export function retryAfterMs(header: string | null, nowEpochMs: number): number {
  if (header === null) return 0;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowEpochMs);
}
