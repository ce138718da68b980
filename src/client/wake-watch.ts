import type { Clock } from "./clock.js";

const LOOK_EVERY_MS = 5_000;
/** Corrections of the wall clock are smaller, and a look too many costs one heartbeat. */
const SLEPT_MS = 2_000;

/**
 * Calls `woke` within 5 s of the machine's waking where its monotonic clock stood still meanwhile (Linux): timers that
 * were due during the sleep are then as far off as before it, and a heartbeat may be minutes late. The wall clock, which
 * went on, decides nothing but that. Gives what ends the watch.
 */
export function watchForWake(clock: Clock, woke: () => void): () => void {
  const aheadMs = () => (clock.wallMs?.() ?? 0) - clock.nowMs();
  let timer: unknown;
  let beforeMs = aheadMs();
  const look = () => {
    timer = clock.setTimer(look, LOOK_EVERY_MS);
    const nowMs = aheadMs();
    const sleptMs = nowMs - beforeMs;
    beforeMs = nowMs;
    if (sleptMs > SLEPT_MS) woke();
  };
  if (clock.wallMs) timer = clock.setTimer(look, LOOK_EVERY_MS);
  return () => clock.clearTimer(timer);
}
