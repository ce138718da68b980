/**
 * Freezes of a scope or, without one, of a project. Those that are over stay, as the history of what was frozen. A task
 * that is frozen sleeps with the hold's number, and 2^52 on top, as `parked_by`.
 */
export const holds = /* sql */ `
CREATE TABLE holds (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects(id), namespace TEXT, scope TEXT, key TEXT,
  reason TEXT NOT NULL, allow TEXT NOT NULL, placed_by TEXT NOT NULL, placed_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  ended_at INTEGER, ended_how TEXT,
  CHECK ((key IS NULL) = (scope IS NULL)), CHECK ((ended_at IS NULL) = (ended_how IS NULL))
);
CREATE INDEX holds_workspace ON holds (workspace_id, seq);
CREATE INDEX holds_unended ON holds (workspace_id, seq) WHERE ended_at IS NULL;
CREATE INDEX holds_due ON holds (expires_at) WHERE ended_at IS NULL;
`;
