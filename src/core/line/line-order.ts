import type { Settings } from "../../contract/workspace.js";
import { hasTasksOf, type Sharing } from "../agents/sharing.js";
import type { WaitEnd, WaitedName, WaitRow } from "../port/wait-rows.js";
import { remembering } from "../remembering.js";

/** So long is kept free what was offered, from when the freeing was noticed (R36). */
export const OFFER_MS = 30_000;

/** A task that others' claims were preferred to for so many lengths of a lease gets into line for its scopes (R16). */
const PASSED_OVER_MAX = 2;

export function patienceMs({ lease_seconds_default }: Pick<Settings, "lease_seconds_default">): number {
  return PASSED_OVER_MAX * lease_seconds_default * 1000;
}

/** One level of priority counts as having asked so much earlier. */
const LEVEL_MS = 300_000;

/**
 * The place in every line, for ever the same (R35, R40): the lower number is before the higher, and of equal ones the older
 * ticket. Because a level of priority is worth five minutes, whoever has waited for a quarter of an hour is before all that
 * come: nobody starves, and no two ever change places.
 */
export function rankOf(askedAtMs: number, priority: number): number {
  return askedAtMs - priority * LEVEL_MS;
}

/** Whether the ticket is before a request of that rank. */
export function isBefore(wait: WaitRow, { rank, ticket }: { readonly rank: number; readonly ticket: number | null }) {
  if (wait.rank !== rank) return wait.rank < rank;
  return ticket === null || wait.seq < ticket;
}

/** A ticket waits, or is offered what it wants, until its offer's end or its session's; at the instant itself it is over (R1). */
export function isWaiting(wait: WaitRow, nowMs: number): boolean {
  if (wait.ended_at !== null || (wait.until !== null && nowMs >= wait.until)) return false;
  return wait.offered_until === null || nowMs < wait.offered_until;
}

export function isOffered(wait: WaitRow, nowMs: number): boolean {
  return wait.offered_until !== null && isWaiting(wait, nowMs);
}

/** How a ticket ended, or would be said to have ended if somebody looked; null while it waits. */
export function endOf(wait: WaitRow, nowMs: number): { readonly how: WaitEnd; readonly atMs: number } | null {
  if (wait.ended_how !== null && wait.ended_at !== null) return { how: wait.ended_how, atMs: wait.ended_at };
  if (isWaiting(wait, nowMs)) return null;
  const { offered_until, until } = wait;
  if (offered_until !== null && nowMs >= offered_until && (until === null || offered_until <= until || until === 0))
    return { how: "offer_expired", atMs: offered_until };
  return { how: wait.task_id === null ? "session_ended" : "task_lost", atMs: Math.max(wait.asked_at, until ?? nowMs) };
}

const read = remembering(4_000_000, (wanted: string) => JSON.parse(wanted) as readonly WaitedName[]);

/** Each text is read once: who enters a line asks each ticket in it for them, and a ticket never wants anything else. */
export function namesOf({ wanted }: Pick<WaitRow, "wanted">): readonly WaitedName[] {
  return read(wanted);
}

/** Whether the session may act for the ticket: its own, or the parent's that shares its task, where that is what it is for (R65). */
export function isTicketOf(wait: WaitRow, session: Sharing | null): boolean {
  if (session === null || wait.session_id === null) return false;
  return wait.session_id === session.id || (wait.task_id !== null && hasTasksOf(session, wait.session_id));
}
