/** Flat scopes that several may hold at once, each for itself; a name that isn't here has one place. */
export const scopeCapacities = /* sql */ `
CREATE TABLE scope_capacities (
  seq INTEGER PRIMARY KEY, workspace_id TEXT NOT NULL, project_id TEXT NOT NULL REFERENCES projects(id),
  namespace TEXT NOT NULL, scope TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
  capacity INTEGER NOT NULL CHECK (capacity > 1), UNIQUE (namespace, key)
);
CREATE INDEX scope_capacities_workspace ON scope_capacities (workspace_id, seq);
`;
