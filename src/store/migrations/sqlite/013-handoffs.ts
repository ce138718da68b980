/**
 * What holders offer to others. At most one offer of a lease is open; whether it still stands is judged by its own time,
 * its lease's and its sessions' wherever it is read. `hops` count how often a lease went on so without progress.
 */
export const handoffs = /* sql */ `
CREATE TABLE handoffs (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects(id), task_id TEXT, claim_id TEXT, lease_id TEXT NOT NULL,
  from_agent TEXT NOT NULL, from_session TEXT NOT NULL, to_agent TEXT NOT NULL, to_session TEXT, note TEXT,
  offered_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, state TEXT NOT NULL,
  ended_at INTEGER, by_session TEXT, granted_lease TEXT, granted_fence INTEGER,
  CHECK ((task_id IS NULL) <> (claim_id IS NULL)), CHECK ((state = 'offered') = (ended_at IS NULL)),
  CHECK ((state = 'accepted') = (granted_lease IS NOT NULL))
);
CREATE UNIQUE INDEX handoffs_open ON handoffs (lease_id) WHERE state = 'offered';
CREATE INDEX handoffs_due ON handoffs (expires_at) WHERE state = 'offered';
CREATE INDEX handoffs_receiver ON handoffs (to_agent, seq) WHERE state = 'offered';
CREATE INDEX handoffs_workspace ON handoffs (workspace_id, seq);
ALTER TABLE tasks ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope_claims ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
`;
