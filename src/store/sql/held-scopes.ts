/** Claims with what they live by, and what is shown of their holders. */
export const HELD = `SELECT c.*, a.name AS agent_name, s.implicit, s.client, s.branch, s.expires_at AS session_expires_at,
  CASE WHEN c.task_id IS NULL THEN c.lease_until WHEN t.status = 'claimed' AND t.lease_id = c.task_lease THEN t.lease_until
    ELSE 0 END AS until
  FROM scope_claims c JOIN sessions s ON s.id = c.holder_session JOIN agents a ON a.id = c.holder_agent
  LEFT JOIN tasks t ON t.id = c.task_id`;
/** Of a claim, its session and its task. Each `?` is the time, three times. */
export const LIVE = `c.ended_at IS NULL AND s.state = 'open' AND (s.expires_at IS NULL OR s.expires_at > ?)
  AND (c.lease_until > ? OR (c.task_id IS NOT NULL AND t.status = 'claimed' AND t.lease_id = c.task_lease
    AND t.lease_until > ?))`;
