import { above } from "./families.js";
import type { Session } from "./records.js";

/**
 * R9: a call is a sign of life, rounded by at most an eighth of the length in the session's favour; and one of its
 * parents, none of whom ends before one under it (R65).
 */
export function sign(nowMs: number, session: Session | null, signs: Map<Session, number>): void {
  if (session?.state !== "open") return;
  for (const each of [session, ...above(session)]) {
    const endsAtMs = signs.get(each);
    if (each.ttlMs === null || !endsAtMs) continue;
    const under = [...signs.keys()].filter((other) => above(other).includes(each) && other.state === "open");
    const exactMs = nowMs + each.ttlMs;
    const slackMs = Math.max(...[each, ...under].map(({ ttlMs }) => (ttlMs ?? 0) / 8));
    const soonest = Math.max(each.endsAtMs, ...under.map((other) => signs.get(other) ?? 0));
    const [least, most] = [Math.max(exactMs, soonest), Math.max(exactMs + slackMs, soonest)];
    if (endsAtMs < least || endsAtMs > most) throw new Error(`A session ends at ${endsAtMs}, not ${least}..${most}`);
    each.endsAtMs = endsAtMs;
  }
}
