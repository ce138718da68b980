/**
 * Tasks that are parts of others. Who waits for whom stays with the dependencies: a delegated task is an open one that
 * waits for its parts, so that no other place learns what completes, stalls or frees it.
 */
export const delegation = /* sql */ `
ALTER TABLE tasks ADD COLUMN parent_id TEXT REFERENCES tasks(id) ON DELETE SET NULL;
ALTER TABLE tasks ADD COLUMN accountable TEXT;
ALTER TABLE tasks ADD COLUMN delegated INTEGER NOT NULL DEFAULT 0;
CREATE INDEX tasks_parent ON tasks (parent_id, seq) WHERE parent_id IS NOT NULL;
`;
