/** Which project a repository's clones and worktrees meet in, by every name it is known by. */
export const repositories = /* sql */ `
CREATE TABLE repositories (
  seq INTEGER PRIMARY KEY, workspace_id TEXT NOT NULL, identity TEXT NOT NULL, remote TEXT,
  project_id TEXT NOT NULL REFERENCES projects(id), created_at INTEGER NOT NULL,
  UNIQUE (workspace_id, identity)
);
CREATE INDEX repositories_project ON repositories (project_id, seq);
`;
