/** Templates that make a task at every tick, when each ticks next, and which tick a task is of. */
export const recurrences = /* sql */ `
CREATE TABLE recurrences (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workspace_id TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects(id), name TEXT NOT NULL,
  cron TEXT NOT NULL, time_zone TEXT NOT NULL, skip_if_open INTEGER NOT NULL, enabled INTEGER NOT NULL,
  template TEXT NOT NULL, assigned_to TEXT NOT NULL, created_by TEXT NOT NULL,
  next_at INTEGER, last_at INTEGER, last_task_id TEXT,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, version INTEGER NOT NULL DEFAULT 1,
  UNIQUE (project_id, name),
  CHECK ((next_at IS NULL) = (enabled = 0))
);
CREATE INDEX recurrences_due ON recurrences (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX recurrences_workspace ON recurrences (workspace_id, seq);

ALTER TABLE tasks ADD COLUMN recurrence_id TEXT;
ALTER TABLE tasks ADD COLUMN tick_at INTEGER;
-- The last line of defence: no tick has two tasks.
CREATE UNIQUE INDEX tasks_tick ON tasks (recurrence_id, tick_at) WHERE recurrence_id IS NOT NULL;
CREATE INDEX tasks_recurring ON tasks (recurrence_id, seq) WHERE recurrence_id IS NOT NULL AND closed_at IS NULL;
`;
