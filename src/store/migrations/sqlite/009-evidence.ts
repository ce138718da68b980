/**
 * What shows a task's result and how it was judged, where branches are, and the versions of a task's context. Evidence and
 * verdict stand with the task's texts, so that reading it joins nothing more.
 */
export const evidence = /* sql */ `
ALTER TABLE tasks ADD COLUMN requires_verdict INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN context_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task_texts ADD COLUMN evidence TEXT;
ALTER TABLE task_texts ADD COLUMN verdict TEXT;

CREATE TABLE context_versions (
  seq INTEGER PRIMARY KEY, task_seq INTEGER NOT NULL REFERENCES tasks(seq) ON DELETE CASCADE, version INTEGER NOT NULL,
  context TEXT, changed TEXT NOT NULL, agent_id TEXT NOT NULL, session_id TEXT, created_at INTEGER NOT NULL,
  UNIQUE (task_seq, version)
);
CREATE TABLE branch_heads (
  seq INTEGER PRIMARY KEY, workspace_id TEXT NOT NULL, project_id TEXT NOT NULL REFERENCES projects(id),
  branch TEXT NOT NULL, head TEXT NOT NULL, agent_id TEXT NOT NULL, updated_at INTEGER NOT NULL,
  UNIQUE (project_id, branch)
);
CREATE INDEX branch_heads_workspace ON branch_heads (workspace_id, seq);
`;
