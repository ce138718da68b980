/**
 * A task's liveness by the clock in SQL, as `core/tasks/task-state.ts` has it for one row: conditions on a task and the
 * session that holds it, by their aliases. Each `?` is the time.
 */
export const alive = (task: string, session: string) =>
  `(${task}.lease_until > ? AND (${session}.expires_at IS NULL OR ${session}.expires_at > ?))`;

/** A lease that the clock has ended, whether or not anybody noticed. */
export const dead = (task: string, session: string) => `(${task}.status = 'claimed' AND NOT ${alive(task, session)})`;

/** Failed or cancelled, also by a lease that ended with its last attempt, or after a request to cancel. */
export const broken = (task: string, session: string) =>
  `(${task}.status IN ('failed', 'cancelled') OR (${dead(task, session)}
    AND (${task}.cancel_requested = 1 OR ${task}.attempts >= ${task}.max_attempts)))`;
