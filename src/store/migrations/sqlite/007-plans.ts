/**
 * Plans, and the steps as they were written. A task knows its plan by name, which never changes, so that no reading joins
 * anything for it; the indexes hold only what is in a plan, so that nothing else pays for them.
 */
export const plans = /* sql */ `
CREATE TABLE plans (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL, project_id TEXT NOT NULL,
  slug TEXT NOT NULL, title TEXT, created_by TEXT NOT NULL, created_at INTEGER NOT NULL,
  UNIQUE (project_id, slug)
);
CREATE INDEX plans_workspace ON plans (workspace_id, seq);
CREATE TABLE plan_steps (
  plan_seq INTEGER NOT NULL REFERENCES plans(seq) ON DELETE CASCADE, key TEXT NOT NULL,
  task_seq INTEGER REFERENCES tasks(seq) ON DELETE SET NULL, definition TEXT NOT NULL,
  PRIMARY KEY (plan_seq, key)
) WITHOUT ROWID;
CREATE INDEX plan_steps_task ON plan_steps (task_seq) WHERE task_seq IS NOT NULL;
ALTER TABLE tasks ADD COLUMN plan TEXT;
CREATE INDEX tasks_plan ON tasks (project_id, plan, seq) WHERE plan IS NOT NULL;
CREATE INDEX tasks_plan_queue ON tasks (project_id, plan, assigned_to, priority DESC, seq) WHERE queue = 1 AND plan IS NOT NULL;
`;
