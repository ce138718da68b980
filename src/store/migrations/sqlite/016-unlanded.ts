/**
 * What was changed on branches that aren't on their base yet: one row a branch and project, declared again when it has ended,
 * so that how often it went from hand to hand is never forgotten.
 */
export const unlanded = /* sql */ `
CREATE TABLE unlanded (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects(id), branch TEXT NOT NULL, scopes TEXT NOT NULL, intent TEXT,
  agent_id TEXT NOT NULL, session_id TEXT, hops INTEGER NOT NULL, offered_to TEXT,
  declared_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, ended_at INTEGER, ended_how TEXT,
  UNIQUE (project_id, branch), CHECK ((ended_at IS NULL) = (ended_how IS NULL))
);
CREATE INDEX unlanded_workspace ON unlanded (workspace_id, seq);
CREATE INDEX unlanded_live ON unlanded (expires_at) WHERE ended_at IS NULL;
CREATE TABLE unlanded_scopes (
  unlanded_seq INTEGER NOT NULL REFERENCES unlanded(seq) ON DELETE CASCADE, place INTEGER NOT NULL,
  namespace TEXT NOT NULL, key TEXT NOT NULL, index_key TEXT NOT NULL, PRIMARY KEY (unlanded_seq, place)
) WITHOUT ROWID;
CREATE INDEX unlanded_scopes_names ON unlanded_scopes (namespace, index_key, unlanded_seq);
`;
