/** So many sessions stand above one at most (core/session-life.ts). */
const ABOVE_MAX = 8;

/**
 * Who shares what it holds with the session of that alias, the parent first, with spaces between: all above it up to the
 * first that doesn't share. As a query within a query for each level, which costs those without a parent nothing.
 */
export function sharedBy(child: string, level = 1): string {
  const above = `p${level}`;
  const more = level < ABOVE_MAX ? ` || coalesce(' ' || ${sharedBy(above, level + 1)}, '')` : "";
  return `(SELECT ${above}.id${more} FROM sessions ${above}
    WHERE ${above}.id = ${child}.parent_session_id AND ${above}.share_with_children = 1)`;
}
