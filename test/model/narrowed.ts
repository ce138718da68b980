import type { Claim, Item } from "./scopes.js";

/** A claim that its session holds no more, as it is told how it ended; that a part of it was kept (R38) is told for a day. */
export function lostItem(claim: Claim, nowMs: number): Item {
  const { name, ended, narrowedAtMs } = claim;
  const isNews = narrowedAtMs !== undefined && nowMs - narrowedAtMs < 86_400_000;
  return { claim, name, outcome: "lost", reason: isNews ? "narrowed" : ended };
}
