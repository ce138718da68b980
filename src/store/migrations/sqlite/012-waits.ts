/**
 * Who waits for which names. What a ticket wants stands on it as JSON; wait_scopes is only where it is found by a name, and
 * its rows go when it ends. `rank` orders the line and never changes (core/line/line-order.ts). A ticket without a session keeps
 * names free for a task that was passed over. Yields are what somebody asked a holder, and what that one said.
 */
export const waits = /* sql */ `
CREATE TABLE waits (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects(id), agent_id TEXT, session_id TEXT, task_id TEXT, task_lease TEXT,
  mark TEXT NOT NULL, wanted TEXT NOT NULL, intent TEXT NOT NULL, lease_seconds INTEGER,
  priority INTEGER NOT NULL, asked_at INTEGER NOT NULL, rank INTEGER NOT NULL, offered_until INTEGER,
  ended_at INTEGER, ended_how TEXT, claims TEXT,
  CHECK ((ended_at IS NULL) = (ended_how IS NULL))
);
CREATE INDEX waits_line ON waits (workspace_id, rank, seq) WHERE ended_at IS NULL;
CREATE INDEX waits_session ON waits (session_id) WHERE ended_at IS NULL;
CREATE INDEX waits_agent ON waits (agent_id) WHERE ended_at IS NULL;
CREATE INDEX waits_task ON waits (task_id) WHERE ended_at IS NULL AND task_id IS NOT NULL;
CREATE INDEX waits_offered ON waits (offered_until) WHERE ended_at IS NULL AND offered_until IS NOT NULL;
CREATE TABLE wait_scopes (
  wait_seq INTEGER NOT NULL REFERENCES waits(seq) ON DELETE CASCADE, place INTEGER NOT NULL,
  namespace TEXT NOT NULL, index_key TEXT NOT NULL, PRIMARY KEY (wait_seq, place)
) WITHOUT ROWID;
CREATE INDEX wait_scopes_names ON wait_scopes (namespace, index_key);
CREATE TABLE yields (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL,
  project_id TEXT NOT NULL, claim_id TEXT NOT NULL, scope TEXT NOT NULL,
  holder_agent TEXT NOT NULL, holder_session TEXT NOT NULL, asked_by_agent TEXT NOT NULL, asked_by_session TEXT NOT NULL,
  reason TEXT NOT NULL, asked_at INTEGER NOT NULL, answer TEXT, answer_reason TEXT, answered_at INTEGER
);
CREATE INDEX yields_claim ON yields (claim_id);
CREATE INDEX yields_workspace ON yields (workspace_id, seq);
ALTER TABLE tasks ADD COLUMN passed_since INTEGER;
`;
