/**
 * What is held of names. A claim of a task's lives and dies with the task's lease and has no end of its own; ended ones stay
 * as the history of who held what. `index_key` finds what may overlap (core/scopes/scope-keys.ts); a namespace is a project, or
 * the workspace for names that its projects share, and draws its fences from one counter.
 */
export const scopes = /* sql */ `
CREATE TABLE scope_claims (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects(id), namespace TEXT NOT NULL,
  scope TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, index_key TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('exclusive', 'shared')),
  task_id TEXT, task_lease TEXT,
  holder_agent TEXT NOT NULL, holder_session TEXT NOT NULL, intent TEXT NOT NULL,
  nested INTEGER NOT NULL DEFAULT 1, fence INTEGER NOT NULL,
  claimed_at INTEGER NOT NULL, lease_seconds INTEGER, lease_until INTEGER,
  ended_at INTEGER, ended_how TEXT,
  CHECK ((task_id IS NULL) = (lease_until IS NOT NULL)), CHECK ((ended_at IS NULL) = (ended_how IS NULL))
);
CREATE INDEX scope_claims_names ON scope_claims (namespace, index_key) WHERE ended_at IS NULL;
CREATE INDEX scope_claims_session ON scope_claims (holder_session) WHERE ended_at IS NULL;
CREATE INDEX scope_claims_agent ON scope_claims (holder_agent) WHERE ended_at IS NULL;
CREATE INDEX scope_claims_task ON scope_claims (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX scope_claims_due ON scope_claims (lease_until) WHERE ended_at IS NULL AND lease_until IS NOT NULL;
CREATE INDEX scope_claims_held ON scope_claims (workspace_id, seq) WHERE ended_at IS NULL;
CREATE INDEX scope_claims_past ON scope_claims (namespace, index_key, seq);
-- What tasks declare; it is claimed with them. A task whose scopes aren't free sleeps until the claim it met has ended.
ALTER TABLE tasks ADD COLUMN scoped INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN parked_by INTEGER;
ALTER TABLE task_texts ADD COLUMN scopes TEXT;
CREATE TABLE task_scopes (
  task_seq INTEGER NOT NULL REFERENCES tasks(seq) ON DELETE CASCADE, place INTEGER NOT NULL,
  namespace TEXT NOT NULL, scope TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, index_key TEXT NOT NULL,
  mode TEXT NOT NULL, PRIMARY KEY (task_seq, place)
) WITHOUT ROWID;
CREATE INDEX task_scopes_names ON task_scopes (namespace, index_key, task_seq);
CREATE INDEX tasks_parked ON tasks (parked_by) WHERE parked_by IS NOT NULL;
CREATE INDEX tasks_passed_over ON tasks (workspace_id, priority DESC, seq) WHERE parked_by IS NOT NULL;
CREATE TABLE scope_fences (namespace TEXT PRIMARY KEY, fence INTEGER NOT NULL) WITHOUT ROWID;
`;
