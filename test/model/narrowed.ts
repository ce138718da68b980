import type { Claim } from "./scopes.js";

/** How a claim ended, as its session is told; that a part of it was kept (R38) is told for a day. */
export function howEnded({ ended, narrowedAtMs }: Claim, nowMs: number): string | null {
  return narrowedAtMs !== undefined && nowMs - narrowedAtMs < 86_400_000 ? "narrowed" : ended;
}
