import type { SessionRow } from "../port/rows.js";

/** A session, and who shares what it holds with it. */
export type Sharing = Pick<SessionRow, "id" | "shared_by">;

/**
 * Those that share the names they hold with the session, at any depth: what was claimed around a `dibs run` in a run in a run
 * was in its way, though the run between could do with both (R33, R65).
 */
export function sharersOf({ shared_by }: Pick<Sharing, "shared_by">): readonly string[] {
  return shared_by === null ? [] : shared_by.split(" ");
}

/** Whether names of that holder are the session's own, or shared with it. */
export function hasNamesOf(session: Sharing, holder: string | null): boolean {
  return holder !== null && (holder === session.id || sharersOf(session).includes(holder));
}

/** Whether a task of that holder is the session's to write: its own, or its parent's; tasks are shared no further. */
export function hasTasksOf(session: Sharing, holder: string | null): boolean {
  return holder !== null && (holder === session.id || sharersOf(session)[0] === holder);
}
