/** Time as the client needs it: monotonic, so that a changed wall clock neither keeps nor ends a lease. */
export interface Clock {
  /** Milliseconds from an arbitrary start; never goes back. */
  nowMs(): number;
  /** Runs `run` once after `delayMs`; gives what `clearTimer` takes. */
  setTimer(run: () => void, delayMs: number): unknown;
  clearTimer(timer: unknown): void;
  /** The wall clock's milliseconds, by which a sleep is noticed that `nowMs` doesn't count; decides nothing else. */
  wallMs?(): number;
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  setTimer: (run, delayMs) => setTimeout(run, delayMs),
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};

/** Resolves after `delayMs`; rejects with the signal's reason as soon as it aborts. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clock.clearTimer(timer);
      reject(signal?.reason);
    };
    const timer = clock.setTimer(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, delayMs);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
