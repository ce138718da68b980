/** Tasks that are parts of others; as in SQLite's step of that name. */
export const delegation = /* sql */ `
ALTER TABLE tasks ADD COLUMN parent_id text REFERENCES tasks(id) ON DELETE SET NULL;
ALTER TABLE tasks ADD COLUMN accountable text;
ALTER TABLE tasks ADD COLUMN delegated bigint NOT NULL DEFAULT 0;
CREATE INDEX tasks_parent ON tasks (parent_id, seq) WHERE parent_id IS NOT NULL;
`;
